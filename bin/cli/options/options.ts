// The command line's options: name, environment variable, default, and what their text must be.

import { parseBaseUrl } from "../../../lambdas/job/service/base-url.ts";
import {
  accountName,
  credentialsPlace,
  databaseName,
  liftedColumns,
  limit,
  listedFilter,
  percent,
  pointer,
  switchValue,
  warehousePlace,
  wholeNumber,
} from "./option-parsers.ts";

export interface OptionSpec<Value> {
  /** As commander takes it; without a placeholder it is a switch. */
  readonly flag: string;
  readonly description: string;
  /** Text that is used where neither option nor environment variable is given. */
  readonly fallback?: string;
  /** May be given several times; its text is a JSON array of all of them. */
  readonly isRepeatable?: true;
  readonly parse: (text: string) => Value;
}

/** Every option, by the name its value has in the program. */
export const OPTIONS = {
  baseUrl: {
    flag: "--base-url <url>",
    description: "address of the service",
    parse: (value: string) => parseBaseUrl(value).href,
  },
  account: { flag: "--account <name>", description: "account", fallback: "default", parse: accountName },
  credentials: {
    flag: "--credentials <where>",
    description: "the account's credentials: a JSON file, or secretsmanager:NAME",
    fallback: "./credentials.json",
    parse: credentialsPlace,
  },
  warehouse: {
    flag: "--warehouse <where>",
    description: "what holds the snapshots: a directory, or s3://bucket/prefix",
    fallback: "./warehouse",
    parse: warehousePlace,
  },
  database: {
    flag: "--database <name>",
    description: "database in Glue of a warehouse in S3",
    fallback: "brand_events",
    parse: databaseName,
  },
  requestsPerMinute: {
    flag: "--requests-per-minute <n>",
    description: "requests the service allows, of which 90 % are used, or unlimited",
    fallback: "200",
    parse: limit,
  },
  bytesPerMinute: {
    flag: "--bytes-per-minute <n>",
    description: "bytes the service allows, of which 90 % are used, or unlimited",
    fallback: String(10 * 1024 * 1024),
    parse: limit,
  },
  concurrency: {
    flag: "--concurrency <n>",
    description: "requests at the same time",
    fallback: "16",
    parse: wholeNumber(1, 256),
  },
  isListed: {
    flag: "--is-listed <filter>",
    description: "which events: true, false or any",
    fallback: "true",
    parse: listedFilter,
  },
  listPointer: {
    flag: "--list-pointer <pointer>",
    description: "JSON Pointer to the events in the list response, if they are not found",
    parse: pointer,
  },
  detailPointer: {
    flag: "--detail-pointer <pointer>",
    description: "JSON Pointer to the event in the response for one event, if it is not found",
    parse: pointer,
  },
  lift: {
    flag: "--lift <name=pointer>",
    description:
      "a column of your own, from a JSON Pointer into the detail; repeatable, as variable a JSON array",
    isRepeatable: true,
    parse: liftedColumns,
  },
  maxDrop: {
    flag: "--max-drop <percent>",
    description: "how many fewer events than before are still published",
    fallback: "20",
    parse: percent,
  },
  maxMissing: {
    flag: "--max-missing <percent>",
    description: "how many of the listed events may lack details (5 always may)",
    fallback: "1",
    parse: percent,
  },
  resumeWithin: {
    flag: "--resume-within <minutes>",
    description: "how old the last progress of an unfinished run may be to go on with it",
    fallback: "60",
    parse: wholeNumber(0, 20_160),
  },
  retainDays: {
    flag: "--retain-days <days>",
    description: "take published snapshots away that are older; without it all are kept",
    parse: wholeNumber(1, 36_500),
  },
  dryRun: {
    flag: "--dry-run",
    description: "fetch and check everything, publish nothing",
    fallback: "false",
    parse: switchValue,
  },
  limit: {
    flag: "--limit <n>",
    description:
      "fetch only this many events: run with --dry-run only, discover 50 without it and 500 at most",
    parse: wholeNumber(1, 1e9),
  },
  fresh: {
    flag: "--fresh",
    description: "begin anew instead of going on with an unfinished run",
    fallback: "false",
    parse: switchValue,
  },
  deep: {
    flag: "--deep",
    description: "verify the checksums of everything that is kept, not only of what readers see",
    fallback: "false",
    parse: switchValue,
  },
  overDamaged: {
    flag: "--over-damaged",
    description: "publish although files of what readers see are damaged",
    fallback: "false",
    parse: switchValue,
  },
  force: {
    flag: "--force",
    description: "accept a snapshot that is older than the one readers see",
    fallback: "false",
    parse: switchValue,
  },
  noPin: {
    flag: "--no-pin",
    description: "let the next run replace what is rolled back to",
    fallback: "false",
    parse: switchValue,
  },
  json: {
    flag: "--json",
    description: "print the result as one line of JSON",
    fallback: "false",
    parse: switchValue,
  },
} as const satisfies Record<string, OptionSpec<unknown>>;

export type OptionName = keyof typeof OPTIONS;

/** The value of an option; undefined where it was not given and has no default. */
export type OptionValue<Name extends OptionName> =
  | ReturnType<(typeof OPTIONS)[Name]["parse"]>
  | ((typeof OPTIONS)[Name] extends { readonly fallback: string } ? never : undefined);

export type OptionValues<Name extends OptionName> = { readonly [Each in Name]: OptionValue<Each> };
