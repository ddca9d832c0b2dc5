// What a command of the command line is, its options, its help and its work, and what it works with.

import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import type { Proxies } from "../../../lambdas/job/network/proxies.ts";
import type { DirectoryStore } from "../../../lambdas/job/storage/directory/directory-store.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import type { Input } from "../authorize/read-answer.ts";
import type { OpenBrowser } from "../authorize/system-browser.ts";
import type { OptionName, OptionValues } from "../options/options.ts";
import type { Output, ResultOutput } from "../output/terminal.ts";

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

/** What the process gives. */
export interface ProcessContext extends Output {
  /** Aborts when a person or the system stops the program. */
  readonly signal: AbortSignal;
  /** The directory that relative paths start from. */
  readonly cwd: string;
  /** Standard input, for what reads it. */
  readonly stdin: () => Input;
  readonly openBrowser: OpenBrowser;
}

export interface CommandContext extends ProcessContext, ResultOutput {
  readonly proxies: Proxies;
  /** The settings file that is named; undefined for the one in the current directory. */
  readonly configPath: string | undefined;
  /** What only the environment may give: an option would stand in the list of processes. */
  readonly secrets: { readonly password: string | undefined; readonly clientSecret: string | undefined };
  /** Whether a person gave this option, so that its value is no default. */
  readonly isGiven: (name: OptionName) => boolean;
  /** The values that hold for one account, for a command that works on several. */
  readonly valuesFor: <Name extends OptionName>(
    names: readonly Name[],
    account: string,
  ) => OptionValues<Name>;
}

/** What commands need of a warehouse, wherever it is. */
export interface Warehouse {
  readonly store: Store;
  readonly catalog: Catalog;
  /** The store, where runs delete old staged files themselves; in a bucket a lifecycle rule does. */
  readonly directory?: DirectoryStore;
}
