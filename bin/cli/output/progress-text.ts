// Words for how far a run is and what it waits for. Pure, so the bar and the log lines say the same.

import { countText } from "../../../lambdas/job/run/record/count-text.ts";
import { remainingText } from "../../../lambdas/job/run/record/duration-text.ts";
import type { RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import type { Progress } from "../../../lambdas/job/run/run-ports.ts";
import type { RateLimiter } from "../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import type { BudgetUse } from "../../../lambdas/job/service/rate-limit/usage-window.ts";
import type { Wait } from "../../../lambdas/job/service/requests/sender.ts";
import { allowance, type Limit } from "../../../lambdas/job/settings/limit.ts";

const MIB = 1024 * 1024;

/** `812 of 2,000 events, 179 a minute, 7 min left, 3 retries`. */
export function progressText({ done, total, retries }: Progress, { perMs, leftMs }: ProgressRate): string {
  const parts = [`${countText(done)} of ${countText(total)} events`];
  if (perMs > 0) parts.push(rate(perMs));
  if (leftMs !== undefined) parts.push(`${remainingText(leftMs)} left`);
  if (retries > 0) parts.push(plural(retries, "retry", "retries"));
  return parts.join(", ");
}

/** What every request waits for, and for how long; without the use of the budget, where there is no room for it. */
export function waitText(wait: Wait, nowMs: number, use: BudgetUse | undefined): string {
  const left = remainingText(Math.max(0, wait.untilMs - nowMs));
  switch (wait.kind) {
    case "retry-after":
      return `the service asks to wait ${left}`;
    case "throttled":
      return `the service takes no more requests for now; tries again in ${left}`;
    case "retry":
      return `tries again in ${left}`;
    case "budget":
      return use === undefined ? `the next request in ${left}` : `${useText(use)}; the next in ${left}`;
  }
}

/** `180 of 180 requests of this minute sent`, `9.0 of 9.0 MiB of these 10 minutes received`. */
function useText({ limit, used, most, windowMs }: BudgetUse): string {
  const window = windowText(windowMs);
  return limit === "requests"
    ? `${countText(used)} of ${countText(most)} requests of ${window} sent`
    : `${mebibytes(used)} of ${mebibytes(most)} MiB of ${window} received`;
}

function windowText(ms: number): string {
  if (ms === 60_000) return "this minute";
  if (ms === 3_600_000) return "this hour";
  return ms % 60_000 === 0 ? `these ${ms / 60_000} minutes` : `these ${Math.ceil(ms / 1_000)} s`;
}

/** `5 added, 8 changed, 3 removed`. */
export function changeCounts(of: {
  readonly added: number | null;
  readonly changed: number | null;
  readonly removed: number | null;
}): string {
  return `${countText(of.added ?? 0)} added, ${countText(of.changed ?? 0)} changed, ${countText(of.removed ?? 0)} removed`;
}

/** `; 7,956 repeated in the list`, where there are any. */
export function repeatedEntries({ repeated }: { readonly repeated: number | null }): string {
  return repeated ? `; ${countText(repeated)} repeated in the list` : "";
}

/**
 * `73 answers with 429: the service allows less than 180 requests a minute; try --requests-per-minute 150`. What a service
 * with windows of a minute has answered in so long a time says what it allows at least.
 * @param limit the setting
 */
export function throttledText(
  { throttled, requests, seconds }: Pick<RunLogEntry, "throttled" | "requests" | "seconds">,
  limit: Limit,
): string {
  const answers = `${plural(throttled ?? 0, "answer")} with 429`;
  const answered = (requests ?? 0) - (throttled ?? 0);
  if (answered < FEW) return `${answers} (too many requests)`;
  const used = allowance(limit);
  const least = Math.min(answered / (seconds / 60 + 1), used);
  const step = least >= 100 ? 10 : least >= 20 ? 5 : 1;
  const tryThis = Math.max(1, Math.floor(least / step) * step);
  const allows =
    used === Infinity
      ? "fewer requests a minute than were sent"
      : `less than ${plural(used, "request")} a minute`;
  return `${answers}: the service allows ${allows}; try --requests-per-minute ${tryThis}`;
}

/** Fewer answers say nothing of a limit. */
const FEW = 20;

/** `1 login`, `2 logins`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${countText(n)} ${n === 1 ? one : many}`;
}

function mebibytes(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}

function rate(perMs: number): string {
  const perSecond = perMs * 1000;
  return perSecond >= 10
    ? `${countText(Math.round(perSecond))} a second`
    : `${countText(Math.round(perSecond * 60))} a minute`;
}

/** How fast a run goes and how long it will still take. */
interface ProgressRate {
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
