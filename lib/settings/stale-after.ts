// The hours without a publication after which an account's data is stale.

import { MAX_STALE_HOURS } from "../../lambdas/job/settings-file/account-keys.ts";
import { parseSchedule } from "../../lambdas/job/settings-file/parse-schedule.ts";
import type { DeployedAccount } from "./settings.ts";

/** A day and the margin: a schedule of every hour may fail for a day before its data is stale. */
const LEAST_HOURS = 26;
/** For a run that starts late or is retried. */
const MARGIN_HOURS = 2;

/** The schedule's longest gap and a margin, at least 26; undefined for a schedule that is off, or too rare for an alarm. */
export function staleAfterHours(
  account: Pick<DeployedAccount, "enabled" | "schedule" | "staleAfterHours">,
): number | undefined {
  if (!account.enabled) return undefined;
  if (account.staleAfterHours !== undefined) return account.staleAfterHours;
  const gapHours = parseSchedule(account.schedule)?.longestGapHours;
  if (gapHours === undefined) return undefined;
  const hours = Math.max(LEAST_HOURS, Math.ceil(gapHours) + MARGIN_HOURS);
  return hours > MAX_STALE_HOURS ? undefined : hours;
}
