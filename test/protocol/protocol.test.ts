// The small scenarios; protocol.long.test.ts has all.

import { describe, expect, test } from "vitest";
import { planted } from "./defects.ts";
import { exploreScenario } from "./scenarios.ts";

describe("every interleaving of", () => {
  test.each([
    ["a run that is held and its accept", "Glue"],
    ["two accepts", "views.sql"],
  ] as const)("%s keeps the laws (%s)", (scenario, catalog) => {
    const { violation, states, ends } = exploreScenario(scenario, { catalog, starts: 1 });

    expect(violation).toBeUndefined();
    expect(ends).toBeGreaterThan(1);
    expect(states).toBeGreaterThan(ends);
  });
});

test("a violation comes with its story, one of the shortest", () => {
  const defect = "events first";
  const { scenario, breaks } = planted(defect);

  const { violation } = exploreScenario(scenario, { catalog: "Glue", starts: 1, defect });

  expect(violation?.law).toBe(breaks);
  expect(violation?.story.slice(-3)).toEqual([
    "P2.1 Glue: finds the partition of events",
    "P2.1 reads the log after 1",
    "P2.1 Glue: events shows 2",
  ]);
});

test("a crash ends a start, and the next one begins with an empty memory", () => {
  const scenario = "one run that is refused, delivered twice";
  const once = exploreScenario(scenario, { catalog: "views.sql", starts: 1 });
  const twice = exploreScenario(scenario, { catalog: "views.sql", starts: 2 });

  expect(twice.violation).toBeUndefined();
  expect(twice.states).toBeGreaterThan(once.states * 2);
});
