// Where the value of an option comes from: the command line, its variable, the settings file, its default; and commands with
// their options, to be pasted into a POSIX shell as they are, in any folder.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { Option } from "commander";
import * as z from "zod";
import { advise, setting } from "../../../lambdas/job/errors/advice.ts";
import { shellWord, shownText } from "../../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { liftText } from "../../../lambdas/job/settings/lifted-column.ts";
import { parseSetting } from "../../../lambdas/job/settings/setting-problem.ts";
import { STANDARD_INPUT, secretIdOf } from "../../../lambdas/job/settings-file/places.ts";
import { checkedSettings, readSettingsFile } from "../../../lambdas/job/settings-file/read-settings.ts";
import { type FileSettings, fileSettingsSchema } from "../../../lambdas/job/settings-file/settings-schema.ts";
import { parseLiftedColumns } from "../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import {
  longName,
  OPTIONS,
  type OptionName,
  type OptionSpec,
  type OptionValues,
  SETTINGS_FILE,
  type SettingsFile,
  variableName,
} from "./options.ts";

/** A value from commander; several texts for a repeatable option. */
type GivenValue = string | boolean | readonly string[] | undefined;

/** The options of one start of a command: option beats environment beats settings file beats default. */
export class GivenOptions {
  /** The values by the long name of the option in camel case. */
  readonly #onCommandLine: Readonly<Record<string, GivenValue>>;
  readonly #environment: NodeJS.ProcessEnv;
  /** Where the paths of places start from, which become absolute. */
  readonly #cwd: string;
  readonly #file: SettingsFile | undefined;

  constructor(
    onCommandLine: Readonly<Record<string, GivenValue>>,
    environment: NodeJS.ProcessEnv,
    cwd: string,
    file?: SettingsFile,
  ) {
    this.#onCommandLine = onCommandLine;
    this.#environment = environment;
    this.#cwd = cwd;
    this.#file = file;
  }

