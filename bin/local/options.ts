// The command line's options: name, environment variable, default, and what their text must be.

import { Option } from "commander";
import { SyncError } from "../../lambdas/errors/sync-error.ts";
import type { Limit } from "../../lambdas/run/run-host.ts";
import { parseBaseUrl } from "../../lambdas/service/base-url.ts";
import { parsePointer } from "../../lambdas/snapshot/json-pointer.ts";

interface OptionSpec<Value> {
  /** As commander takes it; without a placeholder it is a switch. */
  readonly flag: string;
  readonly description: string;
  /** Text that is used where neither option nor environment variable is given. */
  readonly fallback?: string;
  readonly parse: (text: string) => Value;
}

const text = (value: string): string => value;
const switchValue = (value: string): boolean => {
  if (["true", "1", "yes"].includes(value)) return true;
  if (["false", "0", "no"].includes(value)) return false;
  throw expected("true or false");
};
const accountName = (value: string): string => {
  if (/^[a-z0-9][a-z0-9_-]{0,39}$/.test(value)) return value;
  throw expected("1 to 40 of a-z, 0-9, _ and -, beginning with a letter or digit");
};
const wholeNumber =
  (least: number, most: number) =>
  (value: string): number => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw expected(`a whole number from ${least} to ${most}`);
  };
const percent = (value: string): number => {
  const number = Number(value);
  if (/^\d+(\.\d+)?$/.test(value) && number <= 100) return number;
  throw expected("a percentage from 0 to 100");
};
const limit = (value: string): Limit => (value === "unlimited" ? value : wholeNumber(1, 1e12)(value));
const listedFilter = (value: string): "true" | "false" | "any" => {
  if (value === "true" || value === "false" || value === "any") return value;
  throw expected("true, false or any");
};
const pointer = (value: string): string => {
  parsePointer(value);
  return value;
};

/** Every option, by the name its value has in the program. */
export const OPTIONS = {
  baseUrl: {
    flag: "--base-url <url>",
    description: "address of the service",
    parse: (value: string) => parseBaseUrl(value).href,
  },
  account: { flag: "--account <name>", description: "account", fallback: "default", parse: accountName },
  credentials: {
    flag: "--credentials <file>",
    description: "JSON file with the account's credentials",
    fallback: "./credentials.json",
    parse: text,
  },
  warehouse: {
    flag: "--warehouse <dir>",
    description: "directory that holds the snapshots",
    fallback: "./warehouse",
    parse: text,
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
  dryRun: {
    flag: "--dry-run",
    description: "fetch and check everything, publish nothing",
    fallback: "false",
    parse: switchValue,
  },
  limit: {
    flag: "--limit <n>",
    description: "with --dry-run: fetch only this many events",
    parse: wholeNumber(1, 1e9),
  },
  fresh: {
    flag: "--fresh",
    description: "begin anew instead of going on with an unfinished run",
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
type OptionValue<Name extends OptionName> =
  | ReturnType<(typeof OPTIONS)[Name]["parse"]>
  | ((typeof OPTIONS)[Name] extends { readonly fallback: string } ? never : undefined);

export type OptionValues<Name extends OptionName> = { readonly [Each in Name]: OptionValue<Each> };

/** Long name without dashes, `base-url`; and as environment variable, `BRAND_BASE_URL`. */
const longName = (name: OptionName): string => (OPTIONS[name].flag.split(" ")[0] ?? "").slice(2);
const variable = (name: OptionName): string => `BRAND_${longName(name).replaceAll("-", "_").toUpperCase()}`;

/** The option as `--help` shows it. */
export function helpOption(name: OptionName): Option {
  const spec: OptionSpec<unknown> = OPTIONS[name];
  const shown = spec.fallback === undefined || spec.fallback === "false" ? "" : `, default ${spec.fallback}`;
  return new Option(spec.flag, `${spec.description} (${variable(name)}${shown})`);
}

/** Option beats environment beats default. Throws `CONFIG_INVALID` naming the option or variable, what was expected and what came. */
function readOption<Name extends OptionName>(
  name: Name,
  given: string | boolean | undefined,
  environment: NodeJS.ProcessEnv,
): OptionValue<Name> {
  const spec: OptionSpec<unknown> = OPTIONS[name];
  const fromEnvironment = environment[variable(name)];
  const [source, value] =
    given !== undefined
      ? [`--${longName(name)}`, String(given)]
      : fromEnvironment
        ? [variable(name), fromEnvironment]
        : ["", spec.fallback];
  if (value === undefined) return undefined as OptionValue<Name>;
  try {
    return spec.parse(value) as OptionValue<Name>;
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    throw new SyncError("CONFIG_INVALID", `${source}: ${error.message}`, { cause: error });
  }
}

/** The values of a command's options, by name. Throws `CONFIG_INVALID` for the first that is wrong. */
export function readOptions<Name extends OptionName>(
  names: readonly Name[],
  given: Readonly<Record<string, string | boolean | undefined>>,
  environment: NodeJS.ProcessEnv,
): OptionValues<Name> {
  const values = names.map((name) => [name, readOption(name, given[name], environment)]);
  return Object.fromEntries(values) as OptionValues<Name>;
}

function expected(what: string): SyncError {
  return new SyncError("CONFIG_INVALID", `expected ${what}`);
}
