// `remove`: takes an account out of a warehouse, with all its files; without `--yes` it says what that would delete.

import { shownText } from "../../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import {
  type AccountFiles,
  countFiles,
  removeAccount,
} from "../../../lambdas/job/run/remove/remove-account.ts";
import { systemClock } from "../../../lambdas/job/runtime/clock.ts";
import { systemRandom } from "../../../lambdas/job/runtime/random.ts";
import { parseSetting } from "../../../lambdas/job/settings/setting-problem.ts";
import { accountName } from "../../../lambdas/job/settings/values.ts";
import { FOLDERS } from "../../../lambdas/job/storage/layout.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import { type AccountStore, accountStore, refusedText } from "../../../lambdas/job/storage/store.ts";
import type { OptionValues } from "../options/options.ts";
import { WAREHOUSE_OPTIONS } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import { Display } from "../output/display.ts";
import { EXIT } from "../output/exit-code.ts";
import { plural } from "../output/words.ts";
import type { CommandSpec } from "../wiring/command.ts";
import { missingWarehouse, openWarehouse, refuseUnknownAccount } from "../wiring/open-warehouse.ts";
import { isGone, thisProcess } from "../wiring/this-process.ts";

const OPTIONS = [...WAREHOUSE_OPTIONS, "yes", "logLevel", "json"] as const;

type Values = OptionValues<(typeof OPTIONS)[number]>;

export const removeCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "remove",
  summary:
    "take an account out of the warehouse and delete its files; without --yes only say what would be deleted",
  argument: { name: "account", description: "the account, as status names it" },
  options: OPTIONS,
  example: "remove uk --yes",
  execute: async (values, context, argument) => {
    const account = parseAccount(argument);
    const { store: all, catalog } = await openWarehouse(values, context);
    const store = accountStore(all, account);
    const files = await countFiles(store);
    if (files.files === 0) throw await missingAccount(store, values, context.cwd);
    if (files.refusedLink !== undefined) {
      throw new SyncError("CONFIG_INVALID", `Nothing was removed. ${refusedText(files.refusedLink)}`);
    }
    const { stdout, stderr } = context;
    const answer = (ok: boolean, lines: readonly string[]): void => {
      if (values.json) stdout.json({ ok });
      (values.json ? stderr : stdout).lines(lines);
    };
    if (!values.yes) {
      answer(false, describe(account, files, values));
      return EXIT.wrongInput;
    }
    const clock = systemClock;
    const logger = new Display({ terminal: stderr, clock, level: values.logLevel });
    const ports = { store, catalog, clock, random: systemRandom, logger, signal: context.signal };
    const result = await removeAccount({ ...ports, process: thisProcess(), isGone });
    if (result !== "removed") {
      answer(false, []);
      stderr.message(`${result.outcome}: ${result.explanation}`);
      return EXIT.skipped;
    }
    answer(true, [
      `The account ${account} is removed: ${listed(files)}.`,
      ...afterwards(files, values),
      "Its credentials were not touched. Take it out of your settings too: otherwise its next run makes it again.",
    ]);
    return EXIT.done;
  },
  failureJson: () => ({ ok: false }),
};

function parseAccount(text: string): string {
  try {
    return parseSetting(accountName, text);
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    throw new SyncError("CONFIG_INVALID", `The account: ${error.message}`, { cause: error });
  }
}

async function missingAccount(store: AccountStore, values: Values, cwd: string): Promise<SyncError> {
  await refuseUnknownAccount(store);
  for await (const _removal of store.list(FOLDERS.publications)) {
    return new SyncError(
      "CONFIG_INVALID",
      `The warehouse has no account ${store.account}, and no others. Check --warehouse.`,
    );
  }
  return missingWarehouse(values, cwd);
}

function describe(account: string, files: AccountFiles, values: Values): readonly string[] {
  return [
    `remove ${account} would delete all of this account: ${listed(files)}, and its rows in all tables.`,
    ...afterwards(files, values),
    `Nothing was deleted. To delete it: ${commandLineText(["remove", account, "--yes"], WAREHOUSE_OPTIONS, values)}`,
  ];
}

function listed({ publications, snapshots, files }: AccountFiles): string {
  return `${plural(publications, "publication")}, ${plural(snapshots, "snapshot")}, ${plural(files, "file")} in all`;
}

function afterwards({ foreign }: AccountFiles, { warehouse }: Values): readonly string[] {
  const [first] = foreign;
  const stay =
    first === undefined
      ? []
      : [`Files that are not the warehouse's own stay: ${foreign.length}, the first is ${shownText(first)}.`];
  if (!isS3(warehouse)) return stay;
  return [...stay, "The bucket is versioned: it keeps deleted files as noncurrent versions for 30 days."];
}
