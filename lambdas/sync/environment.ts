// The function's settings: its environment variables and its settings file, and how they are read.

import * as z from "zod";
import { SyncError } from "../job/errors/sync-error.ts";
import { type RunSettings, runSettings } from "../job/run/run-settings.ts";
import { PLAIN_ENGLISH, problemsOf } from "../job/settings/setting-problem.ts";
import { accountName, databaseName, text } from "../job/settings/values.ts";
import { type AccountSettings, accountSettings } from "../job/settings-file/settings-schema.ts";
import { liftedColumns } from "../job/snapshot/rows/lifted-column.ts";

/** Contract: `lib` sets these variables (by `environmentOf`), the function reads them. */
const ENVIRONMENT: ReadonlyMap<PropertyKey, string> = new Map(
  Object.entries({
    bucket: "BRAND_EVENTS_BUCKET",
    bucketOwner: "BRAND_EVENTS_BUCKET_OWNER",
    database: "BRAND_EVENTS_DATABASE",
    workgroup: "BRAND_EVENTS_WORKGROUP",
    metricNamespace: "BRAND_EVENTS_METRIC_NAMESPACE",
    secretName: "BRAND_EVENTS_SECRET_NAME",
    stateMachineArn: "STATE_MACHINE_ARN",
    maxTurns: "MAX_TURNS",
    tokensSecretName: "BRAND_EVENTS_TOKENS_SECRET_NAME",
    program: "BRAND_EVENTS_PROGRAM",
  }),
);

/** Contract: `lib` sets it at the alias. So often Lambda repeats an asynchronous start that failed. */
export const START_RETRIES = 2;

/** Stands for the account's name in `secretName`. */
export const ACCOUNT_PLACEHOLDER = "{account}";

const named = (what: string) => text(`expected ${what}`, (value) => value !== "");

const secretName = text(`expected the name of a secret with ${ACCOUNT_PLACEHOLDER} in it`, (value) =>
  value.includes(ACCOUNT_PLACEHOLDER),
);

const schema = z.strictObject({
  bucket: named("the name of the bucket"),
  /** The AWS account that the bucket belongs to. */
  bucketOwner: named("the AWS account of the bucket"),
  database: databaseName,
  workgroup: named("the name of the workgroup"),
  /** So that the metrics of two deployments do not meet, where both have an account of one name. */
  metricNamespace: named("the namespace of the metrics"),
  /** The name of every account's secret. */
  secretName,
  /** The name of the secrets for tokens, which the accounts with an `authUrl` have. */
  tokensSecretName: secretName.optional(),
  /** Continues the runs that an invocation cannot finish. */
  stateMachineArn: text("expected the ARN of a state machine", (value) =>
    /^arn:[\w-]+:states:[\w-]+:\d{12}:stateMachine:[\w-]{1,80}$/.test(value),
  ),
  /** The invocations of one execution, before another execution follows: no setting, but lower in tests. */
  maxTurns: text("expected a whole number from 1", (value) => /^[1-9]\d{0,4}$/.test(value))
    .default("1000")
    .transform(Number),
  /** How the command line is started where the stack is deployed from, for the commands that are told. */
  program: named("how the command line is started"),
});

/** What `lib` gives: what has a default may be left out. */
export type FunctionSettings = z.input<typeof schema>;

type FunctionAccount = AccountSettings & {
  readonly secretId: string;
  /** The secret of the account's tokens, where it has one. */
  readonly tokensSecretId?: string;
};
/** What the function works with. `region` and `functionName` are Lambda's own words for where it runs, and what. */
export type FunctionEnvironment = Readonly<Omit<z.output<typeof schema>, "secretName" | "tokensSecretName">> &
  Pick<ReturnType<typeof parseFunctionFile>, "lifted"> & {
    readonly region: string;
    readonly functionName: string;
    readonly accounts: Readonly<Record<string, FunctionAccount>>;
  };

/** The variables for `settings`. */
export function environmentOf(settings: FunctionSettings): Record<string, string> {
  const values = Object.entries(settings);
  return Object.fromEntries(
    values.flatMap(([key, value]) => (value === undefined ? [] : [[ENVIRONMENT.get(key) ?? key, value]])),
  );
}

/** Throws `CONFIG_INVALID` naming the variable, or the key of the settings file. */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
  functionFile: string,
): FunctionEnvironment {
  const given = Object.fromEntries([...ENVIRONMENT].map(([key, name]) => [key, variables[name]]));
  const parsed = schema.safeParse(given, PLAIN_ENGLISH);
  if (!parsed.success) {
    const nameOf = ([key = ""]: readonly PropertyKey[]): string => String(ENVIRONMENT.get(key));
    const problem = problemsOf(parsed.error.issues, nameOf).join("; ");
    throw notUsable("environment", problem, "its variables are");
  }
  const { secretName, tokensSecretName, ...settings } = parsed.data;
  const { accounts, lifted } = parseFunctionFile(functionFile);
  const withSecrets = Object.entries(accounts).map(([name, account]) => {
    const secretOf = (pattern: string): string => pattern.replaceAll(ACCOUNT_PLACEHOLDER, name);
    const hasTokens = account.authUrl !== undefined && tokensSecretName !== undefined;
    const tokens = hasTokens ? { tokensSecretId: secretOf(tokensSecretName) } : {};
    return [name, { ...account, secretId: secretOf(secretName), ...tokens }] as const;
  });
  return {
    ...settings,
    accounts: Object.fromEntries(withSecrets),
    lifted,
    region: variables["AWS_REGION"] ?? "us-east-1",
    functionName: variables["AWS_LAMBDA_FUNCTION_NAME"] ?? "brand-events-sync",
  };
}

/** From the function's environment to the settings of one account's run. */
export function accountRunSettings(
  { secretId: _, tokensSecretId: __, ...settings }: FunctionAccount,
  { lifted }: Pick<FunctionEnvironment, "lifted">,
): RunSettings {
  return runSettings(settings, lifted);
}

/** The name of the settings' file beside the function's code. Unlike environment variables it has no limit of 4 KB. */
export const FUNCTION_FILE_NAME = "settings.json";

const fileSchema = z.strictObject({
  accounts: z
    .record(accountName, accountSettings)
    .refine((accounts) => Object.keys(accounts).length > 0, "expected at least one account"),
  lifted: liftedColumns.default([]),
});

/** What `lib` gives: what has a default may be left out. */
export type FunctionFile = z.input<typeof fileSchema>;

/** The settings file in the function's bundle. What the function does not use is not in it. */
export function functionFileText({ accounts, lifted }: FunctionFile): string {
  const used = Object.entries(accounts).map(([name, account]) => [
    name,
    accountSettings.strip().parse(account),
  ]);
  return `${JSON.stringify({ accounts: Object.fromEntries(used), lifted })}\n`;
}

/** Throws `CONFIG_INVALID` naming the key. */
export function parseFunctionFile(text: string): z.output<typeof fileSchema> {
  const given = parseJson(text);
  const parsed = fileSchema.safeParse(given, PLAIN_ENGLISH);
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error.issues, (path) => path.map(String).join("."));
  throw notUsable(FUNCTION_FILE_NAME, problems.join("; "), "the file is");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notUsable(FUNCTION_FILE_NAME, "expected JSON", "the file is");
  }
}

function notUsable(what: string, problem: string, itIs: string): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `The function's ${what} is not usable (${problem}). Deploy the stack again; ${itIs} not edited by hand.`,
  );
}
