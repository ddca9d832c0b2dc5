// Words for how far a run is and what it waits for. Pure, so the bar and the log lines say the same.

import { BUDGET_SHARE } from "../../lambdas/run/estimate.ts";
import type { Limit, Progress } from "../../lambdas/run/run-host.ts";
import type { Wait } from "../../lambdas/service/waits.ts";

export interface Pace {
  /** Events done since this process began, and the milliseconds that took. */
  readonly doneHere: number;
  readonly elapsedMs: number;
}

/** `812 of 2,000 events, 179 a minute, 7 min left, 3 retries`. */
export function progressText({ done, total, retries }: Progress, { doneHere, elapsedMs }: Pace): string {
  const parts = [`${count(done)} of ${count(total)} events`];
  const perMs = elapsedMs > 0 ? doneHere / elapsedMs : 0;
  if (perMs > 0) {
    parts.push(rate(perMs));
    if (done < total) parts.push(`${duration((total - done) / perMs)} left`);
  }
  if (retries > 0) parts.push(plural(retries, "retry", "retries"));
  return parts.join(", ");
}

/** What every request waits for, and for how long. */
export function waitText(wait: Wait, nowMs: number, requestsPerMinute: Limit): string {
  const left = duration(Math.max(0, wait.untilMs - nowMs));
  switch (wait.kind) {
    case "retry-after":
      return `the service asks to wait ${left}`;
    case "retry":
      return `tries again in ${left}`;
    case "budget":
      return requestsPerMinute === "unlimited"
        ? `byte budget, ${left} left`
        : `request budget: ${count(used(requestsPerMinute))} a minute, ${left} left`;
  }
}

/** `12 s`, `4 min`, `2 h 5 min`, rounded up. */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `1 login`, `2 logins`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** `50,000`. */
export function count(n: number): string {
  return n.toLocaleString("en-US");
}

function rate(perMs: number): string {
  const perSecond = perMs * 1000;
  return perSecond >= 10
    ? `${count(Math.round(perSecond))} a second`
    : `${count(Math.round(perSecond * 60))} a minute`;
}

function used(limit: number): number {
  return Math.max(1, Math.floor(limit * BUDGET_SHARE));
}
