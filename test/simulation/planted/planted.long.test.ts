// Each known defect, planted into a copy of the job, is found by one of the first seeds.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PLANTED_DEFECTS, PlantedCopy } from "./plant.ts";

const MOST_SEEDS = 2_000;
const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/testing.md"), "utf8");

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

test("the page of the tests names each planted defect", () => {
  const missing = PLANTED_DEFECTS.filter(({ name }) => !PAGE.includes(`| ${name} |`));

  expect(missing).toEqual([]);
});
