// A command with its options, to be pasted into a POSIX shell as it is, in any folder.

import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { shellWord } from "../../../lambdas/job/errors/shown-text.ts";
import { liftText } from "../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { longName, OPTIONS, type OptionName, type OptionSpec, type OptionValues } from "./options.ts";
import { fileValue } from "./read-options.ts";

const COMMAND = "brand-events-sync";

/**
 * How this program is started where it runs. `file` is a URL of this program's own code: sources run in a clone, built
 * code where the package is installed.
 */
export function programName(file: string): string {
  if (file.endsWith(".ts")) return "npm run sync --";
  // npx installs into a folder of its own, and puts the command into PATH for one process only.
  const npx = /^.*\/_npx\/[^/]+\/node_modules\//.exec(file)?.[0];
  return npx === undefined ? COMMAND : shellWord(fileURLToPath(`${npx}.bin/${COMMAND}`));
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
