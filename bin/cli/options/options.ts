// The command line's options: flag, description, default, and how their text becomes a value.

import { DEFAULT_SAMPLE, MAX_SAMPLE } from "../../../lambdas/job/run/discover.ts";
import { DEFAULT_VERIFIED, MAX_VERIFIED, sampleSize } from "../../../lambdas/job/run/verify/sample-size.ts";
import { accountName } from "../../../lambdas/job/settings/account-name.ts";
import { ACCOUNT_DEFAULTS, accountSettings } from "../../../lambdas/job/settings/account-settings.ts";
import { DEFAULT_DATABASE, databaseName } from "../../../lambdas/job/settings/database-name.ts";
import { notifyOn } from "../../../lambdas/job/settings/notify-on.ts";
import { notifyUrl } from "../../../lambdas/job/settings/notify-url.ts";
import { eventLimit, hours } from "../../../lambdas/job/settings/value-schemas.ts";
import { credentialsPlace, filePlace, warehousePlace } from "../../../lambdas/job/settings-file/places.ts";
import { GUARD_OPTIONS } from "./groups/guard-options.ts";
import { BROWSER_OPTIONS, LOGIN_OPTIONS } from "./groups/login-options.ts";
import { QUERY_OPTIONS } from "./groups/query-options.ts";
import { liftedTexts, listOf, logLevel, numberOf, switchValue, textOf } from "./option-parsers.ts";
import { SETTINGS_FILE, type SettingsFile } from "./settings-file.ts";

const SETTINGS = accountSettings.shape;

export interface OptionSpec<Value> {
  /** In the syntax of commander; without a placeholder it is a switch. */
  readonly flag: string;
  readonly description: string;
  /** The text without an option or an environment variable. */
  readonly fallback?: string;
  /** May be given several times; its text is a JSON array of all of them. */
  readonly isRepeatable?: true;
  readonly parse: (text: string) => Value;
}

