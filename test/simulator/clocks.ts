// Clocks for the simulator and for tests: real time, or real time that runs faster.

import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../lambdas/job/runtime/clock.ts";

/** A clock that starts now and runs `speed` times as fast as real time. */
export const acceleratedClock = (speed: number): Clock => {
  const startedAtMs = Date.now();
  const origin = performance.now();
  const monotonicMs = (): number => (performance.now() - origin) * speed;
  const now = (): number => Math.floor(startedAtMs + monotonicMs());

  return {
    now,
    monotonicMs,
    async sleep(ms, signal) {
      const untilMs = now() + ms;
      signal?.throwIfAborted();
      // A timer may fire a moment early by this clock, so look again.
      for (let leftMs = ms; leftMs > 0; leftMs = untilMs - now()) {
        try {
          await delay(leftMs / speed, undefined, signal === undefined ? {} : { signal });
        } catch (error) {
          signal?.throwIfAborted();
          throw error;
        }
      }
    },
  };
};

export const realClock = (): Clock => acceleratedClock(1);

/** The same passing of time as `clock`, with a wall clock of its own, which a test sets forward or back. */
export const settableClock = (clock: Clock): Clock & { readonly set: (byMs: number) => void } => {
  let aheadMs = 0;
  return {
    now: () => clock.now() + aheadMs,
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    set: (byMs) => {
      aheadMs += byMs;
    },
  };
};