  /** With the settings file that is named, or the one in the current directory. */
  withFile(open = openSettingsFile): GivenOptions {
    const file = open(this.configPath, this.#cwd);
    return new GivenOptions(this.#onCommandLine, this.#environment, this.#cwd, file);
  }

  /** The values that are right, without the defaults of the others. */
  readRight<Name extends OptionName>(names: readonly Name[]): Partial<OptionValues<Name>> {
    const right = names.flatMap((name) => {
      try {
        const { account, ...values } = this.read(name === "config" ? [name] : ["account", name], true);
        return Object.entries(name === "account" && this.has(name) ? { account } : values);
      } catch {
        return [];
      }
    });
    return Object.fromEntries(right) as Partial<OptionValues<Name>>;
  }

  ofAccount(account: string): GivenOptions {
    return new GivenOptions({ ...this.#onCommandLine, account }, this.#environment, this.#cwd, this.#file);
  }

  /** Whether the option or its variable names a value. */
  has(name: OptionName): boolean {
    return this.#text(name) !== undefined;
  }

  /** The settings file that is named. Throws `CONFIG_INVALID` where the text is no path. */
  get configPath(): string | undefined {
    const text = this.#text("config");
    return text && String(parseOption("config", text));
  }

  /**
   * The values by name. Throws `CONFIG_INVALID` for the first that is wrong.
   * @param ofAll the command works on all accounts at once if none is given
   */
  read<Name extends OptionName>(names: readonly Name[], ofAll = false): OptionValues<Name> {
    const file = this.#file;
    const isOfAll = ofAll && !this.has("account");
    const account = names.some((name) => name === "account")
      ? this.#value("account", () => (file && !isOfAll ? onlyAccount(file, names) : undefined))
      : undefined;
    const chosen = typeof account === "string" && !isOfAll ? account : undefined;
    const values = names.map((name) => {
      if (name === "config") return [name, file];
      if (name === "account") return [name, account];
      return [name, this.#value(name, () => file && fileValue(name, file, chosen))];
    });
    return absolute(Object.fromEntries(values) as OptionValues<Name>, join(this.#cwd, SETTINGS_FILE));
  }

  /**
   * The accounts that `--all` means; undefined where `--account` wins, because one of them is an option and the other a
   * variable. Throws `CONFIG_INVALID` if both are the one or the other, without a file, and if the credentials of all
   * accounts would come on standard input.
   */
  allAccounts(): readonly string[] | undefined {
    const isOption = (name: "all" | "account"): boolean => this.#onCommandLine[name] !== undefined;
    if (this.has("account")) {
      if (isOption("all") === isOption("account")) {
        throw new SyncError(
          "CONFIG_INVALID",
          "--all and --account (BRAND_ALL and BRAND_ACCOUNT) cannot be used together: leave one out.",
        );
      }
      if (isOption("account")) return undefined;
    }
    if (this.#value("credentials", () => undefined) === STANDARD_INPUT) {
      throw new SyncError(
        "CONFIG_INVALID",
        "--all cannot be used with --credentials -, because standard input has the credentials of one account. Name each account's credentials in the settings file.",
      );
    }
    if (this.#file !== undefined) return this.#file.accounts;
    throw new SyncError(
      "CONFIG_INVALID",
      `--all needs a settings file with the accounts, and there is no ${SETTINGS_FILE} in ${this.#cwd}. Write one, or name one with --config.`,
    );
  }

  #value(name: OptionName, inFile: () => unknown): unknown {
    const text = this.#text(name);
    if (text !== undefined) return parseOption(name, text);
    const { default: fallback }: OptionSpec = OPTIONS[name];
    return inFile() ?? fallback;
  }

  /** The text of the option or its variable; undefined if neither is given. */
  #text(name: OptionName): GivenText | undefined {
    const option = new Option(OPTIONS[name].flag);
    const given = this.#onCommandLine[option.attributeName()];
    // Commander keeps `--no-pin` as the absence of a pin that is there by default.
    const value = option.negate ? given === false || undefined : given;
    if (value !== undefined) {
      return [`--${longName(name)}`, typeof value === "object" ? JSON.stringify(value) : String(value)];
    }
    const variable = variableName(name);
    const fromEnvironment = this.#environment[variable];
    return fromEnvironment ? [variable, fromEnvironment] : undefined;
  }
}

/** The settings that may be paths. */
const PLACES: readonly string[] = ["warehouse", "credentials", "tokens"];

/** Throws `CONFIG_INVALID` for a file that is named and missing, and for any that is wrong. */
export function openSettingsFile(named: string | undefined, cwd: string): SettingsFile | undefined {
  const title = named ?? SETTINGS_FILE;
  const path = resolve(cwd, title);
  const given = readSettingsFile(path, title);
  if (given !== undefined)
    return settingsFile(path, title, checkedSettings(fileSettingsSchema, given, { title, keyPath: [] }));
  if (named === undefined) return undefined;
  throw new SyncError(
    "CONFIG_INVALID",
    `The settings file ${path} does not exist. Check --config and BRAND_CONFIG.`,
  );
}

/** With paths that start from the file. */
export function settingsFile(path: string, title: string, given: FileSettings): SettingsFile {
  const accounts = Object.fromEntries(
    Object.entries(given.accounts).map(([name, own]) => [name, absolute(own, path)]),
  );
  return { path, title, settings: { ...absolute(given, path), accounts }, accounts: Object.keys(accounts) };
}

/** The values with paths that start from the file. */
function absolute<Values extends object>(values: Values, file: string): Values {
  const places = Object.entries(values).flatMap(([key, place]) =>
    PLACES.includes(key) && typeof place === "string" ? [[key, placeBeside(file, place)]] : [],
  );
  return { ...values, ...Object.fromEntries(places) };
}

/** A path in a file starts from the file's folder; a place in AWS, and standard input (`-`), stay as they are. */
function placeBeside(file: string, text: string): string {
  return isS3(text) || secretIdOf(text) !== undefined || text === STANDARD_INPUT
    ? text
    : resolve(dirname(file), text);
}

/**
 * What a settings file says for an option; undefined where it says nothing. Throws `CONFIG_INVALID` where its accounts
 * differ and none is chosen.
 * @param account undefined for a command that works on all of them at once
 */
function fileValue(
  name: OptionName,
  { settings, accounts, title }: SettingsFile,
  account: string | undefined,
): unknown {
  const valueIn = (each: string): unknown =>
    new Map<string, unknown>(Object.entries({ ...settings, ...settings.accounts[each] })).get(name);
  if (account !== undefined) return valueIn(account);
  const [value, ...others] = new Set(accounts.map(valueIn));
  if (others.length === 0) return value;
  throw new SyncError(
    "CONFIG_INVALID",
    `${title}: the accounts ${accounts.join(", ")} differ in ${name}. Give --${longName(name)}.`,
  );
}

function onlyAccount({ title, accounts }: SettingsFile, names: readonly OptionName[]): string | undefined {
  const [only, ...others] = accounts;
  if (others.length === 0) return only;
  const orAll = names.includes("all") ? " With --all each has its turn." : "";
  throw new SyncError(
    "CONFIG_INVALID",
    `${title} has several accounts: ${accounts.join(", ")}. Give --account NAME, or set BRAND_ACCOUNT.${orAll}`,
  );
}

type GivenText = readonly [source: string, text: string];

/** Throws `CONFIG_INVALID` naming the option or variable, what was expected and what came. */
function parseOption(name: OptionName, [source, text]: GivenText): unknown {
  const { schema, as }: OptionSpec = OPTIONS[name];
  refusePastedCredentials(`${source}: the value`, text);
  try {
    return parseSetting(schema, READERS[as ?? "text"](text));
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    throw new SyncError("CONFIG_INVALID", `${source}: ${error.message}`, { cause: error });
  }
}

const SWITCH = z.stringbool({ truthy: ["true", "1", "yes"], falsy: ["false", "0", "no"], case: "sensitive" });

/** What a text is for the schema of its option. */
const READERS: Readonly<Record<NonNullable<OptionSpec["as"]> | "text", (text: string) => unknown>> = {
  text: (text) => text,
  switch: (text) => SWITCH.safeParse(text).data ?? text,
  number: (text) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text),
  words: (text) => text.split(",").map((each) => each.trim()),
  texts: (text) => jsonTexts(text, 'JSON Pointers, such as ["/date"]'),
  columns: (text) => parseLiftedColumns(jsonTexts(text, 'texts, such as ["brand=/brand/name"]')),
};

function jsonTexts(text: string, what: string): readonly string[] {
  try {
    const given: unknown = JSON.parse(text);
    if (Array.isArray(given) && given.every((each) => typeof each === "string")) return given;
  } catch {
    // Refused below.
  }
  throw new SyncError("CONFIG_INVALID", `expected a JSON array of ${what}, and got ${shownText(text)}`);
}

/** No other option or argument begins like this. Without a shell, the quote before it remains. */
const JSON_OBJECT = /^[\s'"[]*\{/;

/** Throws `CONFIG_INVALID` for text that looks like credentials, and never repeats it. `source` names the place. */
function refusePastedCredentials(source: string, text: string): void {
  if (!JSON_OBJECT.test(text)) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `${source} begins with "{", so it may be the credentials themselves; it is not repeated here.`,
    {
      next: advise`Write credentials to a file with mode 0600 and name that file with ${setting("credentials")}.`,
    },
  );
}

/** As above, for each option's value and each argument on the command line. */
export function refusePastedArguments(args: readonly string[]): void {
  for (const [index, arg] of args.entries()) {
    const [, option = args[index - 1], value = arg] = /^(--[\w-]+)=(.*)$/s.exec(arg) ?? [];
    const isOption = option !== undefined && /^--[\w-]+$/.test(option);
    refusePastedCredentials(isOption ? `${option}: the value` : "An argument", value);
  }
}

const COMMAND = "brand-events-sync";

/**
 * How this program is started where it runs. `file` is a URL of this program's own code: sources run in a clone, built
 * code where the package is installed.
 */
export function programName(file: string): string {
  if (file.endsWith(".ts")) return "npm run sync --";
  // Installed in a folder, such as that of an app or of npx, the command is there, and in PATH for one process at most.
  const modules = [...file.matchAll(/\/node_modules\//g)].map(({ index }) => file.slice(0, index));
  const here = modules.map((folder) => fileURLToPath(`${folder}/node_modules/.bin/${COMMAND}`));
  const command = here.find((path) => existsSync(path));
  return command === undefined ? COMMAND : shellWord(command);
}

/** Every command that is printed begins with this. */
export const PROGRAM_NAME: string = programName(import.meta.url);

/**
 * `words` come first: the command and its argument. Of the options, those follow whose values are not what the command
 * takes without them in another folder, where there may be another settings file.
 */
export function commandLineText<Name extends OptionName>(
  words: readonly string[],
  names: readonly Name[],
  values: Partial<OptionValues<Name>>,
): string {
  const given: Partial<OptionValues<OptionName>> = values;
  const options = names.flatMap((name) => optionWords(name, given));
  return [PROGRAM_NAME, ...[...words, ...options].map(shellWord)].join(" ");
}

/** Whether an account of a settings file has the value by the file, or has none: then the file is where to change it. */
export function isAsInFile(name: OptionName, values: Partial<OptionValues<OptionName>>): boolean {
  const { config, account } = values;
  if (config === undefined || (account !== undefined && !config.accounts.includes(account))) return false;
  if (optionWords(name, values).length === 0) return true;
  const { default: place }: OptionSpec = OPTIONS[name];
  return (
    typeof place === "string" && PLACES.includes(name) && values[name] === placeBeside(config.path, place)
  );
}

function optionWords(name: OptionName, values: Partial<OptionValues<OptionName>>): readonly string[] {
  const flag = `--${longName(name)}`;
  if (name === "config") return values.config === undefined ? [] : [flag, values.config.path];
  const value: unknown = values[name];
  if (value === undefined || isDeepStrictEqual(value, withoutOption(name, values))) return [];
  if (Array.isArray(value)) {
    return value.flatMap((one) => [flag, typeof one === "string" ? one : liftText(one)]);
  }
  return value === true ? [flag] : [flag, String(value)];
}

function withoutOption(name: OptionName, { config, account }: Partial<OptionValues<OptionName>>): unknown {
  if (name === "account") return config?.accounts.length === 1 ? config.accounts[0] : undefined;
  const { default: fallback }: OptionSpec = OPTIONS[name];
  const inFile = config && account !== undefined ? fileValue(name, config, account) : undefined;
  return inFile ?? fallback;
}