/** Every option, by the name its value has in the program. */
export const OPTIONS = {
  config: {
    flag: "--config <file>",
    description: `settings file; without it ./${SETTINGS_FILE}, if it is there`,
    parse: textOf(filePlace),
  },
  baseUrl: {
    flag: "--base-url <url>",
    description: "address of the service",
    parse: textOf(SETTINGS.baseUrl),
  },
  account: {
    flag: "--account <name>",
    description: "account",
    fallback: "default",
    parse: textOf(accountName),
  },
  credentials: {
    flag: "--credentials <where>",
    description: "the account's credentials: a JSON file, secretsmanager:NAME, or - for standard input",
    fallback: "./credentials.json",
    parse: textOf(credentialsPlace),
  },
  authUrl: {
    flag: "--auth-url <url>",
    description: "address of the identity provider, for the method oauth",
    parse: textOf(SETTINGS.authUrl),
  },
  tokens: {
    flag: "--tokens <where>",
    description:
      "tokens of the method oauth: a JSON file, or secretsmanager:NAME; without it <credentials>.tokens.json",
    parse: textOf(credentialsPlace),
  },
  warehouse: {
    flag: "--warehouse <where>",
    description: "what holds the snapshots: a directory, or s3://bucket/prefix",
    fallback: "./warehouse",
    parse: textOf(warehousePlace),
  },
  database: {
    flag: "--database <name>",
    description: "database in Glue of a warehouse in S3",
    fallback: DEFAULT_DATABASE,
    parse: textOf(databaseName),
  },
  requestsPerMinute: {
    flag: "--requests-per-minute <n>",
    description: "requests that the service allows per minute, of which 90 % are used, or unlimited",
    fallback: String(ACCOUNT_DEFAULTS.requestsPerMinute),
    parse: numberOf(SETTINGS.requestsPerMinute),
  },
  bytesPerMinute: {
    flag: "--bytes-per-minute <n>",
    description:
      "bytes of decompressed bodies that the service allows per minute, of which 90 % are used, or unlimited",
    fallback: String(ACCOUNT_DEFAULTS.bytesPerMinute),
    parse: numberOf(SETTINGS.bytesPerMinute),
  },
  limitWindow: {
    flag: "--limit-window <seconds>",
    description: "the limits per minute hold on average over this many seconds, 10 to 3600",
    fallback: String(ACCOUNT_DEFAULTS.limitWindowSeconds),
    parse: numberOf(SETTINGS.limitWindowSeconds),
  },
  concurrency: {
    flag: "--concurrency <n>",
    description: "requests at the same time",
    fallback: String(ACCOUNT_DEFAULTS.concurrency),
    parse: numberOf(SETTINGS.concurrency),
  },
  isListed: {
    flag: "--is-listed <filter>",
    description: "which events: true, false or any",
    fallback: ACCOUNT_DEFAULTS.isListed,
    parse: textOf(SETTINGS.isListed),
  },
  listPointer: {
    flag: "--list-pointer <pointer>",
    description: "JSON Pointer to the events in the list response, if they are not found",
    parse: textOf(SETTINGS.listPointer),
  },
  detailPointer: {
    flag: "--detail-pointer <pointer>",
    description: "JSON Pointer to the event in the response for one event, if it is not found",
    parse: textOf(SETTINGS.detailPointer),
  },
  lift: {
    flag: "--lift <name=pointer:type>",
    description:
      "a column of your own, from a JSON Pointer into the detail, with or without a type for events_typed; repeatable, as variable a JSON array",
    isRepeatable: true,
    parse: liftedTexts,
  },
  ...GUARD_OPTIONS,
  resumeWithin: {
    flag: "--resume-within <minutes>",
    description: "how old the last progress of an unfinished run may be for a run to resume it",
    fallback: String(ACCOUNT_DEFAULTS.resumeWithinMinutes),
    parse: numberOf(SETTINGS.resumeWithinMinutes),
  },
  retainDays: {
    flag: "--retain-days <days>",
    description: "delete published snapshots that are older; without it all are kept",
    parse: numberOf(SETTINGS.retainDays),
  },
  dryRun: {
    flag: "--dry-run",
    description: "fetch and check everything, publish nothing",
    fallback: "false",
    parse: switchValue,
  },
  limit: {
    flag: "--limit <n>",
    description: `fetch only this many events: run with --dry-run only; discover ${MAX_SAMPLE} at most, ${DEFAULT_SAMPLE} by default. diff: show this many changes`,
    parse: numberOf(eventLimit),
  },
  sample: {
    flag: "--sample <n>",
    description: `how many random events verify fetches again, ${MAX_VERIFIED} at most`,
    fallback: String(DEFAULT_VERIFIED),
    parse: numberOf(sampleSize),
  },
  sql: {
    flag: "--sql",
    description: "print the view events_typed with the columns that are there and the suggested ones",
    fallback: "false",
    parse: switchValue,
  },
  fresh: {
    flag: "--fresh",
    description: "start a new run instead of resuming an unfinished one",
    fallback: "false",
    parse: switchValue,
  },
  deep: {
    flag: "--deep",
    description: "verify the checksums of all snapshots, not only of the one that readers see",
    fallback: "false",
    parse: switchValue,
  },
  overDamaged: {
    flag: "--over-damaged",
    description: "publish although files of the snapshot that readers see are damaged",
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
    description: "let the next run replace the snapshot that is rolled back to",
    fallback: "false",
    parse: switchValue,
  },
  maxAge: {
    flag: "--max-age <hours>",
    description: "exit with 5 if the data of an account are older, or if it has none",
    parse: numberOf(hours),
  },
  yes: {
    flag: "--yes",
    description: "really delete the account",
    fallback: "false",
    parse: switchValue,
  },
  ...BROWSER_OPTIONS,
  ...LOGIN_OPTIONS,
  notifyUrl: {
    flag: "--notify-url <url>",
    description: "where to post that a run is held or has failed, for Slack, Teams or a program; a secret",
    parse: textOf(notifyUrl),
  },
  notifyOn: {
    flag: "--notify-on <ends>",
    description: "which ends of a run to post: published, held, failed, separated by commas",
    fallback: "held,failed",
    parse: listOf(notifyOn),
  },
  ...QUERY_OPTIONS,
  all: {
    flag: "--all",
    description: "each account of the settings file, one after the other",
    fallback: "false",
    parse: switchValue,
  },
  logLevel: {
    flag: "--log-level <level>",
    description: "what to log: error, warn, info or debug",
    fallback: "info",
    parse: logLevel,
  },
  json: {
    flag: "--json",
    description: "print the result as one line of JSON",
    fallback: "false",
    parse: switchValue,
  },
} as const satisfies Record<string, OptionSpec<unknown>>;

export type OptionName = keyof typeof OPTIONS;

/** The value of an option; undefined if it is not given and has no default. Of `--config` it is the file as it is read. */
type OptionValue<Name extends OptionName> =
  | (Name extends "config" ? SettingsFile : ReturnType<(typeof OPTIONS)[Name]["parse"]>)
  | ((typeof OPTIONS)[Name] extends { readonly fallback: string } ? never : undefined);

export type OptionValues<Name extends OptionName> = { readonly [Each in Name]: OptionValue<Each> };

/** Its long name without dashes: `base-url`. */
export const longName = (name: OptionName): string => /--([\w-]+)/.exec(OPTIONS[name].flag)?.[1] ?? "";
