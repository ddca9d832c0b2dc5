// Time as a run sees it. It is injected, so a test can run hours in milliseconds.

import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";

export interface Clock {
  /** Milliseconds since the Unix epoch: for instants that are written or shown. May be set back or forward at any time. */
  now(): number;
  /** Milliseconds since an arbitrary instant of this process: for durations. Never goes back and cannot be set. */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** How far right clocks may differ. */
export const CLOCK_TOLERANCE_MS = 10 * 60_000;

/** Whether an instant is one that no right clock has shown yet. */
export function isFuture(instantMs: number, nowMs: number): boolean {
  return instantMs > nowMs + CLOCK_TOLERANCE_MS;
}

/** The clock of this machine. */
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

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A globally unique token (128 bits or more). */
  token(): string;
}

/** The randomness of this machine. */
export const systemRandom: Random = { next: () => Math.random(), token: () => randomUUID() };
