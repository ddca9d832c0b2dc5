// Credentials in the wrong place. The message names the place and never repeats the text.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";

/** No other option or argument begins like this. Without a shell, the quote before it remains. */
const JSON_OBJECT = /^[\s'"[]*\{/;

/** Throws `CONFIG_INVALID` for text that looks like credentials. `source` names the place. */
export function refusePastedCredentials(source: string, text: string): void {
  if (!JSON_OBJECT.test(text)) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `${source} begins with "{", so it may be the credentials themselves; it is not repeated here. Write credentials to a file with mode 0600 and name that file with --credentials.`,
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
