// What a person decides about snapshots that are there, without a request to the service: `accept` and `rollback` publish
// one, `retire` takes one out of the tables, `remove` a whole account with its files.

import {
  type AcceptOrRollback,
  acceptOrRollback,
  countFiles,
  removeAccount,
  retire,
  type Undo,
  undoOf,
} from "../../../lambdas/job/commands/decisions.ts";
import { shownText } from "../../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import { parseSetting } from "../../../lambdas/job/settings/setting-problem.ts";
import { accountName } from "../../../lambdas/job/settings/values.ts";
import { readHead } from "../../../lambdas/job/storage/publication-log.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { explained } from "../../../lambdas/words/ends.ts";
import { type OptionValues, PLACE_OPTIONS, WAREHOUSE_OPTIONS } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import { describeHead } from "../output/describe-status.ts";
import { Display } from "../output/display.ts";
import { EXIT } from "../output/exit-code.ts";
import { styleOf } from "../output/next-command.ts";
import { failureJson, reportRun } from "../output/run-report.ts";
import type { Output } from "../output/terminal.ts";
import { plural } from "../output/words.ts";
import { type CommandContext, type CommandOfList, command } from "../wiring/command.ts";
import { openWarehouse, refuseMissingWarehouse, refuseUnknownAccount } from "../wiring/open-warehouse.ts";
import { isGone, thisProcess } from "../wiring/this-process.ts";
import { requireFiles } from "../wiring/warehouse-disk.ts";

const PUBLISH_OPTIONS = [...PLACE_OPTIONS, "overDamaged", "logLevel", "json"] as const;
const ID = ["<id>", "the snapshot, as status and the table publications name it"] as const;

const accept = command({
  name: "accept",
  group: "Decide",
  summary: "publish a snapshot that is held, or one that was published before",
  arguments: [
    [ID[0], `${ID[1]}, or "held" for the newest held one, if no other is later than what readers see`],
  ],
  options: [...PUBLISH_OPTIONS, "force"],
  example: "accept 2026-11-21T06-00-00.000Z",
  execute: ({ force, ...values }, context, snapshotId) =>
    publish(values, context, { action: "accept", snapshotId, force }),
  failureJson,
});

const rollback = command({
  name: "rollback",
  group: "Decide",
  summary: "publish an older snapshot again, and hold later ones until an accept",
  arguments: [ID],
  options: [...PUBLISH_OPTIONS, "noPin"],
  example: "rollback 2026-11-20T06-00-00.000Z",
  execute: ({ noPin, ...values }, context, snapshotId) =>
    publish(values, context, { action: "rollback", snapshotId, pin: !noPin }),
  failureJson,
});

async function publish(
  values: OptionValues<(typeof PUBLISH_OPTIONS)[number]>,
  context: CommandContext,
  request: AcceptOrRollback,
): Promise<number> {
  const ports = await portsOfSnapshots(values, context);
  const { overDamaged } = values;
  const result = await acceptOrRollback(ports, { ...request, overDamaged });
  const undo = await undoOf(ports.store, result);
  const command = undo && undoCommand(undo, values);
  const exitCode = reportRun(context, result, values, command === undefined ? {} : { undo_command: command });
  if (!values.json) {
    context.stdout.lines(describeHead(await readHead(ports.store), context.clock.now()));
    context.stdout.lines(command === undefined ? [] : [`To undo this: ${command}`]);
  }
  return exitCode;
}

function undoCommand(
  { snapshotId, pin }: Undo,
  values: OptionValues<(typeof PLACE_OPTIONS)[number]>,
): string {
  return commandLineText(["rollback", snapshotId, ...(pin ? [] : ["--no-pin"])], PLACE_OPTIONS, values);
}

