// One line of the run log: what one attempt of a run did. A row of the table `sync_runs`.

import * as z from "zod";
import { ERROR_CODES, isDamage } from "../../errors/sync-error.ts";
import { jsonLine } from "../../json/json-line.ts";
import { readJson, SELDOM_PARSED } from "../../storage/json-object.ts";
import { isOfLayout } from "../../storage/layout.ts";
import type { AccountStore } from "../../storage/store.ts";

const OUTCOMES = ["PUBLISHED", "HELD", "SKIPPED", "SUPERSEDED", "HANDED_OVER", "DRY_RUN", "FAILED"] as const;
export type Outcome = (typeof OUTCOMES)[number];

const triggerSchema = z.enum(["schedule", "manual", "accept", "rollback", "verify"]);

const count = z.number().int().nonnegative().nullable();

/** Keys in the order of the table's columns (docs/warehouse-format.md). Counts are null where the run did not get that far. */
export const runLogEntrySchema = z.object({
  run_id: z.string(),
  attempt: z.number().int().positive(),
  trigger: triggerSchema,
  outcome: z.enum(OUTCOMES),
  snapshot_id: z.string().nullable(),
  listed: count,
  events: count,
  added: count,
  changed: count,
  removed: count,
  gone: count,
  forbidden: count,
  rejected: count,
  requests: count,
  retries: count,
  throttled: count,
  logins: count,
  bytes: count,
  started_at: z.string(),
  seconds: z.number().nonnegative(),
  reason: z.string().nullable(),
  error_code: z.enum(ERROR_CODES).nullable(),
  error_message: z.string().nullable(),
  version: z.string(),
  /** Absent in entries of earlier versions. */
  repeated: count.default(null),
});

export type RunLogEntry = Readonly<z.infer<typeof runLogEntrySchema>>;
export type Trigger = RunLogEntry["trigger"];

/** Neither an accept, a rollback nor a verification. */
export function isRun(trigger: Trigger): boolean {
  return trigger === "schedule" || trigger === "manual";
}

/** Listed events that have no row. */
export function leftOutCount({
  gone,
  forbidden,
  rejected,
}: Pick<RunLogEntry, "gone" | "forbidden" | "rejected">): number {
  return (gone ?? 0) + (forbidden ?? 0) + (rejected ?? 0);
}

/** Appends the row to the run log under the next free attempt number and returns it as written. */
export async function appendRunLog(
  store: AccountStore,
  row: Omit<RunLogEntry, "attempt">,
): Promise<RunLogEntry> {
  return append(store, row, async () => undefined);
}

/** The same, unless the run log has a row of this run with the same beginning and outcome, which is returned. */
export async function appendRunLogOnce(
  store: AccountStore,
  row: Omit<RunLogEntry, "attempt">,
): Promise<RunLogEntry> {
  return append(store, row, async (key) => {
    const found = await readJson(store, key, runLogEntrySchema).catch(undefinedIfDamaged);
    return found?.started_at === row.started_at && found.outcome === row.outcome ? found : undefined;
  });
}

/** The rows of a run that can be read, the newest first; each is read when it is asked for. */
export async function* attemptsOf(store: AccountStore, runId: string): AsyncGenerator<RunLogEntry> {
  const files = await Array.fromAsync(store.list(`${store.keys.runLogs}${runId}-`));
  for (const { key } of files.filter((file) => isOfLayout(file.key)).toReversed()) {
    const row = await readJson(store, key, runLogEntrySchema).catch(undefinedIfDamaged);
    if (row) yield row;
  }
}

async function append(
  store: AccountStore,
  row: Omit<RunLogEntry, "attempt">,
  isThere: (key: string) => Promise<RunLogEntry | undefined>,
): Promise<RunLogEntry> {
  const { run_id, ...rest } = row;
  for (let attempt = 1; ; attempt += 1) {
    const numbered = runLogEntrySchema.parse({ run_id, attempt, ...rest }, SELDOM_PARSED);
    const key = store.keys.runLog(run_id, attempt);
    if ((await store.create(key, Buffer.from(`${jsonLine(numbered)}\n`))) !== undefined) return numbered;
    const found = await isThere(key);
    if (found) return found;
  }
}

function undefinedIfDamaged(error: unknown): undefined {
  if (!isDamage(error)) throw error;
}
