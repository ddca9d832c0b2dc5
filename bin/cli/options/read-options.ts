// Reads the values of options from the command line and the environment.

import { Option } from "commander";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { OPTIONS, type OptionName, type OptionSpec, type OptionValue, type OptionValues } from "./options.ts";
import { refusePastedCredentials } from "./pasted-secret.ts";

/** Long name without dashes, `base-url`; and as environment variable, `BRAND_BASE_URL`. */
export const longName = (name: OptionName): string => /--([\w-]+)/.exec(OPTIONS[name].flag)?.[1] ?? "";
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

/** Option beats environment beats default. Throws `CONFIG_INVALID` naming the option or variable, what was expected and what came. */
function readOption<Name extends OptionName>(
  name: Name,
  given: GivenValue,
  environment: NodeJS.ProcessEnv,
): OptionValue<Name> {
  const spec: OptionSpec<unknown> = OPTIONS[name];
  const fromEnvironment = environment[variable(name)];
  const [source, value] =
    given !== undefined
      ? [`--${longName(name)}`, typeof given === "object" ? JSON.stringify(given) : String(given)]
      : fromEnvironment
        ? [variable(name), fromEnvironment]
        : ["", spec.fallback];
  if (value === undefined) return undefined as OptionValue<Name>;
  refusePastedCredentials(`${source}: the value`, value);
  try {
    return spec.parse(value) as OptionValue<Name>;
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    throw new SyncError("CONFIG_INVALID", `${source}: ${error.message}`, { cause: error });
  }
}

/** Whether the result is JSON; also known where another option is wrong. */
export function wantsJson(args: readonly string[], environment: NodeJS.ProcessEnv): boolean {
  if (args.includes("--json")) return true;
  try {
    return readOption("json", undefined, environment);
  } catch {
    return false;
  }
}

/** The values of a command's options, by name. Throws `CONFIG_INVALID` for the first that is wrong. */
export function readOptions<Name extends OptionName>(
  names: readonly Name[],
  given: GivenOptions,
  environment: NodeJS.ProcessEnv,
): OptionValues<Name> {
  const values = names.map((name) => [name, readOption(name, givenValue(name, given), environment)]);
  return Object.fromEntries(values) as OptionValues<Name>;
}

/** Whether the option or its variable names a value. */
export function isGiven(name: OptionName, given: GivenOptions, environment: NodeJS.ProcessEnv): boolean {
  return givenValue(name, given) !== undefined || Boolean(environment[variable(name)]);
}

/** Commander keeps `--no-pin` as the absence of a pin that is there by default. */
function givenValue(name: OptionName, given: GivenOptions): GivenValue {
  if (!/^no[A-Z]/.test(name)) return given[name];
  const absent = `${name.charAt(2).toLowerCase()}${name.slice(3)}`;
  return given[absent] === false ? true : undefined;
}
