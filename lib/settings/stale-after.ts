// After how many hours without a publication an account's data counts as stale.

import { parseSchedule } from "./schedule-expression.ts";
import { type AccountSettings, MAX_STALE_HOURS } from "./settings.ts";

/** A day, and time for a run that starts late or is retried. */
const LEAST_HOURS = 26;
/** A schedule this close to what an alarm can look back would raise it just before its own publication. */
const MARGIN_HOURS = 2;

/** Twice the schedule, 26 at least; undefined where the schedule is rarer than an alarm can see, or off. */
export function staleAfterHours(
  account: Pick<AccountSettings, "enabled" | "schedule" | "staleAfterHours">,
): number | undefined {
  if (!account.enabled) return undefined;
  if (account.staleAfterHours !== undefined) return account.staleAfterHours;
  const gapHours = parseSchedule(account.schedule)?.longestGapHours;
  if (gapHours === undefined || gapHours > MAX_STALE_HOURS - MARGIN_HOURS) return undefined;
  return Math.min(Math.max(LEAST_HOURS, Math.ceil(2 * gapHours)), MAX_STALE_HOURS);
}
