// Where a settings file says what a message names as an option, the message names the key and the file: what is typed holds
// for one start, and what is in the file for every day.

import { OPTIONS, type OptionName, type OptionSpec, type OptionValues } from "../options/options.ts";
import { isAsInFile, PROGRAM_NAME } from "../options/read-options.ts";

/** The values of a start, as far as they are known. */
export type KnownValues = Partial<OptionValues<OptionName>>;

/** The options that settings have, by the words that follow their dashes. */
const SETTINGS: ReadonlyMap<string, OptionName> = new Map(
  Object.entries<OptionSpec & { readonly where?: string }>(OPTIONS).flatMap(([name, { where, flag }]) =>
    where === undefined ? [] : [[/--([\w-]+)/.exec(flag)?.[1] ?? "", name as OptionName]],
  ),
);

/** A command to be pasted stays as it is: it ends with its line, or with the quote around it. */
const COMMAND = String.raw`\`[^\`]*\`|${PROGRAM_NAME.replaceAll(/[^\w\s-]/g, "\\$&")}[^\n\`]*`;
/** What messages give an option: a number, a pointer, the query of a page, or a word in quotes. */
const VALUE = String.raw`(?<value> (?:'[^'\n]*'|/[\w/~*-]*|\d+(?:\.\d+)?(?![\w%])|[\w[\]]+=\{[^}\s]*\}(?:&[\w[\]=]+)*))?`;
/** How messages name the setting in a file, or in AWS, beside the option. */
const KEY = String.raw`(?: \((?:\w+(?: in [^)]*)?|in AWS: [^)]*)\)|; \w+ in AWS)?`;
const BEFORE = String.raw`(?:"\w+": \S+ in brand-events\.json or cdk\.json, )?`;
const NAMED = new RegExp(`(?<command>${COMMAND})|${BEFORE}--(?<option>[a-z][a-z-]*)\\b${VALUE}${KEY}`, "g");

/** Only the first of several keys names the file. */
export function withSettings(text: string, values: KnownValues): string {
  const { config } = values;
  if (config === undefined) return text;
  let place = ` in ${config.title}`;
  return text.replaceAll(NAMED, (all, ...rest) => {
    const { option = "", value }: Readonly<Record<string, string | undefined>> = rest.at(-1);
    const name = SETTINGS.get(option);
    if (name === undefined || !isAsInFile(name, values)) return all;
    const { as }: OptionSpec = OPTIONS[name];
    const isList = as === "texts" || as === "columns";
    if (isList && (value !== undefined || all.endsWith(`--${option}`))) return all;
    const shown = value === undefined ? "" : `: ${jsonOf(value.trim(), as)}`;
    const key = `${JSON.stringify(name)}${shown}${place}`;
    place = "";
    return key;
  });
}

function jsonOf(word: string, as: OptionSpec["as"]): string {
  const text = /^'(.*)'$/.exec(word)?.[1] ?? word;
  return as === "number" ? text : JSON.stringify(text);
}
