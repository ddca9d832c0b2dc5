// SQL that begins with a comment begins like an option: `-- Latest events`.

import { longName, OPTIONS, type OptionName } from "./options.ts";

const LONG_NAMES: ReadonlySet<string> = new Set((Object.keys(OPTIONS) as OptionName[]).map(longName));

/** `arg` so that it is taken for an argument if it begins with a comment: a blank at its beginning changes no SQL. */
export function asArgumentIfSql(arg: string): string {
  return beginsWithComment(arg) ? ` ${arg}` : arg;
}

/** No option has a space behind its dashes. A comment without one ends with its line, and a statement follows. */
function beginsWithComment(arg: string): boolean {
  if (!arg.startsWith("--")) return false;
  const [, name = ""] = /^--([\w-]*)=/.exec(arg) ?? [];
  return !LONG_NAMES.has(name) && (/^--\s/.test(arg) || /[\r\n]/.test(arg));
}
