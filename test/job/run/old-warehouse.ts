// A warehouse as years of runs leave it: so many publications of one event, an hour apart, with all of their files.

import { createManifest } from "../../../lambdas/job/snapshot/files/manifest.ts";
import { writeParts } from "../../../lambdas/job/snapshot/files/parts.ts";
import { changeLine } from "../../../lambdas/job/snapshot/rows/compare-snapshots.ts";
import { rowLine } from "../../../lambdas/job/snapshot/rows/row.ts";
import { formatRunId, publicationId } from "../../../lambdas/job/storage/layout.ts";
import type { AccountStore } from "../../../lambdas/job/storage/store.ts";
import { countsOf } from "../catalog/publisher.ts";
import { aManifest } from "../snapshot/files/manifests.ts";
import { aRow } from "../snapshot/rows/a-row.ts";
import { aPublication } from "../storage/publications.ts";

const HOUR_MS = 60 * 60 * 1000;

const UUID = "00000000-0000-4000-8000-000000000001";
const eventText = (revision: number): string =>
  `{"uuid":"${UUID}","date":"2026-01-01","revision":${revision}}`;

/** The last one was published an hour before `endMs`. */
export async function fillWarehouse(store: AccountStore, publications: number, endMs: number): Promise<void> {
  let base: string | null = null;
  for (let revision = 1; revision <= publications; revision += 1) {
    const atMs = endMs - (publications - revision + 1) * HOUR_MS;
    const snapshotId = formatRunId(atMs);
    const number = publicationId(revision);
    const at = new Date(atMs).toISOString();
    const parts = await writeParts({
      store,
      key: (index) => store.keys.part(snapshotId, index),
      lines: [rowLine(aRow(UUID, { event_date: "2026-01-01", event: eventText(revision) }))],
    });
    const {
      stored: _,
      left_out: __,
      ...manifest
    } = aManifest({
      account: store.account,
      snapshot_id: snapshotId,
      run_id: snapshotId,
      counts: countsOf(1),
      parts: parts.map(({ stored: ___, ...part }) => part),
      fields: [],
      started_at: at,
      finished_at: at,
    });
    await createManifest(store, store.keys.manifest(snapshotId), {
      ...manifest,
      stored: parts.map(({ stored }) => stored),
    });
    const isFirst = base === null;
    const change = changeLine({
      uuid: UUID,
      change: isFirst ? "added" : "changed",
      fields: isFirst ? null : ["/revision"],
      before: isFirst ? null : eventText(revision - 1),
      after: eventText(revision),
    });
    await writeParts({
      store,
      key: (index) => store.keys.changesPart(number, snapshotId, index),
      lines: [change],
    });
    const publication = aPublication({
      publication: number,
      snapshot_id: snapshotId,
      base_snapshot_id: base,
      published_at: at,
      events: 1,
      added: isFirst ? 1 : 0,
      changed: isFirst ? 0 : 1,
      run_id: snapshotId,
      write_id: `write ${number}`,
    });
    await store.create(store.keys.publication(number), Buffer.from(`${JSON.stringify(publication)}\n`));
    base = snapshotId;
  }
}
