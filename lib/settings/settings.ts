// What `cdk.json` says under `context.eventSync`: read once, at synth, with a message for everything that is wrong.

import { z } from "zod";
import { parsePointer } from "../../lambdas/job/json/json-pointer.ts";
import { parseBaseUrl } from "../../lambdas/job/service/base-url.ts";
import { parseLiftedColumns } from "../../lambdas/job/snapshot/rows/lifted-column.ts";
import { parseSchedule } from "./schedule-expression.ts";
import { describeIssue } from "./settings-message.ts";

/** CloudWatch Logs keeps logs for one of these numbers of days. */
const LOG_RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1_096, 1_827];

/** An alarm looks back seven days at the most. */
export const MAX_STALE_HOURS = 168;

const wholeNumber = (least: number, most: number) => {
  const error = `expected a whole number from ${least} to ${most}`;
  return z.int(error).min(least, error).max(most, error);
};
const text = (expectation: string, isValid: (value: string) => boolean) =>
  z.string(expectation).refine(isValid, expectation);
const number = (expectation: string, isValid: (value: number) => boolean) =>
  z.number(expectation).refine(isValid, expectation);
const flag = z.boolean("expected true or false");
const percent = number("expected a percentage from 0 to 100", (value) => value >= 0 && value <= 100);
const LIMIT = 'expected a whole number from 1 to 1000000000000, or "unlimited"';
const limit = z
  .union([z.literal("unlimited"), z.number()], LIMIT)
  .refine(
    (value) => value === "unlimited" || (Number.isInteger(value) && value >= 1 && value <= 1e12),
    LIMIT,
  );
const baseUrl = text(
  "expected the address of the service such as https://api.example.com: https:, without user name, password, query or fragment",
  (value) => accepts(() => parseBaseUrl(value)),
);
const pointer = text("expected a JSON Pointer such as /data/events", (value) =>
  accepts(() => parsePointer(value)),
);

export const accountSchema = z.strictObject({
  schedule: text(
    "expected cron(minutes hours day-of-month month day-of-week year) with * as the year, such as cron(0 6 * * ? *), or rate(12 hours)",
    (value) => parseSchedule(value) !== undefined,
  ),
  timeZone: text("expected a time zone such as Europe/London or UTC", isTimeZone).default("UTC"),
  enabled: flag.default(true),
  baseUrl: baseUrl.optional(),
  requestsPerMinute: limit.optional(),
  bytesPerMinute: limit.optional(),
  concurrency: wholeNumber(1, 256).optional(),
  isListed: z.enum(["true", "false", "any"], 'expected "true", "false" or "any"').optional(),
  listPointer: pointer.optional(),
  detailPointer: pointer.optional(),
  maxDropPercent: percent.optional(),
  maxMissingPercent: percent.optional(),
  retainDays: wholeNumber(1, 36_500).optional(),
  resumeWithinMinutes: wholeNumber(0, 20_160).optional(),
  staleAfterHours: wholeNumber(1, MAX_STALE_HOURS).optional(),
  leftOutAlarmAbove: wholeNumber(0, 1e9).default(0),
});

export const settingsSchema = z.strictObject({
  baseUrl: baseUrl.optional(),
  accounts: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/),
      accountSchema,
      'expected the accounts by name, such as {"uk": {"schedule": "cron(0 6 * * ? *)"}}',
    )
    .refine((accounts) => Object.keys(accounts).length > 0, "expected at least one account"),
  lifted: z
    .array(
      z.strictObject({
        name: z.string("expected a column's name"),
        pointer: z.string("expected a JSON Pointer"),
      }),
      'expected the columns of your own as a list, such as [{"name": "brand", "pointer": "/brand/name"}]',
    )
    .default([]),
  database: text("expected a name of a-z, 0-9 and _, up to 255 long, for the Glue database", (value) =>
    /^[a-z0-9_]{1,255}$/.test(value),
  ).default("brand_events"),
  alarmEmail: text("expected an e-mail address", (value) =>
    /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value),
  ).optional(),
  runbookUrl: text("expected where docs/runbook.md is to be read: a path or an address", isRunbook).default(
    "docs/runbook.md",
  ),
  logRetentionDays: number(`expected one of ${LOG_RETENTION_DAYS.join(", ")}`, (value) =>
    LOG_RETENTION_DAYS.includes(value),
  ).default(90),
  scanLimitGigabytes: wholeNumber(1, 10_000).default(10),
  reservedConcurrency: wholeNumber(1, 1_000).optional(),
});

type ParsedSettings = z.output<typeof settingsSchema>;
export type AccountSettings = Readonly<Omit<ParsedSettings["accounts"][string], "baseUrl">> & {
  readonly baseUrl: string;
};
export type Settings = Readonly<Omit<ParsedSettings, "accounts" | "baseUrl">> & {
  readonly accounts: Readonly<Record<string, AccountSettings>>;
};

/** Throws an `Error` that names every wrong key, what was expected and what came. */
export function parseSettings(context: unknown): Settings {
  const parsed = settingsSchema.safeParse(context);
  if (!parsed.success) throw unusable(parsed.error.issues.map((issue) => describeIssue(issue, context)));
  const { accounts, baseUrl: shared, ...settings } = parsed.data;
  try {
    parseLiftedColumns(settings.lifted.map(({ name, pointer: at }) => `${name}=${at}`));
  } catch (error) {
    throw unusable([`eventSync.lifted: ${error instanceof Error ? error.message : String(error)}`]);
  }
  const entries = Object.entries(accounts).map(([name, { baseUrl: own, ...account }]) => {
    const url = own ?? shared;
    if (url === undefined) {
      throw unusable([
        `eventSync.baseUrl: expected the address of the service such as https://api.example.com, here or for the account ${name}, and got nothing`,
      ]);
    }
    return [name, { ...account, baseUrl: url }] as const;
  });
  return { ...settings, accounts: Object.fromEntries(entries) };
}

function accepts(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

function isTimeZone(value: string): boolean {
  // Scheduler takes names, and an offset such as +01:00 is none.
  return /^[A-Za-z]/.test(value) && accepts(() => new Intl.DateTimeFormat("en", { timeZone: value }));
}

function isRunbook(value: string): boolean {
  return /^[^\s#]+$/.test(value);
}

function unusable(problems: readonly string[]): Error {
  return new Error(
    ["cdk.json → context: these settings are not usable.", ...problems.map((each) => `  ${each}`)].join("\n"),
  );
}
