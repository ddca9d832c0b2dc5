// A command with its options, to be pasted into a POSIX shell as it is, in any folder.

import { isDeepStrictEqual } from "node:util";
import { shellWord } from "../../../lambdas/job/errors/shown-text.ts";
import { fileValue } from "./file-value.ts";
import { longName, OPTIONS, type OptionName, type OptionSpec, type OptionValues } from "./options.ts";
import { PROGRAM_NAME } from "./program-name.ts";

/**
 * `words` come first: the command and its argument. Of the options, those follow whose values are not what the command
 * takes without them in another folder, where there may be another settings file.
 */
export function commandLineText<Name extends OptionName>(
  words: readonly string[],
  names: readonly Name[],
  values: OptionValues<Name>,
): string {
  const given: Partial<OptionValues<OptionName>> = values;
  const options = names.flatMap((name) => optionWords(name, given));
  return [PROGRAM_NAME, ...[...words, ...options].map(shellWord)].join(" ");
}

function optionWords(name: OptionName, values: Partial<OptionValues<OptionName>>): readonly string[] {
  const flag = `--${longName(name)}`;
  if (name === "config") return values.config === undefined ? [] : [flag, values.config.path];
  const value: unknown = values[name];
  if (value === undefined || isDeepStrictEqual(value, withoutOption(name, values))) return [];
  if (Array.isArray(value)) {
    return value.flatMap((one) => [flag, typeof one === "string" ? one : `${one.name}=${one.pointer}`]);
  }
  return value === true ? [flag] : [flag, String(value)];
}

function withoutOption(name: OptionName, { config, account }: Partial<OptionValues<OptionName>>): unknown {
  if (name === "account") return config?.accounts.length === 1 ? config.accounts[0] : undefined;
  const { fallback, parse }: OptionSpec<unknown> = OPTIONS[name];
  const inFile = config && account !== undefined ? fileValue(name, config, account) : undefined;
  return inFile ?? (fallback === undefined ? undefined : parse(fallback));
}
