// A secret in the wrong place: text that may be one is named by where it stands, and never repeated.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";

/** No option or argument begins so but credentials; a quote before it stays where no shell takes it away. */
const JSON_OBJECT = /^[\s'"[]*\{/;

/** Throws `CONFIG_INVALID` for what looks like the credentials themselves. `source` names the place. */
export function refusePastedCredentials(source: string, text: string): void {
  if (!JSON_OBJECT.test(text)) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `${source} begins with "{", so it may be the credentials themselves; it is not repeated here. Write credentials to a file with mode 0600 and name that file with --credentials.`,
  );
}

/** As above, for what stands on the command line: an option's value, an argument, or something misplaced. */
export function refusePastedArguments(args: readonly string[]): void {
  for (const [index, arg] of args.entries()) {
    const [, option = args[index - 1], value = arg] = /^(--[\w-]+)=(.*)$/s.exec(arg) ?? [];
    const isOption = option !== undefined && /^--[\w-]+$/.test(option);
    refusePastedCredentials(isOption ? `${option}: the value` : "An argument", value);
  }
}
