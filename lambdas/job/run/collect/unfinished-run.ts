// Looks for work that an earlier start has left: a plan, staged shards, and finished events of other shards.

import { SyncError } from "../../errors/sync-error.ts";
import { PartialShards } from "../../snapshot/staging/partial-shards.ts";
import { type Plan, readPlan } from "../../snapshot/staging/plan.ts";
import { layout } from "../../storage/layout.ts";
import type { Store, StoredKey } from "../../storage/store.ts";

/** A run that has a plan but is not finished. */
export interface UnfinishedRun {
  readonly plan: Plan;
  /** Indices of staged shards. */
  readonly staged: ReadonlySet<number>;
  /** Finished events of the other shards. */
  readonly kept: PartialShards;
  /** How many files of such events there are: the number of the next one. */
  readonly keptFiles: number;
}

export function newWork(plan: Plan): UnfinishedRun {
  return { plan, staged: new Set(), kept: PartialShards.none, keptFiles: 0 };
}

/** How many events need not be fetched any more. */
export function eventsDone({ plan, staged, kept }: UnfinishedRun): number {
  let events = 0;
  for (let index = 0; index < plan.shards; index += 1) {
    if (staged.has(index)) events += plan.sizeOf(index);
    else if (kept.size > 0) events += plan.shard(index).filter(({ uuid }) => kept.has(uuid)).length;
  }
  return events;
}

/** What is staged of this run. Throws `CONFIG_INVALID` when settings that shape rows have changed since. */
export async function findOwnWork(
  store: Store,
  account: string,
  runId: string,
  fingerprints: ReadonlySet<string>,
): Promise<UnfinishedRun | undefined> {
  const files = await Array.fromAsync(store.list(layout.run(account, runId)));
  const unfinished = await open(store, account, runId, files);
  if (unfinished && !fingerprints.has(unfinished.plan.header.fingerprint)) {
    throw new SyncError(
      "CONFIG_INVALID",
      `Settings that shape rows (base URL, pointers, is-listed, lifted columns) have changed since the run ${runId} began, so its staged work cannot be used. Start a new run.`,
      { fields: { run_id: runId } },
    );
  }
  return unfinished;
}

export interface AdoptionTerms {
  /** Of the settings, with each list of columns that an unfinished run may have. */
  readonly fingerprints: ReadonlySet<string>;
  /** The snapshot that readers see: only a later run can still be published. */
  readonly head: string | undefined;
  /** Only a run that wrote something at or after this instant, in milliseconds since the Unix epoch. */
  readonly progressSinceMs: number;
  /** Records the outcome of a run that was published but not recorded, and returns true; false for any other run. */
  readonly settle: (runId: string) => Promise<boolean>;
}

/** The newest unfinished run of the account that a manual start may continue. */
export async function findAdoptable(
  store: Store,
  account: string,
  terms: AdoptionTerms,
): Promise<UnfinishedRun | undefined> {
  const byRun = new Map<string, StoredKey[]>();
  const prefix = layout.runs(account);
  // From the head's own run on: it may have crashed right after its publication.
  const after = terms.head === undefined ? undefined : `${prefix}${terms.head}/`;
  for await (const file of store.list(prefix, after)) {
    const runId = file.key.slice(prefix.length).split("/")[0] ?? "";
    const files = byRun.get(runId);
    if (files) files.push(file);
    else byRun.set(runId, [file]);
  }
  for (const [runId, files] of [...byRun].reverse()) {
    const finished = files.some(({ key }) => key === layout.outcome(account, runId));
    const progressMs = files.reduce((latest, file) => Math.max(latest, file.modifiedAtMs), 0);
    if (finished || progressMs < terms.progressSinceMs) continue;
    if ((await terms.settle(runId)) || runId === terms.head) continue;
    const unfinished = await open(store, account, runId, files);
    if (unfinished && terms.fingerprints.has(unfinished.plan.header.fingerprint)) return unfinished;
  }
  return undefined;
}

async function open(
  store: Store,
  account: string,
  runId: string,
  files: readonly StoredKey[],
): Promise<UnfinishedRun | undefined> {
  const planKey = layout.plan(account, runId);
  if (!files.some(({ key }) => key === planKey)) return undefined;
  const plan = await readPlan(store, planKey);
  const keys = new Set(files.map(({ key }) => key));
  const indices = Array.from({ length: plan.shards }, (_, index) => index);
  const staged = new Set(indices.filter((i) => keys.has(layout.shard(account, runId, i))));
  const keptKeys = [...keys].filter((key) => key.startsWith(layout.partialShards(account, runId)));
  return { plan, staged, kept: await findKept(store, keptKeys, plan), keptFiles: keptKeys.length };
}

/** The newest whole file: each one has the events of the files before it that were not staged by then. */
async function findKept(store: Store, keys: readonly string[], { header }: Plan): Promise<PartialShards> {
  for (const key of keys.toReversed()) {
    const kept = await PartialShards.read(store, key, header.sha256);
    if (kept) return kept;
  }
  return PartialShards.none;
}
