// The keys that cdk.json and the settings file have once, for all accounts: what each may be, and its default.

import * as z from "zod";
import { DEFAULT_DATABASE, databaseName } from "../settings/database-name.ts";
import { text, wholeNumber } from "../settings/value-schemas.ts";
import { liftedColumns } from "../snapshot/rows/lifted-column.ts";

/** The numbers of days that CloudWatch Logs offers. */
const LOG_RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1_096, 1_827];

export const sharedKeys = z.strictObject({
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
  /** The bucket that an earlier deployment left. */
  existingBucket: text("expected the name of a bucket, 3 to 63 of a-z, 0-9, . and -", (value) =>
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value),
  ).optional(),
  scanLimitGigabytes: wholeNumber(1, 10_000).default(10),
  reservedConcurrency: wholeNumber(1, 1_000).optional(),
});

function isRunbook(value: string): boolean {
  return /^[^\s#]+$/.test(value);
}
