// The clock of one process: its wall clock may be wrong, jump or stand still; its monotonic clock never does.

import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import type { ClockFault } from "../plan/plan.ts";
import type { SimProcess } from "../process/sim-process.ts";
import type { Timeline } from "./timeline.ts";

export class ProcessClock implements Clock {
  readonly #timeline: Timeline;
  readonly #process: SimProcess;
  readonly #fault: ClockFault | undefined;
  readonly #startMs: number;

  constructor(timeline: Timeline, process: SimProcess, fault: ClockFault | undefined) {
    this.#timeline = timeline;
    this.#process = process;
    this.#fault = fault;
    this.#startMs = timeline.nowMs;
  }

  now(): number {
    const { nowMs } = this.#timeline;
    const fault = this.#fault;
    if (fault === undefined) return Math.floor(nowMs);
    const { offsetMs, standsStill, jump } = fault;
    const shownMs = standsStill ? this.#startMs : nowMs;
    const jumpMs = jump !== undefined && nowMs - this.#startMs >= jump.afterMs ? jump.byMs : 0;
    return Math.floor(shownMs + offsetMs + jumpMs);
  }

  monotonicMs(): number {
    return this.#timeline.nowMs - this.#startMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#process.sleep(ms, signal);
  }
}
