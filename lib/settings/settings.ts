// What `cdk.json` says under `context.eventSync`: read once, at synth, with a message for each wrong key.

import { z } from "zod";
import { accountName } from "../../lambdas/job/settings/account-name.ts";
import { accountSettings } from "../../lambdas/job/settings/account-settings.ts";
import { DEFAULT_DATABASE, databaseName } from "../../lambdas/job/settings/database-name.ts";
import { plainEnglish, problemsOf } from "../../lambdas/job/settings/setting-problem.ts";
import { text, trueOrFalse, wholeNumber } from "../../lambdas/job/settings/value-schemas.ts";
import { liftedColumns } from "../../lambdas/job/snapshot/rows/lifted-column.ts";
import { parseSchedule } from "./parse-schedule.ts";

/** The numbers of days that CloudWatch Logs offers. */
const LOG_RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1_096, 1_827];

/** An alarm looks back at most seven days. */
export const MAX_STALE_HOURS = 168;

const { baseUrl, authUrl, ...ofEachAccount } = accountSettings.shape;

export const accountSchema = z.strictObject({
  schedule: text(
    "expected cron(minutes hours day-of-month month day-of-week year) with ? for exactly one of the two days and * for the year, such as cron(0 6 * * ? *), or rate(12 hours)",
    (value) => parseSchedule(value) !== undefined,
  ),
  timeZone: text("expected a time zone such as Europe/London or UTC", isTimeZone).default("UTC"),
  enabled: trueOrFalse.default(true),
  baseUrl: baseUrl.optional(),
  authUrl,
  ...ofEachAccount,
  staleAfterHours: wholeNumber(1, MAX_STALE_HOURS).optional(),
  leftOutAlarmAbove: wholeNumber(0, 1e9).default(0),
});

export const settingsSchema = z.strictObject({
  baseUrl: baseUrl.optional(),
  authUrl,
  accounts: z
    .record(
      accountName,
      accountSchema,
      'expected the accounts by name, such as {"uk": {"schedule": "cron(0 6 * * ? *)"}}',
    )
    .refine((accounts) => Object.keys(accounts).length > 0, "expected at least one account"),
  lifted: liftedColumns.default([]),
  database: databaseName.default(DEFAULT_DATABASE),
  /** The stack, and everything in it that has a name of its own. */
  stackName: text("expected a name of 1 to 64 of A-Z, a-z, 0-9 and -, beginning with a letter", (value) =>
    /^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(value),
  ).default("BrandEventsSync"),
  alarmEmail: text("expected an e-mail address", (value) =>
    /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value),
  ).optional(),
  runbookUrl: text(
    "expected the path or the address of docs/runbook.md, without an anchor",
    isRunbook,
  ).default("docs/runbook.md"),
  logRetentionDays: z
    .literal(LOG_RETENTION_DAYS, `expected one of ${LOG_RETENTION_DAYS.join(", ")}`)
    .default(90),
  scanLimitGigabytes: wholeNumber(1, 10_000).default(10),
  reservedConcurrency: wholeNumber(1, 1_000).optional(),
});

type ParsedSettings = z.output<typeof settingsSchema>;
export type DeployedAccount = Readonly<Omit<ParsedSettings["accounts"][string], "baseUrl">> & {
  readonly baseUrl: string;
};
export type Settings = Readonly<Omit<ParsedSettings, "accounts" | "baseUrl" | "authUrl">> & {
  readonly accounts: Readonly<Record<string, DeployedAccount>>;
};

/** Throws an `Error` that names every wrong key, what was expected and what came. */
export function parseSettings(context: unknown): Settings {
  const parsed = settingsSchema.safeParse(context, { error: plainEnglish });
  if (!parsed.success) throw unusable(problemsOf(parsed.error.issues, context, keyOf));
  const { accounts, baseUrl: shared, authUrl: sharedAuthUrl, ...settings } = parsed.data;
  const entries = Object.entries(accounts).map(([name, { baseUrl: own, ...account }]) => {
    const url = own ?? shared;
    if (url === undefined) {
      throw unusable([
        `eventSync.baseUrl: expected the address of the service such as https://api.example.com, here or for the account ${name}, and got nothing`,
      ]);
    }
    const authUrl = account.authUrl ?? sharedAuthUrl;
    return [name, { ...account, baseUrl: url, ...(authUrl === undefined ? {} : { authUrl }) }] as const;
  });
  return { ...settings, accounts: Object.fromEntries(entries) };
}

/** `eventSync.accounts.uk.schedule`. */
function keyOf(path: readonly PropertyKey[]): string {
  return ["eventSync", ...path].map(String).join(".");
}

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

function isRunbook(value: string): boolean {
  return /^[^\s#]+$/.test(value);
}

function unusable(problems: readonly string[]): Error {
  return new Error(
    ["cdk.json → context: these settings are not usable.", ...problems.map((each) => `  ${each}`)].join("\n"),
  );
}
