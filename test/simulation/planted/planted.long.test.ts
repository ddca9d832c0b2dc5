// Each known defect, planted into a copy of the job, is found by one of the first seeds.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PLANTED_DEFECTS, PlantedCopy } from "./plant.ts";

const MOST_SEEDS = 2_000;

let copy: PlantedCopy;

beforeAll(() => {
  copy = new PlantedCopy();
});

afterAll(() => copy[Symbol.dispose]());

describe("the simulation finds", () => {
  test.each(PLANTED_DEFECTS.map((defect) => [defect.name, defect] as const))(
    "%s",
    (_, defect) => {
      const { seed } = copy.search(defect, MOST_SEEDS);

      expect(seed).toBeDefined();
    },
    600_000,
  );
});
