// What a command of the command line is, its options, its help and its work, and what it works with.

import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import type { Proxies } from "../../../lambdas/job/network/proxies.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import type { DirectoryStore } from "../../../lambdas/job/storage/directory/directory-store.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import type { OpenBrowser } from "../authorize/receive-answer.ts";
import type { OptionName, OptionValues } from "../options/options.ts";
import type { GivenOptions } from "../options/read-options.ts";
import type { ResultOutput } from "../output/run-report.ts";
import type { Input, Output } from "../output/terminal.ts";

interface CommandSpec<Name extends OptionName> {
  readonly name: string;
  /** The heading in `--help`. */
  readonly group: "Set up" | "Every day" | "Decide" | "Repair";
  readonly summary: string;
  /** Arguments without a dash, as `--help` shows them: `<sql>`, or `[sql]` where it may be left out. */
  readonly arguments?: readonly (readonly [name: string, description: string])[];
  readonly options: readonly Name[];
  /** Makes or extends the settings file itself, so it is not read before. */
  readonly makesConfig?: true;
  /** Works on all accounts at once if none is given. */
  readonly ofAll?: true;
  /** Options more, which may differ from account to account: `context.given` reads them. */
  readonly ofEach?: readonly OptionName[];
  /** What follows the name of the program. */
  readonly example: string;
  /** Does the work and returns the exit code. Throws `SyncError` for what a person can fix. */
  readonly execute: (
    values: OptionValues<Name>,
    context: CommandContext,
    ...args: readonly [first: string, second?: string]
  ) => Promise<number>;
  /** Called where a start fails before its options are read. Never throws. */
  readonly onFailedStart?: (error: unknown, start: FailedStart) => Promise<void>;
  /** The line of JSON for a failure before the work began, where `--json` promises one. */
  readonly failureJson?: (code: string | null, message: string) => object;
}

/** A command that stands in a list with others, which have other options. */
export interface CommandOfList extends Omit<CommandSpec<OptionName>, "execute"> {
  readonly execute: (
    context: CommandContext,
    ...args: readonly [first: string, second?: string]
  ) => Promise<number>;
}

export function command<Name extends OptionName>(spec: CommandSpec<Name>): CommandOfList {
  const { options, ofAll, execute, onFailedStart } = spec;
  return {
    ...spec,
    execute: async (context, ...args) => {
      let values: OptionValues<Name>;
      try {
        values = context.given.read(options, ofAll);
      } catch (error) {
        await onFailedStart?.(error, { ...context, isFileRight: true });
        throw error;
      }
      return execute(values, context, ...args);
    },
  };
}

/** What there is of a start whose options are not read. */
export interface FailedStart extends StartContext {
  /** Whether `given` has the settings file; without it, that may be wrong. */
  readonly isFileRight: boolean;
}

export interface ProcessContext extends Output {
  /** Aborts when a person or the system stops the program. */
  readonly signal: AbortSignal;
  /** The directory that relative paths start from. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly stdin: () => Input;
  readonly openBrowser: OpenBrowser;
}

export interface StartContext extends ProcessContext {
  /** The start of the whole command, also with `--all`, by the monotonic clock. */
  readonly startedAtMs: number;
  readonly given: GivenOptions;
  readonly proxies: Proxies;
  /** The environment, for secrets: an option would stand in the list of processes. */
  readonly environment: NodeJS.ProcessEnv;
}

/** Of one account at a time, where there are several. */
export interface CommandContext extends StartContext, ResultOutput {}

/** What commands need of a warehouse, wherever it is. */
export interface Warehouse {
  readonly store: Store;
  readonly catalog: Catalog;
  /** The store, where runs delete old staged files themselves; in a bucket a lifecycle rule does. */
  readonly directory?: DirectoryStore;
}
