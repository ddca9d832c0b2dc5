// The preview of a held snapshot: what publishing it would do, in short. No event's text.

import { isDamage } from "../../errors/sync-error.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { LeftOutReason } from "../../snapshot/files/manifest.ts";
import { type Manifest, readLeftOut, readManifest } from "../../snapshot/files/manifest.ts";
import { type Change, compareSnapshots } from "../../snapshot/rows/compare-snapshots.ts";
import type { Publication } from "../../storage/publication.ts";
import type { AccountStore, Store } from "../../storage/store.ts";
import type { Preview } from "../record/held-mark.ts";

interface PreviewPorts {
  readonly store: AccountStore;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** How many uuids of each kind are named: enough to look some of them up. */
const MOST_UUIDS = 10;

/**
 * Compares as a publication does. Damage does not keep a snapshot from being held: what cannot be read is left out of the
 * preview.
 */
export async function makePreview(
  ports: PreviewPorts,
  manifest: Manifest,
  head: Publication | undefined,
): Promise<Preview> {
  const { store, logger } = ports;
  const base = head?.snapshot_id ?? null;
  const { snapshot_id: snapshotId, counts } = manifest;
  const unlessDamaged = <T>(what: string, work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      if (!isDamage(error)) throw error;
      logger.warn(`${what}: ${error.message}`, { error_code: error.code });
      return undefined;
    });
  const changes = await unlessDamaged(
    "what publishing the held snapshot would change is not known",
    changesFrom(ports, base, manifest),
  );
  const missing = await unlessDamaged(
    "which events are missing is not known",
    firstLeftOut(store, store.keys.leftOut(snapshotId)),
  );
  const { gone, forbidden, rejected, oversize, too_deep, unreadable } = counts;
  return {
    base_snapshot_id: base,
    ...(changes?.counts ?? { added: null, changed: null, removed: null }),
    gone,
    forbidden,
    rejected,
    oversize,
    uuids: { ...(changes ?? new ChangeSample(0)).uuids, ...(missing ?? noneLeftOut()) },
    too_deep,
    unreadable,
    ...(head?.pinned ? { pinned: true } : {}),
  };
}

async function changesFrom(
  { store, signal }: PreviewPorts,
  base: string | null,
  manifest: Manifest,
): Promise<ChangeSample> {
  const before = base === null ? undefined : await readManifest(store, base);
  const sample = new ChangeSample(MOST_UUIDS);
  const proceed = (): void => signal.throwIfAborted();
  for await (const change of compareSnapshots(store, before, manifest, proceed)) sample.add(change);
  return sample;
}

async function firstLeftOut(store: Store, key: string): Promise<Record<LeftOutReason, string[]>> {
  const first = noneLeftOut();
  for (const { uuid, reason } of await readLeftOut(store, key)) {
    if (reason !== "other" && first[reason].length < MOST_UUIDS) first[reason].push(uuid);
  }
  return first;
}

function noneLeftOut(): Record<LeftOutReason, string[]> {
  return { gone: [], forbidden: [], oversize: [], too_deep: [], unreadable: [] };
}

/** Changes in short: how many of each kind, and the first uuids of each. */
export class ChangeSample {
  readonly #most: number;
  readonly counts: Record<Change["change"], number> = { added: 0, changed: 0, removed: 0 };
  readonly uuids: Readonly<Record<Change["change"], string[]>> = { added: [], changed: [], removed: [] };

  /** @param most how many uuids of each kind are kept */
  constructor(most: number) {
    this.#most = most;
  }

  add({ uuid, change }: Pick<Change, "uuid" | "change">): void {
    this.counts[change] += 1;
    if (this.uuids[change].length < this.#most) this.uuids[change].push(uuid);
  }
}
