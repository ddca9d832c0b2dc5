// The function's environment variables: their names, what they hold, and how they are read.

import { z } from "zod";
import { SyncError } from "../job/errors/sync-error.ts";
import { parsePointer } from "../job/json/json-pointer.ts";
import { parseLiftedColumns } from "../job/snapshot/rows/lifted-column.ts";

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

const limit = z.union([z.literal("unlimited"), z.int().positive()]);
const percent = z.number().min(0).max(100);
const pointer = z.string().refine(isPointer, "expected a JSON Pointer such as /data/events");

const accountSchema = z.strictObject({
  secretId: z.string().min(1),
  baseUrl: z.string().min(1),
  requestsPerMinute: limit.default(200),
  bytesPerMinute: limit.default(10 * 1024 * 1024),
  concurrency: z.int().min(1).max(256).default(16),
  isListed: z.enum(["true", "false", "any"]).default("true"),
  listPointer: pointer.optional(),
  detailPointer: pointer.optional(),
  maxDropPercent: percent.default(20),
  maxMissingPercent: percent.default(1),
  retainDays: z.int().positive().optional(),
  resumeWithinMinutes: z.int().nonnegative().default(60),
});

const accountName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, "expected a name of a-z, 0-9, _ and -");

const schema = z.strictObject({
  bucket: z.string().min(1),
  /** The AWS account that the bucket belongs to. */
  bucketOwner: z.string().min(1),
  /** Empty, or with its closing slash. */
  prefix: z
    .string()
    .regex(/^([^/]+\/)*$/, "expected nothing, or a prefix with its closing slash")
    .default(""),
  database: z.string().min(1),
  workgroup: z.string().min(1),
  eventBus: z.string().min(1).default("default"),
  accounts: z
    .record(accountName, accountSchema)
    .refine((accounts) => Object.keys(accounts).length > 0, "expected at least one account"),
  lifted: z.array(z.strictObject({ name: z.string(), pointer: z.string() })).default([]),
});

/** What `lib` gives: what has a default may be left out. */
export type FunctionSettings = z.input<typeof schema>;
/** What the function works with. `region` is Lambda's own word for where it runs. */
export type FunctionEnvironment = z.output<typeof schema> & { readonly region: string };
export type AccountSettings = z.output<typeof accountSchema>;

/** The variables that say `settings`. What has its default is best left out: Lambda takes 4 KB of variables in all. */
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
    [ENVIRONMENT.accounts]: JSON.stringify(accounts),
    [ENVIRONMENT.lifted]: JSON.stringify(lifted),
  };
}

/** Throws `CONFIG_INVALID` naming the variable. */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
): FunctionEnvironment {
  const parsed = schema.safeParse({
    bucket: variables[ENVIRONMENT.bucket],
    bucketOwner: variables[ENVIRONMENT.bucketOwner],
    prefix: variables[ENVIRONMENT.prefix],
    database: variables[ENVIRONMENT.database],
    workgroup: variables[ENVIRONMENT.workgroup],
    eventBus: variables[ENVIRONMENT.eventBus],
    accounts: parseJson(ENVIRONMENT.accounts, variables[ENVIRONMENT.accounts] ?? "{}"),
    lifted: parseJson(ENVIRONMENT.lifted, variables[ENVIRONMENT.lifted] ?? "[]"),
  });
  if (!parsed.success) throw invalid(parsed.error.issues.map(describe).join("; "));
  parseLiftedColumns(parsed.data.lifted.map(({ name, pointer: at }) => `${name}=${at}`));
  return { ...parsed.data, region: variables["AWS_REGION"] ?? "us-east-1" };
}

function isPointer(text: string): boolean {
  try {
    parsePointer(text);
    return true;
  } catch {
    return false;
  }
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(`${name}: expected JSON`);
  }
}

function describe({ path: [key, ...rest], message }: z.core.$ZodIssue): string {
  const name = new Map<PropertyKey, string>(Object.entries(ENVIRONMENT)).get(key ?? "");
  return `${[name, ...rest].map(String).join(".")}: ${message}`;
}

function invalid(problem: string): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `The function's environment is not usable (${problem}). Deploy the stack again; its variables are not edited by hand.`,
  );
}
