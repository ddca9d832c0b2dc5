// Each known defect, planted into a copy of the job, is found by one of the first seeds.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlantedCopy, type PlantedDefect } from "./plant.ts";

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
        expect(copy.find(defect).seed).toBeDefined();
      },
      600_000,
    );
  });
}
