import { describe, expect, test } from "vitest";
import { guard } from "../../../../lambdas/job/run/publish/guard.ts";

const limits = { maxDropPercent: 20, maxMissingPercent: 1 };

describe("the guard", () => {
  test.each([
    { listed: 0, events: 0, missing: 0, headEvents: undefined, expected: "NO_EVENTS" },
    { listed: 3, events: 0, missing: 3, headEvents: undefined, expected: "NO_EVENTS" },
    { listed: 1, events: 1, missing: 0, headEvents: undefined, expected: "published" },
    { listed: 80, events: 80, missing: 0, headEvents: 100, expected: "published" },
    { listed: 79, events: 79, missing: 0, headEvents: 100, expected: "DROPPED" },
    { listed: 500, events: 500, missing: 0, headEvents: 100, expected: "published" },
    { listed: 10, events: 8, missing: 2, headEvents: undefined, expected: "published" },
    { listed: 10, events: 7, missing: 3, headEvents: undefined, expected: "FEW_ROWS" },
    { listed: 100, events: 95, missing: 5, headEvents: undefined, expected: "published" },
    { listed: 100, events: 94, missing: 6, headEvents: undefined, expected: "MISSING" },
    { listed: 1000, events: 990, missing: 10, headEvents: 1000, expected: "published" },
    { listed: 1000, events: 989, missing: 11, headEvents: 1000, expected: "MISSING" },
  ])("says $expected to $events of $listed listed, $missing missing, after $headEvents", (counts) => {
    const hold = guard(counts, limits);

    expect(hold?.reason ?? "published").toBe(counts.expected);
  });

  test("names the setting that decides", () => {
    const dropped = guard({ listed: 50, events: 50, missing: 0, headEvents: 100 }, limits);
    const missing = guard({ listed: 1000, events: 980, missing: 20, headEvents: 1000 }, limits);

    expect(dropped?.explanation).toBe(
      "50 events are 50.0 % fewer than the 100 that readers see now; the limit is 20 % (--max-drop; maxDropPercent in AWS).",
    );
    expect(missing?.explanation).toBe(
      "20 of 1000 listed events have no details; 10 may have none (--max-missing; maxMissingPercent in AWS).",
    );
  });

  test("obeys other limits", () => {
    const counts = { listed: 60, events: 60, missing: 0, headEvents: 100 };

    expect(guard(counts, { ...limits, maxDropPercent: 40 })).toBeUndefined();
    expect(guard(counts, { ...limits, maxDropPercent: 39.9 })?.reason).toBe("DROPPED");
  });
});
