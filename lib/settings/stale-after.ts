// The hours without a publication after which an account's data is stale.

import { parseSchedule } from "./schedule-expression.ts";
import { type AccountSettings, MAX_STALE_HOURS } from "./settings.ts";

/** A day, plus time for a run that starts late or is retried. */
const LEAST_HOURS = 26;
/** With a longer schedule, the alarm would be raised shortly before each publication. */
const MARGIN_HOURS = 2;

/** Twice the longest gap of the schedule, at least 26; undefined if the gap is too long for an alarm, or the schedule is off. */
export function staleAfterHours(
  account: Pick<AccountSettings, "enabled" | "schedule" | "staleAfterHours">,
): number | undefined {
  if (!account.enabled) return undefined;
  if (account.staleAfterHours !== undefined) return account.staleAfterHours;
  const gapHours = parseSchedule(account.schedule)?.longestGapHours;
  if (gapHours === undefined || gapHours > MAX_STALE_HOURS - MARGIN_HOURS) return undefined;
  return Math.min(Math.max(LEAST_HOURS, Math.ceil(2 * gapHours)), MAX_STALE_HOURS);
}
