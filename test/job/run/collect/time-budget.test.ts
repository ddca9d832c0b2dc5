import { describe, expect, test } from "vitest";
import { outOfTime, TimeBudget } from "../../../../lambdas/job/run/collect/time-budget.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";

const SECOND_MS = 1000;

/** A limit of so many seconds from now. */
function limited(seconds: number) {
  const clock = new ManualClock(0);
  const timeBudget = new TimeBudget({ clock, timeLeftMs: () => seconds * SECOND_MS - clock.now() });
  const unit = (items: number, takesSeconds: number): void => {
    timeBudget.advance(items);
    clock.advance(takesSeconds * SECOND_MS);
    timeBudget.endUnit();
  };
  return { clock, timeBudget, unit };
}

describe("a unit of work", () => {
  test("is always covered where nothing limits the time", () => {
    const clock = new ManualClock(0);
    const timeBudget = new TimeBudget({ clock });
    timeBudget.advance(1);
    clock.advance(3_600_000);
    timeBudget.endUnit();

    expect(timeBudget.covers(1_000_000)).toBe(true);
  });

  test.each([
    { left: 30, covered: true },
    { left: 29, covered: false },
  ])("of unknown speed needs the reserve of 30 s alone: $left s left, $covered", ({ left, covered }) => {
    const { timeBudget } = limited(left);

    expect(timeBudget.covers(1_000)).toBe(covered);
  });

  test.each([
    { limit: 10 + 20 + 30, items: 20, covered: true },
    { limit: 10 + 20 + 30, items: 21, covered: false },
    { limit: 10 + 5 + 30, items: 5, covered: true },
    { limit: 10 + 5 + 30, items: 6, covered: false },
  ])("is scaled by the unit before, a second an item: $items items of $limit s, $covered", (one) => {
    const { timeBudget, unit } = limited(one.limit);
    unit(10, 10);

    expect(timeBudget.covers(one.items)).toBe(one.covered);
  });

  test("is measured by the slowest so far, not by the last", () => {
    const { timeBudget, unit } = limited(61 + 30 + 99);
    unit(10, 60);
    unit(10, 1);

    expect(timeBudget.covers(17)).toBe(false); // 6 s each: 102 s
    expect(timeBudget.covers(16)).toBe(true);
  });

  test("without items does not change the expected speed", () => {
    const { clock, timeBudget, unit } = limited(100);
    unit(0, 1);
    timeBudget.advance(5);
    clock.advance(50 * SECOND_MS); // 10 s each

    expect(timeBudget.covers(1)).toBe(true);
    expect(timeBudget.covers(2)).toBe(false);
  });

  test("is measured by the unit under way as long as none is done", () => {
    const { clock, timeBudget } = limited(100);
    timeBudget.advance(5);
    clock.advance(50 * SECOND_MS); // 10 s each

    expect(timeBudget.covers(2)).toBe(true);
    expect(timeBudget.covers(3)).toBe(false);
  });
});

test("its error is retryable and says how far the run is", () => {
  const error = outOfTime("8 of 12 events are staged");

  expect(error).toMatchObject({ code: "INTERRUPTED", isRetryable: true });
  expect(error.message).toContain("8 of 12 events are staged");
});
