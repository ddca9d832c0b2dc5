// A command with its options, to be pasted into a POSIX shell as it is.

import { shellWord } from "../../../lambdas/job/errors/shell-word.ts";
import { OPTIONS, type OptionName, type OptionSpec, type OptionValues } from "./options.ts";
import { PROGRAM_NAME } from "./program-name.ts";
import { longName } from "./read-options.ts";

/** `words` come first: the command and its argument. Of the options, those whose values are no defaults follow. */
export function commandLineText<Name extends OptionName>(
  words: readonly string[],
  names: readonly Name[],
  values: OptionValues<Name>,
): string {
  const options = names.flatMap((name) => optionWords(name, values[name]));
  return [PROGRAM_NAME, ...[...words, ...options].map(shellWord)].join(" ");
}

function optionWords(name: OptionName, value: unknown): readonly string[] {
  const spec: OptionSpec<unknown> = OPTIONS[name];
  const flag = `--${longName(name)}`;
  if (value === undefined) return [];
  if (spec.fallback !== undefined && spec.parse(spec.fallback) === value) return [];
  if (Array.isArray(value)) return value.flatMap((one) => [flag, `${one.name}=${one.pointer}`]);
  return value === true ? [flag] : [flag, String(value)];
}
