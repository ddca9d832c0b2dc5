import { describe, expect, test } from "vitest";
import { TimeBudget } from "../../../../lambdas/job/run/collect/time-budget.ts";

/** A budget that gives nothing for 90 s. */
const pause = { waitMs: () => 90_000, waiting: 0, detailsPerWindow: 1_000, windowMs: 600_000 };

const leaving = (seconds: number) => ({ timeLeftMs: () => seconds * 1_000 });

describe("a start", () => {
  test("never stops where nothing limits its time, and no pause of the budget is told", () => {
    expect(new TimeBudget({}).stop(1_000_000)).toBeUndefined();
  });

  test.each([
    { left: 30, needed: 0, stops: false },
    { left: 29.999, needed: 0, stops: true },
    { left: 40, needed: 10, stops: false },
    { left: 40, needed: 10.001, stops: true },
  ])("with $left s left that needs $needed s beside the reserve of 30 s stops: $stops", (one) => {
    const stop = new TimeBudget(leaving(one.left)).stop(one.needed * 1_000);

    expect(stop).toEqual(one.stops ? { reason: "TIME_LIMIT", waitMs: 0 } : undefined);
  });

  test("has the reserve that its ports say", () => {
    const ports = { ...leaving(5), reserveMs: 5_000 };

    expect(new TimeBudget(ports).stop()).toBeUndefined();
    expect(new TimeBudget(ports).stop(1)).toMatchObject({ reason: "TIME_LIMIT" });
  });

  test("stops for a long pause of the budget, and says how long it is; its time limit comes first", () => {
    expect(new TimeBudget({}, pause).stop()).toEqual({ reason: "BUDGET", waitMs: 90_000 });
    expect(new TimeBudget(leaving(1), pause).stop()).toEqual({ reason: "TIME_LIMIT", waitMs: 0 });
  });

  test("that sends nothing is not stopped by the budget, and otherwise says what is done and what comes next", () => {
    new TimeBudget({}, pause).checkTime("all 12 events are staged");
    const check = (): void => new TimeBudget(leaving(29)).checkTime("all 12 events are staged");

    expect(check).toThrow(
      "The time limit is near, so the run stops here: all 12 events are staged. What is staged is kept, and the next start of this run resumes there.",
    );
    expect(check).toThrow(expect.objectContaining({ code: "INTERRUPTED", isRetryable: true }));
  });
});
