import { describe, expect, it } from "vitest";
import { Cooldown, type Wait, WaitReporter } from "../../../../lambdas/job/service/requests/sender.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";

const NOW = 1_000_000_000;
const MINUTE = 60_000;
const throttled = expect.objectContaining({ code: "THROTTLED" });

const limiter = (windowMs = MINUTE) => ({ windowMs, pauseUntil: () => undefined });

describe("a cooldown", () => {
  it("is over at first", async () => {
    const cooldown = new Cooldown(new ManualClock(NOW), limiter());

    expect(cooldown.isOver).toBe(true);
    await cooldown.wait();
  });

  it("lasts as long as it was asked for, and not a moment longer", async () => {
    const clock = new ManualClock(NOW);
    const cooldown = new Cooldown(clock, limiter());
    let isOver = false;

    cooldown.extend(12_000, 429);
    const over = cooldown.wait().then(() => {
      isOver = true;
    });

    clock.advance(11_999);
    await Promise.resolve();
    expect([cooldown.isOver, isOver]).toEqual([false, false]);
    clock.advance(1);
    await over;
    expect(cooldown.isOver).toBe(true);
  });

  it("lasts until the latest of all requested ends", async () => {
    const clock = new ManualClock(NOW);
    const cooldown = new Cooldown(clock, limiter());

    cooldown.extend(10_000, 429);
    const over = cooldown.wait();
    cooldown.extend(20_000, 503);
    cooldown.extend(5_000, 429);

    expect(cooldown.untilMs).toBe(NOW + 20_000);
    clock.advance(10_000);
    await Promise.resolve();
    await Promise.resolve();
    expect(clock.sleeping).toBe(1);
    clock.advance(10_000);
    await over;
  });

  it("of 15 minutes is waited for; a longer one ends the run, for all later requests too", async () => {
    const clock = new ManualClock(NOW);
    const cooldown = new Cooldown(clock, limiter());

    expect(() => cooldown.extend(15 * MINUTE, 429)).not.toThrow();
    expect(() => cooldown.extend(15 * MINUTE + 1, 429)).toThrow(throttled);
    clock.advance(60 * MINUTE);

    expect(cooldown.isOver).toBe(false);
    await expect(cooldown.wait()).rejects.toEqual(throttled);
  });

  it("may be as long as the window of the limits, if that is longer than 15 minutes", () => {
    const cooldown = new Cooldown(new ManualClock(NOW), limiter(60 * MINUTE));

    expect(() => cooldown.extend(60 * MINUTE, 429)).not.toThrow();
    expect(() => cooldown.extend(60 * MINUTE + 1, 429)).toThrow("longer than the 60 minutes");
  });

  it("says when it will be over, unless it is too long", () => {
    const ends: number[] = [];
    const cooldown = new Cooldown(new ManualClock(NOW), {
      windowMs: MINUTE,
      pauseUntil: (untilMs) => ends.push(untilMs),
    });

    cooldown.extend(10_000, 429);
    expect(() => cooldown.extend(16 * MINUTE, 429)).toThrow(throttled);

    expect(ends).toEqual([NOW + 10_000]);
  });

  it("without end ends the run", () => {
    expect(() => new Cooldown(new ManualClock(NOW), limiter()).extend(Number.POSITIVE_INFINITY, 503)).toThrow(
      throttled,
    );
  });

  it("adds up while nothing succeeds, counting overlaps once", () => {
    const clock = new ManualClock(NOW);
    const cooldown = new Cooldown(clock, limiter());

    for (let n = 0; n < 64; n += 1) cooldown.extend(8 * MINUTE, 429);
    clock.advance(8 * MINUTE);
    cooldown.extend(7 * MINUTE, 429);
    clock.advance(7 * MINUTE);

    expect(() => cooldown.extend(1, 429)).toThrow(throttled);
  });

  it("adds up only what the service asks for", () => {
    const clock = new ManualClock(NOW);
    const cooldown = new Cooldown(clock, limiter());

    cooldown.extend(20 * MINUTE, 429, { isAsked: false });
    clock.advance(20 * MINUTE);
    cooldown.extend(15 * MINUTE, 429);
    clock.advance(15 * MINUTE);

    expect(cooldown.isOver).toBe(true);
    expect(() => cooldown.extend(1, 429)).toThrow(throttled);
  });

  it("restarts its total after a success", () => {
    const clock = new ManualClock(NOW);
    const cooldown = new Cooldown(clock, limiter());

    for (let n = 0; n < 10; n += 1) {
      cooldown.extend(8 * MINUTE, 429);
      clock.advance(8 * MINUTE);
      cooldown.succeeded();
    }

    expect(cooldown.successes).toBe(10);
    expect(cooldown.isOver).toBe(true);
  });

  it("does not grow when the clock is set back", () => {
    const clock = new ManualClock(NOW);
    const cooldown = new Cooldown(clock, limiter());

    cooldown.extend(10_000, 429);
    clock.set(-60 * MINUTE);
    expect(cooldown.isOver).toBe(false);
    clock.advance(10_000);

    expect(cooldown.isOver).toBe(true);
  });

  it("does not end earlier when the clock is set forward", () => {
    const clock = new ManualClock(NOW);
    const cooldown = new Cooldown(clock, limiter());

    cooldown.extend(10_000, 429);
    clock.set(60 * MINUTE);
    clock.advance(9_999);

    expect(cooldown.isOver).toBe(false);
  });

  it("ends at once for an aborted request", async () => {
    const abort = new AbortController();
    const cooldown = new Cooldown(new ManualClock(NOW), limiter());
    cooldown.extend(10_000, 429);

    const over = cooldown.wait(abort.signal);
    abort.abort(new Error("stop"));

    await expect(over).rejects.toThrow("stop");
  });
});

