// A clock that stands still until a test moves it.

import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../lambdas/job/runtime/clock.ts";

interface Sleeper {
  readonly untilMs: number;
  readonly wake: () => void;
}

export class ManualClock implements Clock {
  #nowMs: number;
  #monotonicMs: number;
  #sleepers: readonly Sleeper[] = [];

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
    this.#monotonicMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  /** How many wait for the clock to be moved. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  /** When the next of them is due, by the monotonic clock; undefined if none waits. */
  get nextDueMs(): number | undefined {
    const dues = this.#sleepers.map(({ untilMs }) => untilMs);
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (ms <= 0) return resolve();
      const sleeper = { untilMs: this.#monotonicMs + ms, wake: resolve };
      this.#sleepers = [...this.#sleepers, sleeper];
      signal?.addEventListener("abort", () => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        reject(signal.reason);
      });
    });
  }

  /** Time passes. */
  advance(ms: number): void {
    this.#nowMs += ms;
    this.#monotonicMs += ms;
    const due = this.#sleepers.filter(({ untilMs }) => untilMs <= this.#monotonicMs);
    this.#sleepers = this.#sleepers.filter((sleeper) => !due.includes(sleeper));
    for (const { wake } of due) wake();
  }

  /** The wall clock is set forward or back; no time passes. */
  set(byMs: number): void {
    this.#nowMs += byMs;
  }
}

/** A clock that is moved by those who sleep: each pause is over at once, and has passed. For one process that waits. */
export class PatientClock extends ManualClock {
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await setImmediate();
    this.advance(ms);
  }
}

/** All has happened that happens without time. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
}

/** The end of the work; time passes in steps of a second meanwhile. */
export async function whileTimePasses<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  for (await settled(); !isOver; await settled()) clock.advance(1_000);
  return work;
}
