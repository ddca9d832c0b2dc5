// What a command of the command line is: its options, its help, and its work.

import type { OptionName, OptionValues } from "../options/options.ts";
import type { CommandContext } from "../wiring/command-context.ts";

export interface CommandSpec<Name extends OptionName> {
  readonly name: string;
  readonly summary: string;
  /** Arguments without a dash, as `--help` shows them: `<sql>`. */
  readonly argument?: {
    readonly name: string;
    readonly description: string;
    readonly isOptional?: true;
  };
  /** One more, which may be left out. */
  readonly secondArgument?: { readonly name: string; readonly description: string };
  readonly options: readonly Name[];
  /** Makes or extends the settings file itself, so it is not read before. */
  readonly makesConfig?: true;
  /** Works on all accounts at once if none is given. */
  readonly ofAll?: true;
  /** Options more, which may differ from account to account: `context.valuesFor` reads them. */
  readonly ofEach?: readonly OptionName[];
  /** What follows the name of the program. */
  readonly example: string;
  /** Does the work and returns the exit code. Throws `SyncError` for what a person can fix. */
  readonly execute: (
    values: OptionValues<Name>,
    context: CommandContext,
    argument: string,
    secondArgument?: string,
  ) => Promise<number>;
  /** The line of JSON for a failure before the work began, where `--json` promises one. */
  readonly failureJson?: (code: string | null, message: string) => object;
}