const retireCommand = command({
  name: "retire",
  group: "Repair",
  summary: "take a damaged or bad snapshot out of the tables; without --yes only say what would happen",
  arguments: [["<id>", "the snapshot, as check, status and the table publications name it"]],
  options: [...PLACE_OPTIONS, "yes", "logLevel", "json"],
  example: "retire 2026-11-21T06-00-00.000Z --yes",
  execute: async (values, context, snapshotId) => {
    const ports = await portsOfSnapshots(values, context);
    const { ok, explanation } = await retire(ports, { snapshotId, yes: values.yes });
    const again = commandLineText(["retire", snapshotId, "--yes"], PLACE_OPTIONS, values);
    const lines = ok ? [explanation] : [explanation, `Nothing was changed. To retire it: ${again}`];
    answer(values, context, { ok, explanation }, lines);
    return ok ? EXIT.done : EXIT.wrongInput;
  },
  failureJson: () => ({ ok: false }),
});

const remove = command({
  name: "remove",
  group: "Repair",
  summary:
    "take an account out of the warehouse and delete its files; without --yes only say what would be deleted",
  arguments: [["<account>", "the account, as status names it"]],
  options: [...WAREHOUSE_OPTIONS, "yes", "logLevel", "json"],
  example: "remove uk --yes",
  execute: async (values, context, argument) => {
    const account = parseAccount(argument);
    const ports = await portsOf({ ...values, account }, context);
    const { store } = ports;
    const { publications, snapshots, files, foreign } = await countFiles(store);
    if (files === 0) {
      await refuseMissingWarehouse(store, values);
      await refuseUnknownAccount(store);
    }
    const all = `${plural(publications, "publication")}, ${plural(snapshots, "snapshot")}, ${plural(files, "file")} in all`;
    const [first] = foreign;
    const stays: string[] = [];
    if (first !== undefined)
      stays.push(
        `Files that are not the warehouse's own stay: ${foreign.length}, the first is ${shownText(first)}.`,
      );
    if (isS3(values.warehouse))
      stays.push("The bucket is versioned: it keeps deleted files as noncurrent versions for 30 days.");
    if (!values.yes) {
      const again = commandLineText(["remove", account, "--yes"], WAREHOUSE_OPTIONS, values);
      answer(values, context, { ok: false }, [
        `remove ${account} would delete all of this account: ${all}, and its rows in all tables.`,
        ...stays,
        `Nothing was deleted. To delete it: ${again}`,
      ]);
      return EXIT.wrongInput;
    }
    const result = await removeAccount(ports);
    if (result !== "removed") {
      answer(values, context, { ok: false }, []);
      const style = styleOf(context.given.ofAccount(account));
      context.stderr.message(`${result.outcome}: ${explained(result, style)}`);
      return EXIT.skipped;
    }
    answer(values, context, { ok: true }, [
      `The account ${account} is removed: ${all}.`,
      ...stays,
      "Its credentials were not touched. Take it out of your settings too: otherwise its next run makes it again.",
    ]);
    return EXIT.done;
  },
  failureJson: () => ({ ok: false }),
});

export const DECISIONS: readonly CommandOfList[] = [accept, rollback, retireCommand, remove];

type PortValues = OptionValues<(typeof PLACE_OPTIONS)[number] | "logLevel">;

/** Throws `STORE_FAILED` and `SNAPSHOT_NOT_FOUND` where there is no snapshot at all. */
async function portsOfSnapshots(values: PortValues, context: CommandContext) {
  const ports = await portsOf(values, context);
  if (ports.directory) await requireFiles(ports.directory);
  await refuseMissingWarehouse(ports.store, values, "SNAPSHOT_NOT_FOUND");
  return ports;
}

async function portsOf(values: PortValues, context: CommandContext) {
  const { stderr, signal, clock } = context;
  const { store, catalog, directory } = await openWarehouse(values, context);
  const logger = new Display({ terminal: stderr, clock, level: values.logLevel });
  const world = { clock, random: systemRandom, logger, version: VERSION };
  const host = { process: thisProcess(), isGone, signal };
  return { ...world, ...host, store: accountStore(store, values.account), catalog, directory };
}

function answer(
  { json }: OptionValues<"json">,
  { stdout, stderr }: Output,
  result: object,
  lines: readonly string[],
): void {
  if (json) stdout.json(result);
  (json ? stderr : stdout).lines(lines);
}

function parseAccount(text: string): string {
  try {
    return parseSetting(accountName, text);
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    throw new SyncError("CONFIG_INVALID", `The account: ${error.message}`, { cause: error });
  }
}