const setUp = () => {
  const shown: (Wait | undefined)[] = [];
  return { waits: new WaitReporter((wait) => shown.push(wait)), shown };
};

describe("the reason for waiting", () => {
  it("is shown when a wait begins, and removed when none is left", async () => {
    const { waits, shown } = setUp();

    await waits.during(
      "budget",
      () => 5_000,
      async () => undefined,
    );

    expect(shown).toEqual([{ kind: "budget", untilMs: 5_000 }, undefined]);
  });

  it("is nothing while a request is under way", async () => {
    const { waits, shown } = setUp();

    waits.requestBegins();
    await waits.during(
      "retry",
      () => 5_000,
      async () => undefined,
    );
    waits.requestEnds();

    expect(shown).toEqual([]);
  });

  it("is shown when the last request that was under way is answered", async () => {
    const { waits, shown } = setUp();
    const waited = Promise.withResolvers<void>();

    waits.requestBegins();
    const wait = waits.during(
      "budget",
      () => 5_000,
      () => waited.promise,
    );
    expect(shown).toEqual([]);
    waits.requestEnds();
    expect(shown).toEqual([{ kind: "budget", untilMs: 5_000 }]);
    waited.resolve();
    await wait;

    expect(shown).toEqual([{ kind: "budget", untilMs: 5_000 }, undefined]);
  });

  it("is the service's request before the budget before a retry, and of one kind the first to end", async () => {
    const { waits, shown } = setUp();
    const nested = (): Promise<void> =>
      waits.during(
        "retry",
        () => 1,
        () =>
          waits.during(
            "budget",
            () => 2,
            () =>
              waits.during(
                "retry-after",
                () => 9,
                () =>
                  waits.during(
                    "retry-after",
                    () => 8,
                    async () => undefined,
                  ),
              ),
          ),
      );

    await nested();

    expect(shown).toEqual([
      { kind: "retry", untilMs: 1 },
      { kind: "budget", untilMs: 2 },
      { kind: "retry-after", untilMs: 9 },
      { kind: "retry-after", untilMs: 8 },
      { kind: "retry-after", untilMs: 9 },
      { kind: "budget", untilMs: 2 },
      { kind: "retry", untilMs: 1 },
      undefined,
    ]);
  });

  it("is taken back when the wait fails", async () => {
    const { waits, shown } = setUp();

    await expect(
      waits.during(
        "retry",
        () => 1,
        () => Promise.reject(new Error("stop")),
      ),
    ).rejects.toThrow("stop");

    expect(shown).toEqual([{ kind: "retry", untilMs: 1 }, undefined]);
  });
});
