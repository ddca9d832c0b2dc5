// `run`: makes and publishes a snapshot.

import { SyncError, undefinedIfDamaged } from "../../../lambdas/job/errors/sync-error.ts";
import { type RunEvent, runEvent } from "../../../lambdas/job/run/record/run-event.ts";
import { publicationOf, type RunResult } from "../../../lambdas/job/run/record/run-result.ts";
import { run } from "../../../lambdas/job/run/run.ts";
import { systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import { isOfLayout, runInstant } from "../../../lambdas/job/storage/layout.ts";
import { readEnd } from "../../../lambdas/job/storage/publication-log.ts";
import { type AccountStore, accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { NOTIFY_OPTIONS, type OptionValues, RUN_OPTIONS, SERVICE_OPTIONS } from "../options/options.ts";
import { heldCommands } from "../output/describe-status.ts";
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
    const { stderr: terminal, proxies, signal, clock } = context;
    const tell = (eventOf: () => Promise<RunEvent | undefined>): Promise<void> =>
      notify(eventOf, { values, terminal, proxies, signal, clock, random: systemRandom });
    const { result, store } = await started(values, context).catch(async (error: unknown) => {
      await tellFailedStart(error, { ...context, isFileRight: true });
      throw error;
    });
    const exitCode = reportRun(context, result, values);
    await tell(async () => {
      const published = await publicationOf(accountStore(store, account), result.row);
      return runEvent(account, result, published?.publication, (id) => heldCommands(id, values));
    });
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
      const nowMs = context.clock.now();
      await directory?.tidy(nowMs);
      if (directory) await expireRuns(accountStore(directory, values.account), nowMs);
      const dryRun = values.dryRun ? { dryRun: { limit: values.limit } } : {};
      const result = await run(ports, settings, {
        trigger: "manual",
        fresh: values.fresh,
        overDamaged: values.overDamaged,
        ...dryRun,
      });
      if (result.row.snapshot_id !== null) await credentialsWork(values.credentials);
      return { result, store };
    },
    isUnattended,
  );
}

const FRESH_AGAIN =
  "this account has a snapshot already. --fresh does not belong into a schedule: it resumes nothing, and makes a warehouse where the disk is not there";

/** Nothing can be resumed after that time, and no table reads these files. */
export async function expireRuns(store: AccountStore, nowMs: number): Promise<void> {
  const prefix = store.keys.runs;
  for await (const { key } of store.list(prefix)) {
    const startedAtMs = runInstant(key.slice(prefix.length).split("/")[0] ?? "");
    // Keys come in the order of the instants, so the first that is young ends the search.
    if (startedAtMs !== undefined && startedAtMs >= nowMs - RUN_FILES_KEPT_MS) return;
    if (startedAtMs !== undefined && isOfLayout(key)) await store.delete(key);
  }
}

/** Deletes what runs staged more than 14 days ago. In a bucket a lifecycle rule does it. */
const RUN_FILES_KEPT_MS = 14 * 24 * 60 * 60 * 1000;
