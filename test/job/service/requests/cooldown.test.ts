import { describe, expect, it } from "vitest";
import { Cooldown } from "../../../../lambdas/job/service/requests/cooldown.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";

const NOW = 1_000_000_000;
const MINUTE = 60_000;
const throttled = expect.objectContaining({ code: "THROTTLED" });

describe("a pause", () => {
  it("is over at first", async () => {
    const pause = new Cooldown(new ManualClock(NOW));

    expect(pause.isOver).toBe(true);
    await pause.over();
  });

  it("lasts as long as it was asked for, and not a moment longer", async () => {
    const clock = new ManualClock(NOW);
    const pause = new Cooldown(clock);
    let isOver = false;

    pause.ask(12_000, 429);
    const over = pause.over().then(() => {
      isOver = true;
    });

    clock.advance(11_999);
    await Promise.resolve();
    expect([pause.isOver, isOver]).toEqual([false, false]);
    clock.advance(1);
    await over;
    expect(pause.isOver).toBe(true);
  });

  it("holds those who wait until the longest of all that was asked for", async () => {
    const clock = new ManualClock(NOW);
    const pause = new Cooldown(clock);

    pause.ask(10_000, 429);
    const over = pause.over();
    pause.ask(20_000, 503);
    pause.ask(5_000, 429);

    expect(pause.untilMs).toBe(NOW + 20_000);
    clock.advance(10_000);
    await Promise.resolve();
    await Promise.resolve();
    expect(clock.sleeping).toBe(1);
    clock.advance(10_000);
    await over;
  });

  it("of 15 minutes is waited for; one of more ends the run, for everybody and for good", async () => {
    const clock = new ManualClock(NOW);
    const pause = new Cooldown(clock);

    expect(() => pause.ask(15 * MINUTE, 429)).not.toThrow();
    expect(() => pause.ask(15 * MINUTE + 1, 429)).toThrow(throttled);
    clock.advance(60 * MINUTE);

    expect(pause.isOver).toBe(false);
    await expect(pause.over()).rejects.toEqual(throttled);
  });

  it("without end ends the run", () => {
    expect(() => new Cooldown(new ManualClock(NOW)).ask(Number.POSITIVE_INFINITY, 503)).toThrow(throttled);
  });

  it("adds up while nothing succeeds, counting overlaps once", () => {
    const clock = new ManualClock(NOW);
    const pause = new Cooldown(clock);

    for (let n = 0; n < 64; n += 1) pause.ask(8 * MINUTE, 429);
    clock.advance(8 * MINUTE);
    pause.ask(7 * MINUTE, 429);
    clock.advance(7 * MINUTE);

    expect(() => pause.ask(1, 429)).toThrow(throttled);
  });

  it("starts adding up anew after a success", () => {
    const clock = new ManualClock(NOW);
    const pause = new Cooldown(clock);

    for (let n = 0; n < 10; n += 1) {
      pause.ask(8 * MINUTE, 429);
      clock.advance(8 * MINUTE);
      pause.succeeded();
    }

    expect(pause.successes).toBe(10);
    expect(pause.isOver).toBe(true);
  });

  it("does not grow when the clock is set back", () => {
    const clock = new ManualClock(NOW);
    const pause = new Cooldown(clock);

    pause.ask(10_000, 429);
    clock.set(-60 * MINUTE);
    expect(pause.isOver).toBe(false);
    clock.advance(10_000);

    expect(pause.isOver).toBe(true);
  });

  it("does not end earlier when the clock is set forward", () => {
    const clock = new ManualClock(NOW);
    const pause = new Cooldown(clock);

    pause.ask(10_000, 429);
    clock.set(60 * MINUTE);
    clock.advance(9_999);

    expect(pause.isOver).toBe(false);
  });

  it("ends at once for one who gives up", async () => {
    const abort = new AbortController();
    const pause = new Cooldown(new ManualClock(NOW));
    pause.ask(10_000, 429);

    const over = pause.over(abort.signal);
    abort.abort(new Error("stop"));

    await expect(over).rejects.toThrow("stop");
  });
});
