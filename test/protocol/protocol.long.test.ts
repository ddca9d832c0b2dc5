import { describe, expect, test } from "vitest";
import { DEFECTS, isDefect, planted } from "./defects.ts";
import { catalogsOf, exploreScenario, isScenario, SCENARIOS } from "./scenarios.ts";

describe("every interleaving, with a crash before and after each step, of", () => {
  test.each(Object.keys(SCENARIOS).filter(isScenario))("%s keeps the laws", (scenario) => {
    for (const catalog of catalogsOf(scenario)) {
      expect(exploreScenario(scenario, { catalog, starts: 1 }).violation).toBeUndefined();
    }
  });
});

describe("a start after each crash keeps the laws in", () => {
  test.each([
    ["one run that is refused, delivered twice", "Glue"],
    ["a run that is held and its accept", "Glue"],
    ["two accepts", "views.sql"],
  ] as const)("%s (%s)", (scenario, catalog) => {
    expect(exploreScenario(scenario, { catalog, starts: 2 }).violation).toBeUndefined();
  });
});

describe("the laws find the planted defect", () => {
  test.each(Object.keys(DEFECTS).filter(isDefect))("%s", (defect) => {
    const { scenario, breaks, catalog = "views.sql" } = planted(defect);

    const { violation } = exploreScenario(scenario, { catalog, starts: 1, defect });

    expect(violation?.law).toContain(breaks);
  });
});
