// How fast a run goes and how long it will still take.

import { allowance, type Limit } from "../../../lambdas/job/settings/limit.ts";

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
    const perMs =
      this.#isBudgetBound && this.#limit !== "unlimited" ? allowance(this.#limit) / 60_000 : measured;
    return { perMs, leftMs: perMs > 0 && done < total ? (total - done) / perMs : undefined };
  }
}
