// How fast a run goes and how long it will still take.

import { BUDGET_SHARE } from "../../../lambdas/job/run/collect/estimate.ts";
import type { Limit } from "../../../lambdas/job/run/run-ports.ts";

export interface ProgressRate {
  /** Events a millisecond; 0 while nothing is known. */
  readonly perMs: number;
  readonly leftMs: number | undefined;
}

interface Sample {
  readonly done: number;
  readonly atMs: number;
}

/** Measures from the first report of this process. Once the budget has made it wait, the budget is the measure. */
export class ProgressRateMeter {
  readonly #limit: Limit;
  #first: Sample | undefined;
  #isBudgetBound = false;

  constructor(requestsPerMinute: Limit) {
    this.#limit = requestsPerMinute;
  }

  waitsForBudget(): void {
    this.#isBudgetBound = true;
  }

  measure(done: number, total: number, nowMs: number): ProgressRate {
    this.#first ??= { done, atMs: nowMs };
    const elapsedMs = nowMs - this.#first.atMs;
    const measured = elapsedMs > 0 ? (done - this.#first.done) / elapsedMs : 0;
    const perMs = this.#isBudgetBound && this.#limit !== "unlimited" ? allowedPerMs(this.#limit) : measured;
    return { perMs, leftMs: perMs > 0 && done < total ? (total - done) / perMs : undefined };
  }
}

function allowedPerMs(limit: number): number {
  return Math.max(1, Math.floor(limit * BUDGET_SHARE)) / 60_000;
}
