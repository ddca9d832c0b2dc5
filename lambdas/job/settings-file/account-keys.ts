// The keys of an account in cdk.json and in the settings file: what each may be, and its default.

import * as z from "zod";
import { accountSettings } from "../settings/account-settings.ts";
import { notifyOn } from "../settings/notify-on.ts";
import { notifyUrl } from "../settings/notify-url.ts";
import { text, trueOrFalse, wholeNumber } from "../settings/value-schemas.ts";
import { parseSchedule } from "./parse-schedule.ts";
import { credentialsPlace, warehousePlace } from "./places.ts";

/** An alarm looks back at most seven days. */
export const MAX_STALE_HOURS = 168;

const { baseUrl, ...ofEachAccount } = accountSettings.shape;

/** Its own: no other account has it by default. */
export const schedule = text(
  "expected cron(minutes hours day-of-month month day-of-week year) with ? for exactly one of the two days and * for the year, such as cron(0 6 * * ? *), or rate(12 hours)",
  (value) => parseSchedule(value) !== undefined,
);

/** Those that may stand at the top as well, as the default for all accounts. */
export const accountKeys = z.strictObject({
  timeZone: text("expected a time zone such as Europe/London or UTC", isTimeZone).default("UTC"),
  enabled: trueOrFalse.default(true),
  baseUrl: baseUrl.optional(),
  ...ofEachAccount,
  staleAfterHours: wholeNumber(1, MAX_STALE_HOURS).optional(),
  leftOutAlarmAbove: wholeNumber(0, 1e9).default(0),
  // Of a laptop. A deployment has its own places.
  warehouse: warehousePlace.optional(),
  credentials: credentialsPlace.optional(),
  tokens: credentialsPlace.optional(),
  notifyUrl: notifyUrl.optional(),
  notifyOn: notifyOn.readonly().optional(),
});

function isTimeZone(value: string): boolean {
  // EventBridge Scheduler accepts names only, no offset such as +01:00.
  if (!/^[A-Za-z]/.test(value)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: value });
    return true;
  } catch {
    return false;
  }
}
