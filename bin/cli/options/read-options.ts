// Reads the values of options from the command line and the environment.

import { join } from "node:path";
import { Option } from "commander";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { placeBeside } from "../../../lambdas/job/settings-file/places.ts";
import { fileValue } from "./file-value.ts";
import { longName, OPTIONS, type OptionName, type OptionSpec, type OptionValues } from "./options.ts";
import { refusePastedCredentials } from "./pasted-secret.ts";
import { SETTINGS_FILE, type SettingsFile } from "./settings-file.ts";

/** `BRAND_BASE_URL`. */
const variable = (name: OptionName): string => `BRAND_${longName(name).replaceAll("-", "_").toUpperCase()}`;

/** The option as `--help` shows it. */
export function helpOption(name: OptionName): Option {
  const spec: OptionSpec<unknown> = OPTIONS[name];
  const shown = spec.fallback === undefined || spec.fallback === "false" ? "" : `, default ${spec.fallback}`;
  const option = new Option(spec.flag, `${spec.description} (${variable(name)}${shown})`);
  if (spec.isRepeatable) option.argParser((text, before: readonly string[] = []) => [...before, text]);
  return option;
}

/** A value from commander; several texts for a repeatable option. */
type GivenValue = string | boolean | readonly string[] | undefined;
export type GivenOptions = Readonly<Record<string, GivenValue>>;

/**
 * The value of an option or its variable; undefined if neither is given. Throws `CONFIG_INVALID` naming the option or
 * variable, what was expected and what came.
 */
function givenText(
  name: OptionName,
  given: GivenValue,
  environment: NodeJS.ProcessEnv,
): readonly [source: string, text: string] | undefined {
  if (given !== undefined) {
    return [`--${longName(name)}`, typeof given === "object" ? JSON.stringify(given) : String(given)];
  }
  const fromEnvironment = environment[variable(name)];
  return fromEnvironment ? [variable(name), fromEnvironment] : undefined;
}

function parseOption(name: OptionName, [source, text]: readonly [source: string, text: string]): unknown {
  const spec: OptionSpec<unknown> = OPTIONS[name];
  refusePastedCredentials(`${source}: the value`, text);
  try {
    return spec.parse(text);
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    throw new SyncError("CONFIG_INVALID", `${source}: ${error.message}`, { cause: error });
  }
}

/** Whether the result is JSON; also known where another option is wrong. */
export function wantsJson(args: readonly string[], environment: NodeJS.ProcessEnv): boolean {
  if (args.includes("--json")) return true;
  try {
    return readOptions(["json"], {}, environment).json;
  } catch {
    return false;
  }
}

/** The settings file that is named. Throws `CONFIG_INVALID` where the text is no path. */
export function namedConfig(given: GivenOptions, environment: NodeJS.ProcessEnv): string | undefined {
  const text = givenText("config", given["config"], environment);
  return text && String(parseOption("config", text));
}

/**
 * The values of a command's options, by name: option beats environment beats settings file beats default. Throws
 * `CONFIG_INVALID` for the first that is wrong.
 * @param ofAll the command works on all accounts at once if none is given
 * @param cwd where the paths of places start from, which become absolute; without it they stay as they are
 */
export function readOptions<Name extends OptionName>(
  names: readonly Name[],
  given: GivenOptions,
  environment: NodeJS.ProcessEnv,
  file?: SettingsFile,
  { ofAll = false, cwd }: { readonly ofAll?: boolean | undefined; readonly cwd?: string } = {},
): OptionValues<Name> {
  const read = (name: OptionName, inFile: () => unknown): unknown => {
    const text = givenText(name, givenValue(name, given), environment);
    if (text !== undefined) return parseOption(name, text);
    const { fallback, parse }: OptionSpec<unknown> = OPTIONS[name];
    return inFile() ?? (fallback === undefined ? undefined : parse(fallback));
  };
  const fromAnywhere = (name: OptionName, value: unknown): unknown =>
    PLACES.has(name) && cwd !== undefined && typeof value === "string"
      ? placeBeside(join(cwd, SETTINGS_FILE), value)
      : value;
  const isOfAll = ofAll && !isGiven("account", given, environment);
  const hasAccount = names.some((name) => name === "account");
  const account = hasAccount
    ? read("account", () => (file && !isOfAll ? onlyAccount(file, names) : undefined))
    : undefined;
  const chosen = typeof account === "string" && !isOfAll ? account : undefined;
  const values = names.map((name) => {
    if (name === "config") return [name, file];
    if (name === "account") return [name, account];
    return [
      name,
      fromAnywhere(
        name,
        read(name, () => file && fileValue(name, file, chosen)),
      ),
    ];
  });
  return Object.fromEntries(values) as OptionValues<Name>;
}

const PLACES: ReadonlySet<OptionName> = new Set(["warehouse", "credentials", "tokens"]);

/** Whether the option or its variable names a value. */
export function isGiven(name: OptionName, given: GivenOptions, environment: NodeJS.ProcessEnv): boolean {
  return givenValue(name, given) !== undefined || Boolean(environment[variable(name)]);
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

/** Commander keeps `--no-pin` as the absence of a pin that is there by default. */
function givenValue(name: OptionName, given: GivenOptions): GivenValue {
  if (!/^no[A-Z]/.test(name)) return given[name];
  const absent = `${name.charAt(2).toLowerCase()}${name.slice(3)}`;
  return given[absent] === false ? true : undefined;
}
