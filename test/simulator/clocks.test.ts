import { describe, expect, test } from "vitest";
import { acceleratedClock, realClock, settableClock } from "./clocks.ts";
import { ManualClock } from "./manual-clock.ts";

describe("an accelerated clock", () => {
  test("starts now and counts whole milliseconds", () => {
    const before = Date.now();

    const now = acceleratedClock(100).now();

    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(before + 100 * (Date.now() - before + 1));
    expect(Number.isInteger(now)).toBe(true);
  });

  test("sleeps a day in less than the time that a test may take, and never too short by its own time", async () => {
    const clock = acceleratedClock(5_000_000);
    const startedAtMs = clock.now();

    await clock.sleep(86_400_000);

    expect(clock.now() - startedAtMs).toBeGreaterThanOrEqual(86_400_000);
  });

  test.each([
    { when: "asleep", delayMs: 5 },
    { when: "about to sleep", delayMs: 0 },
  ])("rejects with the signal's reason when aborted while $when", async ({ delayMs }) => {
    const abort = new AbortController();
    const reason = new Error("enough");
    if (delayMs > 0) setTimeout(() => abort.abort(reason), delayMs);
    else abort.abort(reason);

    await expect(realClock().sleep(60_000, abort.signal)).rejects.toBe(reason);
  });
});

test("a settable clock is set without any time passing", () => {
  const clock = new ManualClock(1_000);
  const settable = settableClock(clock);

  settable.set(600);
  clock.advance(5);

  expect([settable.now(), settable.monotonicMs()]).toEqual([1_605, 1_005]);
});

describe("a manual clock", () => {
  test("is set without any time passing", () => {
    const clock = new ManualClock(1_000);

    clock.set(-600);
    clock.advance(5);

    expect([clock.now(), clock.monotonicMs()]).toEqual([405, 1_005]);
  });

  test("wakes a sleeper when it has been moved far enough, and not before", async () => {
    const clock = new ManualClock(1_000);
    let awake = false;
    const sleep = clock.sleep(100).then(() => {
      awake = true;
    });

    clock.advance(99);
    await Promise.resolve();
    expect(awake).toBe(false);
    expect(clock.sleeping).toBe(1);

    clock.advance(1);
    await sleep;
    expect(clock.now()).toBe(1_100);
    expect(clock.sleeping).toBe(0);
  });

  test("rejects a sleep with the signal's reason", async () => {
    const clock = new ManualClock(0);
    const abort = new AbortController();
    const reason = new Error("enough");

    const sleep = clock.sleep(100, abort.signal);
    abort.abort(reason);

    await expect(sleep).rejects.toBe(reason);
    expect(clock.sleeping).toBe(0);
  });
});
