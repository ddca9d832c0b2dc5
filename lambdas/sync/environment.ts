// The function's environment variables: their names, what they hold, and how they are read.

import { z } from "zod";
import { SyncError } from "../job/errors/sync-error.ts";
import { accountName } from "../job/settings/account-name.ts";
import { ACCOUNT_DEFAULTS, accountSettings } from "../job/settings/account-settings.ts";
import { databaseName } from "../job/settings/database-name.ts";
import { plainEnglish, problemsOf } from "../job/settings/setting-problem.ts";
import { text } from "../job/settings/value-schemas.ts";
import { liftedColumns } from "../job/snapshot/rows/lifted-column.ts";

/** Contract: `lib` sets these variables (by `environmentOf`), the function reads them. */
const ENVIRONMENT = {
  bucket: "BRAND_EVENTS_BUCKET",
  bucketOwner: "BRAND_EVENTS_BUCKET_OWNER",
  prefix: "BRAND_EVENTS_PREFIX",
  database: "BRAND_EVENTS_DATABASE",
  workgroup: "BRAND_EVENTS_WORKGROUP",
  eventBus: "BRAND_EVENTS_EVENT_BUS",
  accounts: "BRAND_EVENTS_ACCOUNTS",
  lifted: "BRAND_EVENTS_LIFTED",
} as const;

const named = (what: string) => text(`expected ${what}`, (value) => value !== "");

const functionAccount = accountSettings.extend({ secretId: named("the id of the account's secret") });

const schema = z.strictObject({
  bucket: named("the name of the bucket"),
  /** The AWS account that the bucket belongs to. */
  bucketOwner: named("the AWS account of the bucket"),
  /** Empty, or with its closing slash. */
  prefix: text("expected nothing, or a prefix with its closing slash", (value) =>
    /^([^/]+\/)*$/.test(value),
  ).default(""),
  database: databaseName,
  workgroup: named("the name of the workgroup"),
  eventBus: named("the name of the event bus").default("default"),
  accounts: z
    .record(accountName, functionAccount)
    .refine((accounts) => Object.keys(accounts).length > 0, "expected at least one account"),
  lifted: liftedColumns.default([]),
});

/** What `lib` gives. Settings with a default are optional. */
export type FunctionSettings = z.input<typeof schema>;
/** What the function works with. `region` comes from Lambda. */
export type FunctionEnvironment = z.output<typeof schema> & { readonly region: string };
export type FunctionAccount = z.output<typeof functionAccount>;

/** The variables for `settings`, without values that equal their default: Lambda takes 4 KB of variables in total. */
export function environmentOf(settings: FunctionSettings): Record<string, string> {
  const { prefix = "", eventBus = "default", lifted = [], ...given } = settings;
  const { bucket, bucketOwner, database, workgroup, accounts } = given;
  return {
    [ENVIRONMENT.bucket]: bucket,
    [ENVIRONMENT.bucketOwner]: bucketOwner,
    [ENVIRONMENT.prefix]: prefix,
    [ENVIRONMENT.database]: database,
    [ENVIRONMENT.workgroup]: workgroup,
    [ENVIRONMENT.eventBus]: eventBus,
    [ENVIRONMENT.accounts]: JSON.stringify(withoutDefaults(accounts)),
    [ENVIRONMENT.lifted]: JSON.stringify(lifted),
  };
}

/** Throws `CONFIG_INVALID` naming the variable. */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
): FunctionEnvironment {
  const given = {
    bucket: variables[ENVIRONMENT.bucket],
    bucketOwner: variables[ENVIRONMENT.bucketOwner],
    prefix: variables[ENVIRONMENT.prefix],
    database: variables[ENVIRONMENT.database],
    workgroup: variables[ENVIRONMENT.workgroup],
    eventBus: variables[ENVIRONMENT.eventBus],
    accounts: parseJson(ENVIRONMENT.accounts, variables[ENVIRONMENT.accounts] ?? "{}"),
    lifted: parseJson(ENVIRONMENT.lifted, variables[ENVIRONMENT.lifted] ?? "[]"),
  };
  const parsed = schema.safeParse(given, { error: plainEnglish });
  if (!parsed.success) throw invalid(problemsOf(parsed.error.issues, given, nameOf).join("; "));
  return { ...parsed.data, region: variables["AWS_REGION"] ?? "us-east-1" };
}

function withoutDefaults(accounts: FunctionSettings["accounts"]): object {
  const defaults = new Map<string, unknown>(Object.entries(ACCOUNT_DEFAULTS));
  const shortened = Object.entries(accounts).map(([name, account]) => {
    const kept = Object.entries(account).filter(([key, value]) => value !== defaults.get(key));
    return [name, Object.fromEntries(kept)] as const;
  });
  return Object.fromEntries(shortened);
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(`${name}: expected JSON`);
  }
}

/** `BRAND_EVENTS_ACCOUNTS.uk.baseUrl`. */
function nameOf([key = "", ...rest]: readonly PropertyKey[]): string {
  const variable = new Map<PropertyKey, string>(Object.entries(ENVIRONMENT)).get(key);
  return [variable, ...rest].map(String).join(".");
}

function invalid(problem: string): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `The function's environment is not usable (${problem}). Do not edit the variables by hand: correct cdk.json if necessary, and deploy the stack again.`,
  );
}
