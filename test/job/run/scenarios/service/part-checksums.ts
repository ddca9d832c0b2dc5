// The checksums of the parts that a run published: equal where the bytes are.

import { readManifest } from "../../../../../lambdas/job/snapshot/files/manifest.ts";
import { accountStore } from "../../../../../lambdas/job/storage/store.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

export async function partChecksums(sandbox: Sandbox, snapshotId: string | null): Promise<readonly string[]> {
  const { parts } = await readManifest(accountStore(sandbox.store, ACCOUNT), snapshotId ?? "");
  return parts.map(({ sha256 }) => sha256);
}

/** Those of a run over so many events that nothing disturbs. */
export async function undisturbedChecksums(events: number): Promise<readonly string[]> {
  await using sandbox = await Sandbox.start({ events: makeEvents(events) });
  const { row } = await sandbox.run();
  return partChecksums(sandbox, row.snapshot_id);
}
