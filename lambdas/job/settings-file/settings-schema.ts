// The settings that all accounts have in common, and what each reader takes of the two tables. `cdk.json` under
// `context.eventSync` and a settings file take the same keys and values, so one file serves a laptop and a deployment;
// each ignores what only the other has.

import * as z from "zod";
import { accountName, databaseName, tags, text, wholeNumber } from "../settings/values.ts";
import { liftedColumns } from "../snapshot/rows/lifted-column.ts";
import { ACCOUNT_SETTINGS, type Setting } from "./settings.ts";

/** The numbers of days that CloudWatch Logs offers. */
const LOG_RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1_096, 1_827, 2_192, 2_557, 2_922, 3_288,
  3_653,
];

/** Of the project, not of an address: mails have a link only where there is an address. */
const RUNBOOK = "docs/runbook.md";

export const SHARED_SETTINGS = {
  lifted: {
    schema: liftedColumns,
    default: [],
    where: "both",
    use: "run",
    flag: "--lift <name=pointer:type>",
    as: "columns",
    help: 'A [column of your own](tables.md#columns-of-your-own), `year=/year`, or with a [type](tables.md#events_typed) `year=/year:BIGINT`; repeatable, new ones last. As a variable a JSON array of such texts, in a file `[{"name": "year", "pointer": "/year", "type": "BIGINT"}]`. Without any, runs use the columns of the warehouse',
  },
  database: {
    schema: databaseName,
    default: "brand_events",
    where: "both",
    flag: "--database <name>",
    help: "Glue database of a warehouse in S3. The stack makes it, so it must not exist before",
  },
  stackName: {
    schema: text(
      "expected a name of 1 to 64 characters of A-Z, a-z, 0-9 and -, beginning with a letter",
      (value) => /^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(value),
    ),
    default: "BrandEventsSync",
    where: "AWS",
    help: "Name of the stack, its workgroup, alarms, dashboard, schedule group and secrets: 1 to 64 letters, digits and `-`. See [a second stack](#a-second-stack)",
  },
  alarmEmail: {
    schema: text("expected an e-mail address", (value) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)),
    where: "AWS",
    help: "E-mail address that gets the mails about held and failed runs, and the alarms; without it no mail is sent",
  },
  runbookUrl: {
    schema: text(
      "expected the address of docs/runbook.md, with https: or http: and without an anchor",
      (value) => value === RUNBOOK || (/^https?:\/\/[^\s#]+$/i.test(value) && URL.canParse(value)),
    ),
    default: RUNBOOK,
    where: "AWS",
    help: "Address of the runbook in the texts of the alarms, `https://…` or `http://…`. Without it the mails have no link, and the synthesis says so",
  },
  logRetentionDays: {
    schema: z.literal(LOG_RETENTION_DAYS, `expected one of ${LOG_RETENTION_DAYS.join(", ")}`),
    default: 90,
    where: "AWS",
    help: "Days that CloudWatch keeps the function's logs; one of the numbers that CloudWatch takes",
  },
  existingBucket: {
    schema: text("expected the name of a bucket, 3 to 63 characters of a-z, 0-9, . and -", (value) =>
      /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value),
    ),
    where: "AWS",
    help: "The bucket that an earlier deployment left, by name; without it the stack makes one. See [a bucket that exists](cdk.md#a-bucket-that-exists)",
  },
  scanLimitGigabytes: {
    schema: wholeNumber(1, 10_000),
    default: 10,
    where: "AWS",
    help: "Athena cancels a query of the workgroup that reads more, 1 to 10,000",
  },
  reservedConcurrency: {
    schema: wholeNumber(1, 1_000),
    where: "AWS",
    help: "Lambda's reserved concurrency for the function, 1 to 1,000. Not needed; a new AWS account may have none to reserve",
  },
  tags: {
    schema: tags,
    default: {},
    where: "AWS",
    help: 'Tags for every resource that takes tags, up to 49: `{"cost-center": "4711"}`. The tag `brand-events-sync`, with the name of the deployment, is always there, unless you give it another value',
  },
} as const satisfies Record<string, Setting>;

type Table = Readonly<Record<string, Setting>>;

/** What is absent stays absent, because a default of its own would hide a key at the top. */
function withoutDefaults<Settings extends Table>(
  table: Settings,
): { readonly [Key in keyof Settings]: z.ZodOptional<Settings[Key]["schema"]> } {
  return Object.fromEntries(
    Object.entries(table).map(([key, { schema }]) => [key, schema.optional()]),
  ) as never;
}

type WithDefault<Row extends Setting> = Row extends { readonly default: unknown }
  ? z.ZodDefault<Row["schema"]>
  : z.ZodOptional<Row["schema"]>;

type UsedBy<Settings extends Table, Where> = {
  readonly [Key in keyof Settings as Settings[Key]["where"] extends Where ? Key : never]: WithDefault<
    Settings[Key]
  >;
};

/** The settings that are used there, complete. */
export function settingsFor<Settings extends Table, Where extends Setting["where"]>(
  table: Settings,
  ...where: readonly Where[]
): UsedBy<Settings, Where> {
  const used = Object.entries(table).filter(([, row]) => where.some((each) => each === row.where));
  return Object.fromEntries(
    used.map(([key, { schema, default: fallback }]) => [
      key,
      fallback === undefined ? schema.optional() : schema.default(fallback),
    ]),
  ) as never;
}

/** What a run uses of an account's settings, on a laptop and in the function. */
export const accountSettings = z.strictObject({
  ...settingsFor(ACCOUNT_SETTINGS, "both"),
  baseUrl: ACCOUNT_SETTINGS.baseUrl.schema,
});

export type AccountSettings = Readonly<z.output<typeof accountSettings>>;

const { schedule, ...common } = ACCOUNT_SETTINGS;
const ofAnAccount = withoutDefaults(common);

const ACCOUNTS = 'expected the accounts by name, such as {"uk": {"schedule": "cron(0 6 * * ? *)"}}';

function schemaWith<Schedule extends z.ZodType>(ofSchedule: Schedule) {
  return z.strictObject({
    /** The schema that editors check the file with. */
    $schema: z.string("expected the path or the address of brand-events.schema.json").optional(),
    accounts: z
      .record(accountName, z.strictObject({ schedule: ofSchedule, ...ofAnAccount }), ACCOUNTS)
      .refine((accounts) => Object.keys(accounts).length > 0, `${ACCOUNTS}, and got none`)
      .describe("The accounts by name: 1 to 40 characters of `a-z`, `0-9`, `_`, `-`"),
    ...ofAnAccount,
    ...withoutDefaults(SHARED_SETTINGS),
  });
}

/** The file of a laptop, which starts no runs by itself. */
export const fileSettingsSchema = schemaWith(schedule.schema.optional());

/** The file of a deployment. */
export const deploymentSettingsSchema = schemaWith(schedule.schema);

export type FileSettings = Readonly<z.output<typeof fileSettingsSchema>>;
