// The keys that cdk.json and the settings file have once, for all accounts: what each may be, and its default.

import * as z from "zod";
import { DEFAULT_DATABASE, databaseName } from "../settings/database-name.ts";
import { text, wholeNumber } from "../settings/value-schemas.ts";
import { liftedColumns } from "../snapshot/rows/lifted-column.ts";

/** The numbers of days that CloudWatch Logs offers. */
const LOG_RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1_096, 1_827, 2_192, 2_557, 2_922, 3_288,
  3_653,
];

/** Of the project, not of an address: mails have a link only where there is an address. */
const RUNBOOK = "docs/runbook.md";

/** AWS takes 50 for each resource; one is the deployment's own. */
const MAX_TAGS = 49;
const TAGS = 'expected tags as an object of texts, such as {"cost-center": "4711"}';
const TAG_KEY =
  "expected a tag of 1 to 128 letters, digits, spaces and _ . : / = + - @, not beginning with aws:";

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
    "expected the address of docs/runbook.md, with https: or http: and without an anchor",
    isRunbook,
  ).default(RUNBOOK),
  logRetentionDays: z
    .literal(LOG_RETENTION_DAYS, `expected one of ${LOG_RETENTION_DAYS.join(", ")}`)
    .default(90),
  /** The bucket that an earlier deployment left. */
  existingBucket: text("expected the name of a bucket, 3 to 63 of a-z, 0-9, . and -", (value) =>
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value),
  ).optional(),
  scanLimitGigabytes: wholeNumber(1, 10_000).default(10),
  reservedConcurrency: wholeNumber(1, 1_000).optional(),
  /** Of every resource that takes tags. */
  tags: z
    .record(
      text(TAG_KEY, (key) => /^(?!aws:)[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,128}$/iu.test(key)),
      text("expected up to 256 letters, digits, spaces and _ . : / = + - @", (value) =>
        /^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$/u.test(value),
      ),
      TAGS,
    )
    .refine((tags) => Object.keys(tags).length <= MAX_TAGS, `expected at most ${MAX_TAGS} tags`)
    // IAM takes them for one.
    .refine(haveOwnNames, "expected tags that differ in more than capitals")
    .default({}),
});

function isRunbook(value: string): boolean {
  return value === RUNBOOK || (/^https?:\/\/[^\s#]+$/i.test(value) && URL.canParse(value));
}

function haveOwnNames(tags: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(tags);
  return new Set(keys.map((key) => key.toLowerCase())).size === keys.length;
}
