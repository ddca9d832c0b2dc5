// Each known defect, planted into a copy of the job, is found by one of the first seeds.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlantedCopy, type PlantedDefect } from "./plant.ts";

const MOST_SEEDS = 2_000;

export function findDefects(defects: readonly PlantedDefect[]): void {
  let copy: PlantedCopy;

  beforeAll(() => {
    copy = new PlantedCopy();
  });

  afterAll(() => copy[Symbol.dispose]());

  describe("the simulation finds", () => {
    test.each(defects.map((defect) => [defect.name, defect] as const))(
      "%s",
      (_, defect) => {
        const { seed = copy.search(defect, 1, MOST_SEEDS).seed } = copy.search(
          defect,
          defect.seed,
          defect.seed,
        );

        expect(seed).toBeDefined();
      },
      600_000,
    );
  });
}
