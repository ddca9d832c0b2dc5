// What a command gets from the process that it runs in.

import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import type { Proxies } from "../../../lambdas/job/network/proxies.ts";
import type { DirectoryStore } from "../../../lambdas/job/storage/directory/directory-store.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import type { Input } from "../authorize/read-answer.ts";
import type { OpenBrowser } from "../authorize/system-browser.ts";
import type { GivenSecrets } from "../init/questions.ts";
import type { OptionName, OptionValues } from "../options/options.ts";
import type { Output, ResultOutput } from "../output/output.ts";

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
  readonly secrets: GivenSecrets;
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
