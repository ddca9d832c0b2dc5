// `accept` and `rollback`: a person publishes a snapshot that is already there. No request, no lease.

import { SyncError } from "../errors/sync-error.ts";
import { type Manifest, readManifest } from "../snapshot/files/manifest.ts";
import { layout } from "../storage/layout.ts";
import { type Publication, readHead, readLog } from "../storage/publication-log.ts";
import { formatRunId, runInstant } from "../storage/run-id.ts";
import { readRetired } from "../storage/snapshot-marks.ts";
import type { Store } from "../storage/store.ts";
import { headAsBase, wholeBase } from "./publish/base.ts";
import { commit } from "./publish/commit.ts";
import { readHold } from "./publish/hold.ts";
import { refreshCatalog } from "./publish/refresh-catalog.ts";
import { publishedEnd } from "./record/published-end.ts";
import { recordAttempt, startNow } from "./record/record-attempt.ts";
import type { RunResult } from "./record/run-result.ts";
import type { RunPorts } from "./run-ports.ts";
import { countsOf, NO_COUNTS, type RunEnd, type RunState } from "./run-state.ts";

interface Shared {
  readonly snapshotId: string;
  /** Publishes although files of the head are damaged. */
  readonly overDamaged?: boolean | undefined;
}

export type AcceptOrRollback = Shared &
  (
    | {
        readonly action: "accept";
        /** Takes a snapshot older than the head, too. */
        readonly force: boolean;
      }
    | {
        readonly action: "rollback";
        /** Later runs are held until an `accept`. */
        readonly pin: boolean;
      }
  );

export type AcceptOrRollbackPorts = Pick<
  RunPorts,
  "store" | "catalog" | "clock" | "random" | "logger" | "version" | "signal"
>;

/** Publishes the snapshot against the present head, or says why not. Returns the attempt's row for every outcome. */
export async function acceptOrRollback(
  ports: AcceptOrRollbackPorts,
  account: string,
  request: AcceptOrRollback,
): Promise<RunResult> {
  const started = startNow(ports.clock);
  const runId = formatRunId(started.atMs);
  const state: RunState = { runId, snapshotId: request.snapshotId, counts: NO_COUNTS, service: undefined };
  const end = await publishAgain(ports, account, request, state).catch((error: unknown) => ({ error }));
  return recordAttempt({ ports, account, trigger: request.action, started, state }, end);
}

async function publishAgain(
  ports: AcceptOrRollbackPorts,
  account: string,
  request: AcceptOrRollback,
  state: RunState,
): Promise<RunEnd> {
  const { store, catalog } = ports;
  const { action, snapshotId } = request;
  const baseOf = request.overDamaged ? wholeBase(ports, account) : headAsBase;
  await refreshCatalog(ports, account, await readHead(store, account), baseOf);
  const manifest = await requirePublishable(store, account, request);
  state.counts = countsOf(manifest);
  const pinned = request.action === "rollback" && request.pin;
  const decide = async (head: Publication | undefined) => {
    const isOlder = head !== undefined && head.snapshot_id > snapshotId;
    return request.action === "accept" && isOlder && !request.force ? { newer: head } : undefined;
  };
  const published = await commit(
    ports,
    { manifest },
    { action, run_id: state.runId, pinned },
    decide,
    baseOf,
  );
  if ("newer" in published) return olderThan(published.newer, snapshotId);
  state.counts = countsOf(manifest, published);
  await catalog.refresh(account);
  return publishedEnd(store, account, published);
}

/** The manifest of a snapshot that this action can publish. Throws `SNAPSHOT_NOT_FOUND` for any other, with the remedy. */
async function requirePublishable(
  store: Store,
  account: string,
  { action, snapshotId }: AcceptOrRollback,
): Promise<Manifest> {
  if (runInstant(snapshotId) === undefined) {
    throw notFound(
      snapshotId,
      "does not exist. An id looks like 2026-11-21T06-00-00.000Z; status lists the ids",
    );
  }
  if ((await readRetired(store, account, snapshotId)) !== undefined) {
    throw notFound(
      snapshotId,
      "is retired: its files are deleted, or will be within a day. Make a new one with run",
    );
  }
  const published = (await readLog(store, account)).some(({ snapshot_id }) => snapshot_id === snapshotId);
  if ((await store.read(layout.manifest(account, snapshotId))) === undefined) {
    if (published)
      throw notFound(snapshotId, "was published, but its files are missing. Restore them from a backup");
    throw notFound(snapshotId, "does not exist. Look at status and query publications for the ids");
  }
  if (published) return readManifest(store, account, snapshotId);
  const isHeld = (await readHold(store, account, snapshotId)) !== undefined;
  if (!isHeld) throw notFound(snapshotId, "is not finished. Start run again to finish it");
  if (action === "rollback")
    throw notFound(snapshotId, "is held and was never published. Publish it with accept");
  return readManifest(store, account, snapshotId);
}

function notFound(snapshotId: string, why: string): SyncError {
  return new SyncError("SNAPSHOT_NOT_FOUND", `The snapshot ${snapshotId} ${why}.`, {
    fields: { snapshot_id: snapshotId },
  });
}

function olderThan(head: Publication, snapshotId: string): RunEnd {
  return {
    outcome: "SUPERSEDED",
    reason: "LATER_HEAD",
    explanation: `Readers already see ${head.snapshot_id}, which is later than ${snapshotId}. To publish the older one anyway, use accept with --force, or rollback, which also keeps later runs from replacing it.`,
  };
}
