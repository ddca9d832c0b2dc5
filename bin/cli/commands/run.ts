// `run`: makes and publishes a snapshot.

import { SyncError, undefinedIfDamaged } from "../../../lambdas/job/errors/sync-error.ts";
import { runEvent } from "../../../lambdas/job/run/record/run-event.ts";
import { orWarn, publicationOf, type RunResult } from "../../../lambdas/job/run/record/run-result.ts";
import { run } from "../../../lambdas/job/run/run.ts";
import { systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import type { DirectoryStore } from "../../../lambdas/job/storage/directory/directory-store.ts";
import { formatRunId, isOfLayout, KEPT_DAYS, runInstant } from "../../../lambdas/job/storage/layout.ts";
import { readEnd } from "../../../lambdas/job/storage/publication-log.ts";
import { type AccountStore, accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { heldCommands, nextOf } from "../../../lambdas/words/ends.ts";
import { NOTIFY_OPTIONS, type OptionValues, RUN_OPTIONS, SERVICE_OPTIONS } from "../options/options.ts";
import { notify } from "../output/notify.ts";
import { failureJson, reportRun } from "../output/run-report.ts";
import { type CommandContext, command } from "../wiring/command.ts";
import { credentialsWork } from "../wiring/open-warehouse.ts";
import { withService } from "../wiring/service-ports.ts";
import { requireDisk, requireFiles } from "../wiring/warehouse-disk.ts";
import { tellFailedStart } from "./failed-start.ts";

const OPTIONS = [
  ...SERVICE_OPTIONS,
  ...RUN_OPTIONS,
  ...NOTIFY_OPTIONS,
  "dryRun",
  "limit",
  "fresh",
  "overDamaged",
  "all",
] as const;

type Values = OptionValues<(typeof OPTIONS)[number]>;

export const runCommand = command({
  name: "run",
  group: "Every day",
  summary: "make a snapshot of all listed events and publish it",
  options: OPTIONS,
  example: "run --base-url https://service.example --account uk",
  execute: async (values, context) => {
    const { account } = values;
    const { result, store } = await started(values, context).catch(async (error: unknown) => {
      await tellFailedStart(error, { ...context, isFileRight: true });
      throw error;
    });
    const exitCode = reportRun(context, result, values);
    const endOf = async () => {
      const published = await publicationOf(accountStore(store, account), result.row);
      const event = runEvent(account, result, published?.publication, (id) =>
        heldCommands(id, context.style),
      );
      return { event, next: nextOf(result) };
    };
    await notify(endOf, { ...context, values, random: systemRandom });
    return exitCode;
  },
  failureJson,
  onFailedStart: tellFailedStart,
});

async function started(
  values: Values,
  context: CommandContext,
): Promise<{ result: RunResult; store: Store }> {
  if (values.limit !== undefined && !values.dryRun) {
    throw new SyncError("CONFIG_INVALID", "--limit needs --dry-run: a published snapshot is never partial.");
  }
  const isUnattended = !context.stdin().isTTY;
  return withService(
    values,
    context,
    async ({ ports, settings, warehouse, credentials }) => {
      await credentials.read();
      const { store, directory } = warehouse;
      const { fresh, overDamaged } = values;
      if (directory && values.dryRun) await requireFiles(directory);
      else if (directory) await requireDisk(directory, { isUnattended, fresh, overDamaged });
      if (fresh && (await readEnd(ports.store).catch(undefinedIfDamaged))?.head)
        ports.logger.warn(FRESH_AGAIN);
      const dryRun = values.dryRun ? { dryRun: { limit: values.limit } } : {};
      const result = await run(ports, settings, {
        trigger: "manual",
        fresh: values.fresh,
        overDamaged: values.overDamaged,
        ...dryRun,
      });
      // Beside the process that has the lease nothing is deleted, whatever this one's clock shows.
      if (directory && result.row.outcome !== "SKIPPED")
        await orWarn(ports.logger, "old files could not be deleted", deleteOld(directory, values, context));
      if (result.row.snapshot_id !== null) await credentialsWork(values.credentials);
      return { result, store };
    },
    isUnattended,
  );
}

const FRESH_AGAIN =
  "this account has a snapshot already. --fresh does not belong into a schedule: it resumes nothing, and makes a warehouse where the disk is not there";

async function deleteOld(
  directory: DirectoryStore,
  { account }: Values,
  { clock }: CommandContext,
): Promise<void> {
  await expire(accountStore(directory, account), clock.now());
  await directory.tidy(clock.now(), account);
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Deletes what the account has for longer than it is kept, once a day: a query may be reading it. In a bucket lifecycle rules
 * do that.
 */
export async function expire(store: AccountStore, nowMs: number): Promise<void> {
  for (const folder of ["runs", "runLogs"] as const) {
    const keptMs = nowMs - KEPT_DAYS[folder] * DAY_MS;
    const keys = await namedBefore(store, store.keys[folder], keptMs);
    const isDue = keys.some((key) => key < `${store.keys[folder]}${formatRunId(keptMs - DAY_MS)}`);
    if (isDue) await store.delete(keys);
  }
}

/** The files below the prefix that are named after a run from before the instant, or lie in a folder that is. */
async function namedBefore(store: AccountStore, prefix: string, instantMs: number): Promise<string[]> {
  const first = formatRunId(instantMs);
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) {
    const runId = key.slice(prefix.length, prefix.length + first.length);
    if (runInstant(runId) === undefined || !isOfLayout(key)) continue;
    // Keys come in the order of the instants, so the first that is young ends the search.
    if (runId >= first) break;
    keys.push(key);
  }
  return keys;
}
