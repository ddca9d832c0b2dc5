// Words for how far a run is and what it waits for. Pure, so the bar and the log lines say the same.

import type { Progress } from "../../../lambdas/job/run/run-ports.ts";
import type { Wait } from "../../../lambdas/job/service/requests/wait-reporter.ts";
import { allowance, type Limit } from "../../../lambdas/job/settings/limit.ts";
import type { ProgressRate } from "./progress-rate.ts";

/** `812 of 2,000 events, 179 a minute, 7 min left, 3 retries`. */
export function progressText({ done, total, retries }: Progress, { perMs, leftMs }: ProgressRate): string {
  const parts = [`${count(done)} of ${count(total)} events`];
  if (perMs > 0) parts.push(rate(perMs));
  if (leftMs !== undefined) parts.push(`${duration(leftMs)} left`);
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
        : `request budget: ${count(allowance(requestsPerMinute))} a minute, ${left} left`;
  }
}

/** `5 added, 8 changed, 3 removed`. */
export function changeCounts(of: {
  readonly added: number | null;
  readonly changed: number | null;
  readonly removed: number | null;
}): string {
  return `${count(of.added ?? 0)} added, ${count(of.changed ?? 0)} changed, ${count(of.removed ?? 0)} removed`;
}

/** `12 s`, `4 min`, `2 h 5 min`, `3 days`, rounded up. */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.ceil(minutes / (24 * 60))} days`;
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
