// A clock that stands still, and that skips every wait.

import type { Clock } from "../../lambdas/job/runtime/clock.ts";

export class SkippingClock implements Pick<Clock, "now" | "sleep"> {
  /** What was waited for, in its order. */
  readonly waitsMs: number[] = [];
  #nowMs: number;
  #isStopped = false;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  async sleep(ms: number): Promise<void> {
    this.waitsMs.push(ms);
    if (this.#isStopped) await new Promise(() => undefined);
    this.advance(ms);
  }

  /** From now on a wait has no end. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Time passes. */
  advance(ms: number): void {
    this.#nowMs += ms;
  }
}
