// Words that several outputs share: instants and ages, counts, what a run met, and where the snapshots are.

import { hostname } from "node:os";
import { setting } from "../../../lambdas/job/errors/advice.ts";
import type { RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { countText, durationText } from "../../../lambdas/job/run/record/texts.ts";
import { isFuture } from "../../../lambdas/job/runtime/clock.ts";
import { allowance, type Limit } from "../../../lambdas/job/settings/values.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import type { Style } from "../../../lambdas/words/style.ts";
import type { OptionValues } from "../options/options.ts";

/** `2026-11-21 06:00 UTC`. Logs are files, so an instant in them may be none. */
export function minute(instantMs: number): string {
  if (Number.isNaN(instantMs)) return "unknown";
  return `${new Date(instantMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** `2 h 5 min ago`. */
export function age(instantMs: number, nowMs: number): string {
  return isFuture(instantMs, nowMs)
    ? "in the future by this machine's clock"
    : `${durationText(nowMs - instantMs)} ago`;
}

/** `/srv/brand-events/warehouse on host server, settings /srv/brand-events/brand-events.json`. */
export function whereText({ warehouse, config }: Partial<OptionValues<"warehouse" | "config">>): string {
  const place =
    warehouse === undefined
      ? `host ${hostname()}`
      : isS3(warehouse)
        ? `${warehouse}, asked from host ${hostname()}`
        : `${warehouse} on host ${hostname()}`;
  return config === undefined ? place : `${place}, settings ${config.path}`;
}

/** `1 login`, `2 logins`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${countText(n)} ${n === 1 ? one : many}`;
}

/** `5 added, 8 changed, 3 removed`. */
export function changeCounts(of: {
  readonly added: number | null;
  readonly changed: number | null;
  readonly removed: number | null;
}): string {
  return `${countText(of.added ?? 0)} added, ${countText(of.changed ?? 0)} changed, ${countText(of.removed ?? 0)} removed`;
}

/** `; the first 100 by uuid`, where not all of the changes are shown. */
export function firstOf(shown: readonly unknown[], of: Parameters<typeof changeCounts>[0]): string {
  const all = (of.added ?? 0) + (of.changed ?? 0) + (of.removed ?? 0);
  return shown.length < all ? `; the first ${countText(shown.length)} by uuid` : "";
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
  style: Style,
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
  return `${answers}: the service allows ${allows}; try ${style.setting(setting("requestsPerMinute", tryThis))}`;
}

/** Fewer answers say nothing of a limit. */
const FEW = 20;
