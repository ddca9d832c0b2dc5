// The clock of this machine.

import { setTimeout } from "node:timers/promises";
import type { Clock } from "./clock.ts";

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await setTimeout(Math.max(0, ms), undefined, signal ? { signal } : {});
    } catch {
      throw signal?.reason;
    }
  },
};
