// The command line's options: flag, description, default, and how their text becomes a value.

import { ACCOUNT_DEFAULTS } from "../../../lambdas/job/settings/account-defaults.ts";
import { accountName } from "../../../lambdas/job/settings/account-name.ts";
import { accountSettings } from "../../../lambdas/job/settings/account-settings.ts";
import { DEFAULT_DATABASE, databaseName } from "../../../lambdas/job/settings/database-name.ts";
import { notifyOn } from "../../../lambdas/job/settings/notify-on.ts";
import { notifyUrl } from "../../../lambdas/job/settings/notify-url.ts";
import { hours } from "../../../lambdas/job/settings/value-schemas.ts";
import { credentialsPlace, filePlace, warehousePlace } from "../../../lambdas/job/settings-file/places.ts";
import { BUDGET_OPTIONS } from "./groups/budget-options.ts";
import { GUARD_OPTIONS } from "./groups/guard-options.ts";
import { BROWSER_OPTIONS, LOGIN_OPTIONS } from "./groups/login-options.ts";
import { QUERY_OPTIONS } from "./groups/query-options.ts";
import { START_OPTIONS } from "./groups/start-options.ts";
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
  ...BUDGET_OPTIONS,
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
  ...START_OPTIONS,
  maxAge: {
    flag: "--max-age <hours>",
    description: "exit with 5 if the data of an account are older, or if it has none",
    parse: numberOf(hours),
  },
  yes: {
    flag: "--yes",
    description: "your confirmation: retire and remove really do it, authorize takes an answer without state",
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
