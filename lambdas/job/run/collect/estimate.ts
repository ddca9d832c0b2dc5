// How long a run takes within its budget, and what would make it shorter. Said before a long one.

import type { Logger } from "../../runtime/logger.ts";
import type { BudgetUse, RateLimiter } from "../../service/rate-limit/rate-limiter.ts";
import { countText, remainingText } from "../record/texts.ts";

type EstimateBudget = Pick<RateLimiter, "waitMs" | "use" | "detailsPerWindow" | "windowMs">;

/** The window of services that take more at once, as their public documentation describes it. */
const LONGER_MINUTES = 10;
const LONGER_MS = LONGER_MINUTES * 60_000;

/** A longer run names the options that shorten it. */
const LONG_MS = 5 * 60_000;

/**
 * `5,000 events, about 28 min`, and for a long run a sentence with the options that shorten it. Without a limit there is
 * no time. Sizes of bodies count once one is known.
 */
export function estimateText(events: number, budget: EstimateBudget): string {
  const ms = budget.waitMs(events);
  const text = `${countText(events)} events`;
  if (ms === 0) return text;
  const about = `${text}, about ${remainingText(ms)}`;
  return ms < LONG_MS ? about : `${about}. ${advice(events, ms, budget)}`;
}

function advice(events: number, ms: number, budget: EstimateBudget): string {
  const { limit, most, windowMs } = budget.use(events);
  const higher = `A higher ${OPTIONS[limit]} shortens it if the service allows more`;
  const longerMs = inLongerWindowsMs(events, budget);
  if (windowMs >= LONGER_MS || longerMs > ms * 0.9 || most === Number.POSITIVE_INFINITY) return `${higher}.`;
  const then =
    longerMs === 0 ? "then all are requested at once" : `then it takes about ${remainingText(longerMs)}`;
  return `${higher}; so does --limit-window ${LONGER_MS / 1_000} (limitWindowSeconds) if the service averages its limit over ${LONGER_MINUTES} minutes: ${then}.`;
}

const OPTIONS: Readonly<Record<BudgetUse["limit"], string>> = {
  requests: "--requests-per-minute (requestsPerMinute)",
  bytes: "--bytes-per-minute (bytesPerMinute)",
};

function inLongerWindowsMs(events: number, { detailsPerWindow, windowMs }: EstimateBudget): number {
  const windows = Math.ceil(events / ((detailsPerWindow * LONGER_MS) / windowMs));
  return (windows - 1) * LONGER_MS;
}

/** A shorter run needs no estimate. */
const WORTH_SAYING_MS = 60_000;

/** So many bodies say how large the others are. */
const SAMPLE = 20;

/**
 * Says how long it takes, and once more if bodies make it much longer. The function that is returned is called for each
 * event that is done, with how many are left.
 */
export function sayEstimate(events: number, budget: EstimateBudget, logger: Logger): (left: number) => void {
  let saidMs = 0;
  let seen = 0;
  const say = (left: number, ms: number): void => {
    if (ms < WORTH_SAYING_MS) return;
    saidMs = ms;
    logger.info(estimateText(left, budget), { events: left, seconds: Math.ceil(ms / 1_000) });
  };
  say(events, budget.waitMs(events));
  return (left) => {
    seen += 1;
    if (seen !== SAMPLE || budget.use(left).limit !== "bytes") return;
    const ms = budget.waitMs(left);
    if (ms > saidMs * 1.25) say(left, ms);
  };
}
