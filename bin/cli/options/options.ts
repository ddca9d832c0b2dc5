// The command line's options: the settings that have one, and what holds for one start of a command only, so that no
// settings file has it.

import * as z from "zod";
import { DEFAULT_SAMPLE, MAX_SAMPLE } from "../../../lambdas/job/commands/discover.ts";
import { METHODS } from "../../../lambdas/job/credentials/credentials.ts";
import { isLoopback } from "../../../lambdas/job/network/proxies.ts";
import { LOG_LEVELS } from "../../../lambdas/job/runtime/logger.ts";
import { accountName, eventLimit, trueOrFalse } from "../../../lambdas/job/settings/values.ts";
import { filePlace } from "../../../lambdas/job/settings-file/places.ts";
import { ACCOUNT_SETTINGS, type Setting } from "../../../lambdas/job/settings-file/settings.ts";
import { type FileSettings, SHARED_SETTINGS } from "../../../lambdas/job/settings-file/settings-schema.ts";

/** The file in the current directory, where `--config` names none. */
export const SETTINGS_FILE = "brand-events.json";

export interface OptionSpec extends Pick<Setting, "schema" | "default"> {
  /** What its text is read as; default: as it stands. */
  readonly as?: Setting["as"] | "switch";
  /** The flag in the syntax of commander. */
  readonly flag: string;
  /** The help as for a setting, or by command where it means something else for each. */
  readonly help: string | Readonly<Record<string, string>>;
}

export const RESULT_FORMATS = ["table", "vertical", "csv", "tsv", "json", "ndjson", "parquet"] as const;
/** Parquet is the only one that is no text. */
export type TextFormat = Exclude<(typeof RESULT_FORMATS)[number], "parquet">;

const HOURS = "expected a number of hours above 0";
const INSTANT = "expected a date or an instant, such as 2026-11-21 or 2026-11-21T06:00:00Z";
/** No message repeats it: it may be a password in the wrong place. */
const filledText = z
  .string()
  .refine((value) => value.trim() !== "", "expected a text that is not empty, and got nothing");

const START_OPTIONS = {
  config: {
    flag: "--config <file>",
    schema: filePlace,
    help: `Settings file. Without it \`./${SETTINGS_FILE}\`, if it is there`,
  },
  account: {
    flag: "--account <name>",
    schema: accountName,
    default: "default",
    help: "Your name for the account: 1 to 40 characters of `a-z`, `0-9`, `_`, `-`. Without it the only account of the settings file; `status` and `report` then show all accounts",
  },
  dryRun: flag(
    "--dry-run",
    "Fetch and check everything, name what differs from what readers see, publish nothing",
  ),
  limit: {
    flag: "--limit <n>",
    schema: eventLimit,
    as: "number",
    help: {
      run: "Fetch only this many events, the first by uuid; needs `--dry-run`",
      discover: `Read this many events, ${MAX_SAMPLE} at most; without it ${DEFAULT_SAMPLE}`,
      diff: "Show this many changes; without it 100. All are counted",
    },
  },
  sql: flag(
    "--sql",
    "Print the view `events_typed` with the columns that are there and the suggested ones, in the SQL of DuckDB, or of Athena for a warehouse in S3",
  ),
  fresh: flag("--fresh", "Start a new run instead of resuming an unfinished one"),
  overDamaged: flag(
    "--over-damaged",
    "Restart: publish although files that readers see are damaged; all events count as added",
  ),
  deep: flag(
    "--deep",
    "Compare every file that is kept with its checksum, not only those of what readers see; nothing more is compared with the service",
  ),
  force: flag("--force", "Accept a snapshot even if it is older than the one that readers see"),
  noPin: flag("--no-pin", "Do not pin: the next run may replace the snapshot"),
  maxAge: {
    flag: "--max-age <hours>",
    schema: z.number(HOURS).positive(HOURS),
    as: "number",
    help: "Exit with 5 if the data of an account are older than this many hours or of the future, or if it has published nothing",
  },
  since: {
    flag: "--since <instant>",
    schema: z.union([z.iso.date(), z.iso.datetime({ offset: true })], INSTANT),
    help: "Compare what readers see now with what they saw then: a date, which is 00:00 UTC, or an instant such as `2026-11-21T06:00:00Z`",
  },
  yes: flag("--yes", {
    retire: "Really do it; without it, only say what would be done",
    remove: "Really do it; without it, only say what would be done",
  }),
  method: {
    flag: "--method <method>",
    schema: z.enum(METHODS, "expected session, basic or oauth"),
    help: "How the account logs in: `session`, `basic` or `oauth`",
  },
  email: {
    flag: "--email <address>",
    schema: filledText,
    help: "The account's e-mail address. The password comes from `BRAND_PASSWORD`, from standard input, or from you",
  },
  clientId: {
    flag: "--client-id <id>",
    schema: filledText,
    help: "`client_id` of the method `oauth`. The secret comes from `BRAND_CLIENT_SECRET`, from standard input, or from you",
  },
  redirectUri: {
    flag: "--redirect-uri <url>",
    schema: z.string().superRefine((value, context) => {
      const message = redirectProblem(value);
      if (message !== undefined) context.addIssue({ code: "custom", message, params: { isShown: false } });
    }),
    default: "http://127.0.0.1:8912/callback",
    help: "Where the identity provider sends the browser with its answer, exactly as the operator has registered it. An address of this computer with `http:`, or with `--paste` any with `https:`",
  },
  noBrowser: flag("--no-browser", "Open no browser, only print the address to open"),
  paste: flag(
    "--paste",
    "Read the address that the browser ended at from standard input, instead of listening",
  ),
  file: {
    flag: "-f, --file <file>",
    schema: filePlace,
    help: "Read the SQL from this file, or with `-` from standard input",
  },
  values: flag(
    "--values",
    "Show what each changed field held before and holds after, as JSON; for a program a row for each field, and of an added or removed event the whole event",
  ),
  format: {
    flag: "--format <format>",
    schema: oneOf(RESULT_FORMATS),
    help: {
      query:
        "`table`, `vertical`, `csv`, `tsv`, `json`, `ndjson` or `parquet`; without it the ending of `--out` decides, else `table`",
      diff: "`table`, `vertical`, `csv`, `tsv`, `json` or `ndjson`; without it `table`",
    },
  },
  out: {
    flag: "--out <file>",
    schema: filePlace,
    help: {
      report: "Write the page to this file, and replace one that is there; without it `report.html`",
      query: "Write the result to this file, and replace one that is there; without it to standard output",
    },
  },
  full: flag("--full", "Cut no table to the width of the terminal"),
  all: flag("--all", "Do this for each account of the settings file, one after the other"),
  logLevel: {
    flag: "--log-level <level>",
    schema: oneOf(LOG_LEVELS),
    default: "info",
    help: "What to log: `error`, `warn`, `info`, or `debug` (each retry as well)",
  },
  json: flag("--json", "Print the result as JSON in the last line of standard output"),
} as const satisfies Record<string, OptionSpec>;

