// A warehouse as years of runs leave it: so many publications of one event, with all of their files.

import type { RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { createManifest } from "../../../lambdas/job/snapshot/files/manifest.ts";
import { writeParts } from "../../../lambdas/job/snapshot/files/parts.ts";
import { changeLine } from "../../../lambdas/job/snapshot/rows/compare-snapshots.ts";
import { rowLine } from "../../../lambdas/job/snapshot/rows/row.ts";
import { formatRunId, publicationId } from "../../../lambdas/job/storage/layout.ts";
import type { LogMark } from "../../../lambdas/job/storage/log-mark.ts";
import type { AccountStore } from "../../../lambdas/job/storage/store.ts";
import { countsOf } from "../catalog/publisher.ts";
import { aManifest } from "../snapshot/files/manifests.ts";
import { aPublication } from "../storage/publications.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const UUID = "00000000-0000-4000-8000-000000000001";
const eventText = (revision: number): string =>
  `{"uuid":"${UUID}","date":"2026-01-01","revision":${revision}}`;

interface Age {
  readonly publications: number;
  /** From one to the next. */
  readonly stepMs: number;
  /** The last one was published a step before. */
  readonly endMs: number;
  /** Of what is older only the marks of retired snapshots are left; undefined keeps all. */
  readonly retainDays?: number | undefined;
  /** How many publications there were when a run was held; its snapshot waits for a decision. */
  readonly heldAfter?: number | undefined;
}

/** Returns the id of the held snapshot. */
export async function fillWarehouse(store: AccountStore, age: Age): Promise<string> {
  const { publications, stepMs, endMs, retainDays, heldAfter } = age;
  const keptFromMs = retainDays === undefined ? 0 : endMs - retainDays * DAY_MS;
  let base: string | null = null;
  let mark: LogMark = null;
  let held = "";
  for (let revision = 1; revision <= publications; revision += 1) {
    const atMs = endMs - (publications - revision + 1) * stepMs;
    const snapshotId = formatRunId(atMs);
    const number = publicationId(revision);
    const at = new Date(atMs).toISOString();
    if (atMs < keptFromMs) {
      const retired = { retired_at: new Date(atMs + (retainDays ?? 0) * DAY_MS).toISOString() };
      await store.create(store.keys.retired(snapshotId), jsonOf(retired));
    } else await fillSnapshot(store, snapshotId, revision, mark);
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
      files: { snapshot: 1, changes: 1 },
    });
    await store.create(store.keys.publication(number), jsonOf(publication));
    await store.create(store.keys.runLog(snapshotId, 1), jsonOf(rowOf(snapshotId, at)));
    mark = { publication: number, write_id: publication.write_id };
    base = snapshotId;
    if (revision !== heldAfter) continue;
    held = formatRunId(atMs + stepMs / 2);
    await fillSnapshot(store, held, revision, mark);
    const why = { reason: "DROPPED", explanation: "Too few.", held_at: at };
    await store.create(store.keys.held(held), jsonOf(why));
  }
  return held;
}

const jsonOf = (value: object): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`);

async function fillSnapshot(
  store: AccountStore,
  snapshotId: string,
  revision: number,
  mark: LogMark,
): Promise<void> {
  const at = snapshotId.replace(/T(..)-(..)-/, "T$1:$2:");
  const parts = await writeParts({
    store,
    key: (index) => store.keys.part(snapshotId, index),
    lines: [
      rowLine({
        uuid: UUID,
        event_date: "2026-01-01",
        scope: null,
        event: eventText(revision),
        listing: `{"uuid":"${UUID}"}`,
      }),
    ],
  });
  const {
    stored: _,
    left_out: __,
    ...manifest
  } = aManifest({
    account: store.account,
    snapshot_id: snapshotId,
    run_id: snapshotId,
    log_end: mark,
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
}

const rowOf = (runId: string, at: string): RunLogEntry => ({
  run_id: runId,
  attempt: 1,
  trigger: "schedule",
  outcome: "PUBLISHED",
  snapshot_id: runId,
  listed: 1,
  events: 1,
  added: 0,
  changed: 1,
  removed: 0,
  gone: 0,
  forbidden: 0,
  rejected: 0,
  requests: 3,
  retries: 0,
  throttled: 0,
  logins: 1,
  bytes: 400,
  started_at: at,
  seconds: 1,
  reason: null,
  error_code: null,
  error_message: null,
  version: "0.1.0",
  repeated: 0,
});
