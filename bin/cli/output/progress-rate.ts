// How fast a run goes and how long it will still take.

import type { Progress } from "../../../lambdas/job/run/run-ports.ts";
import type { RateLimiter } from "../../../lambdas/job/service/rate-limit/rate-limiter.ts";

export interface ProgressRate {
  /** Events a millisecond; 0 while nothing is known. */
  readonly perMs: number;
  readonly leftMs: number | undefined;
}

export type Budget = Pick<RateLimiter, "use" | "waitMs" | "detailsPerWindow" | "windowMs">;

interface Sample {
  readonly done: number;
  readonly atMs: number;
}

/**
 * Measures from the first report of this process how fast the service answers, without the waits for the budget. What
 * is left takes as long as the slower of the two needs, service and budget: a burst says nothing of the whole.
 */
export class ProgressRateMeter {
  #first: Sample = { done: 0, atMs: 0 };
  #waitedMs = 0;
  #waitsSinceMs: number | undefined;

  begin({ done }: Progress, nowMs: number): void {
    this.#first = { done, atMs: nowMs - this.#waited(nowMs) };
  }

  /** The run waits for the budget, or no longer does. */
  waitsForBudget(waits: boolean, nowMs: number): void {
    this.#waitedMs = this.#waited(nowMs);
    this.#waitsSinceMs = waits ? nowMs : undefined;
  }

  measure({ done, total }: Progress, nowMs: number, budget: Budget | undefined): ProgressRate {
    const elapsedMs = nowMs - this.#waited(nowMs) - this.#first.atMs;
    const perMs = elapsedMs > 0 ? (done - this.#first.done) / elapsedMs : 0;
    const rest = total - done;
    if (rest <= 0) return { perMs, leftMs: undefined };
    const serviceMs = perMs > 0 ? rest / perMs : 0;
    const budgetMs = budget?.waitMs(rest) ?? 0;
    const isBudgetBound =
      budget !== undefined && budgetMs > serviceMs && Number.isFinite(budget.detailsPerWindow);
    if (isBudgetBound) return { perMs: budget.detailsPerWindow / budget.windowMs, leftMs: budgetMs };
    const leftMs = Math.max(serviceMs, budgetMs); // without a limit the budget still knows of a Retry-After
    return { perMs, leftMs: leftMs > 0 ? leftMs : undefined };
  }
  /** For the budget, until now. */
  #waited(nowMs: number): number {
    return this.#waitedMs + (this.#waitsSinceMs === undefined ? 0 : nowMs - this.#waitsSinceMs);
  }
}
