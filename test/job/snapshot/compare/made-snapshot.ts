// A snapshot in a store, made of events alone.

import type { Manifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { writeParts } from "../../../../lambdas/job/snapshot/files/parts.ts";
import { rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { aManifest } from "../files/manifests.ts";
import { streamOf } from "../files/streams.ts";

export const BEFORE = "2026-11-20T06-00-00.000Z";
export const AFTER = "2026-11-21T06-00-00.000Z";

/** The text of an event by its number, which also is the order of the uuids. */
export type Events = Readonly<Record<number, string>>;

export const uuidOf = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;

/** @param maxBytes of a part: by default each row is a part of its own */
export async function madeSnapshot(
  store: Store,
  snapshotId: string,
  events: Events,
  maxBytes = 1,
): Promise<Manifest> {
  const rows = Object.entries(events).map(([n, event]) => ({
    uuid: uuidOf(Number(n)),
    event_date: null,
    scope: null,
    event,
    listing: "{}",
  }));
  const parts = await writeParts({
    store,
    key: (index) => layout("uk").part(snapshotId, index),
    lines: streamOf(...rows.map((row) => rowLine(row))),
    maxBytes,
  });
  return aManifest({
    snapshot_id: snapshotId,
    run_id: snapshotId,
    counts: { ...aManifest().counts, listed: rows.length + 5, events: rows.length },
    parts: parts.map(({ stored: _, ...part }) => part),
    stored: parts.map(({ stored }) => stored),
  });
}