type Settings = typeof ACCOUNT_SETTINGS & typeof SHARED_SETTINGS;
type SettingOptions = {
  readonly [Key in keyof Settings as Settings[Key] extends { readonly flag: string }
    ? Key
    : never]: Settings[Key];
};

const ofSettings = Object.fromEntries(
  Object.entries<Setting>({ ...ACCOUNT_SETTINGS, ...SHARED_SETTINGS }).filter(
    ([, { flag: isOption }]) => isOption,
  ),
) as unknown as SettingOptions;

/** Every option, by its key in a settings file, or else by its own name. */
export const OPTIONS = { ...ofSettings, ...START_OPTIONS };

export type OptionName = keyof typeof OPTIONS;

export interface SettingsFile {
  /** Absolute. */
  readonly path: string;
  /** The name of the option or the variable, for messages. */
  readonly title: string;
  readonly settings: FileSettings;
  readonly accounts: readonly string[];
}

/** The value of an option; undefined if it is not given and has no default. Of `--config` it is the file as it is read. */
type OptionValue<Name extends OptionName> =
  | (Name extends "config" ? SettingsFile : z.output<(typeof OPTIONS)[Name]["schema"]>)
  | ((typeof OPTIONS)[Name] extends { readonly default: unknown } ? never : undefined);

export type OptionValues<Name extends OptionName> = { readonly [Each in Name]: OptionValue<Each> };

/** The long name of an option without dashes: `base-url`. */
export const longName = (name: OptionName): string => /--([\w-]+)/.exec(OPTIONS[name].flag)?.[1] ?? "";

/** `BRAND_BASE_URL`. */
export const variableName = (name: OptionName): string =>
  `BRAND_${longName(name).replaceAll("-", "_").toUpperCase()}`;

/** As `--help` and the page of settings show it; undefined if there is none. */
export function defaultText(name: OptionName): string | undefined {
  const { default: fallback }: OptionSpec = OPTIONS[name];
  const shown = String(fallback ?? "");
  return shown === "" ? undefined : shown;
}

function flag<Help extends OptionSpec["help"]>(name: string, help: Help) {
  return { flag: name, schema: trueOrFalse, as: "switch", default: false, help } as const;
}

/** `expected error, warn, info or debug`. */
function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, `expected ${words.slice(0, -1).join(", ")} or ${words.at(-1)}`);
}

/** The text is kept as it came, because providers compare it as text. */
function redirectProblem(value: string): string | undefined {
  const url = URL.parse(value);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return "expected an absolute URL such as http://127.0.0.1:8912/callback";
  }
  if (url.username !== "" || url.password !== "") return "expected a URL without a user name and password";
  if (url.search !== "" || url.hash !== "") return "expected a URL without a query or a fragment";
  if (url.port === "0") return "expected a URL with a port from 1";
  if (url.protocol === "https:" || isLoopback(url.hostname)) return undefined;
  return "expected https:, because http: sends the code in clear text and is accepted for loopback hosts only";
}

export const WAREHOUSE_OPTIONS = ["config", "warehouse", "database"] as const;

export const PLACE_OPTIONS = ["account", ...WAREHOUSE_OPTIONS] as const;

export const AUTHORIZE_OPTIONS = ["config", "account", "authUrl", "credentials", "tokens"] as const;

/** The options of every command that sends requests to the service. */
export const SERVICE_OPTIONS = [...PLACE_OPTIONS, ...optionsFor("service"), "logLevel", "json"] as const;

/** The options that only a run takes. */
export const RUN_OPTIONS = optionsFor("run");

export const NOTIFY_OPTIONS = optionsFor("notify");

type UsedFor<Use> = {
  readonly [Key in keyof SettingOptions]: SettingOptions[Key] extends { readonly use: Use } ? Key : never;
}[keyof SettingOptions];

function optionsFor<Use extends Setting["use"]>(use: Use): readonly UsedFor<Use>[] {
  const used = Object.entries<Setting>(ofSettings).filter(([, setting]) => setting.use === use);
  return used.map(([name]) => name as UsedFor<Use>);
}
