// Publishes small snapshots as a run would: parts, manifest, changes, and the line in the log; no catalog follows.

import { randomUUID } from "node:crypto";
import { createManifest, type Manifest } from "../../../lambdas/job/snapshot/files/manifest.ts";
import { writeParts } from "../../../lambdas/job/snapshot/files/parts.ts";
import { rowLine } from "../../../lambdas/job/snapshot/rows/row.ts";
import { layout, publicationId } from "../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../lambdas/job/storage/publication.ts";
import { createRemoval, publish, readEnd } from "../../../lambdas/job/storage/publication-log.ts";
import { markRetired } from "../../../lambdas/job/storage/snapshot-marks.ts";
import { accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { aManifest } from "../snapshot/files/manifests.ts";
import { aPublication } from "../storage/publications.ts";

/** `2026-11-21T06-00-00.000Z` for day 21. */
export const snapshotOfDay = (day: number): string => `2026-11-${String(day).padStart(2, "0")}T06-00-00.000Z`;

/** Of a snapshot with so many events, of which none is left out. */
export const countsOf = (events: number): Manifest["counts"] => ({
  listed: events,
  events,
  gone: 0,
  forbidden: 0,
  rejected: 0,
  oversize: 0,
  too_deep: 0,
  unreadable: 0,
  repeated: 0,
});

async function* lines(all: readonly string[]): AsyncGenerator<string> {
  yield* all;
}

export class Publisher {
  readonly #store: Store;
  readonly #account: string;

  constructor(store: Store, account: string) {
    this.#store = store;
    this.#account = account;
  }

  /** A finished snapshot with an event for each name, not published. */
  async make(snapshotId: string, names: readonly string[]): Promise<void> {
    const parts = await writeParts({
      store: this.#store,
      key: (index) => layout(this.#account).part(snapshotId, index),
      lines: lines(names.map((name) => rowLine(rowOf(name)))),
    });
    const counts = countsOf(names.length);
    const of = { account: this.#account, snapshot_id: snapshotId, run_id: snapshotId };
    const manifest = aManifest({ ...of, counts, parts, fields: [] });
    await createManifest(this.#store, layout(this.#account).manifest(snapshotId), manifest);
  }

  /** The next publication, with one added event for each name of `changed`. */
  async publish(
    snapshotId: string,
    changed: readonly string[] = [],
    over: Partial<Publication> = {},
  ): Promise<void> {
    const { last } = await readEnd(accountStore(this.#store, this.#account));
    const publication = publicationId(Number(last) + 1);
    await writeParts({
      store: this.#store,
      key: (index) => layout(this.#account).changesPart(publication, snapshotId, index),
      lines: lines(changed.map((name) => JSON.stringify({ uuid: name, change: "added" }))),
    });
    const line = aPublication({
      publication,
      snapshot_id: snapshotId,
      run_id: snapshotId,
      published_at: `2026-11-${snapshotId.slice(8, 10)}T07:00:00.000Z`,
      events: 1,
      added: changed.length,
      write_id: randomUUID(),
      ...over,
    });
    await publish(accountStore(this.#store, this.#account), line);
  }

  /** Makes and publishes a snapshot of the day; all its events are new. */
  async day(day: number, names: readonly string[]): Promise<void> {
    await this.make(snapshotOfDay(day), names);
    await this.publish(snapshotOfDay(day), names);
  }

  async retire(snapshotId: string): Promise<void> {
    await markRetired(accountStore(this.#store, this.#account), snapshotId);
  }

  /** What it deletes is not deleted yet. */
  async remove(day: number): Promise<void> {
    const runId = snapshotOfDay(day);
    await createRemoval(accountStore(this.#store, this.#account), {
      runId,
      atMs: Date.UTC(2026, 10, day),
      writeId: randomUUID(),
    });
  }

  async giveBack(snapshotId: string): Promise<void> {
    await this.#store.delete(layout(this.#account).retired(snapshotId));
  }
}

function rowOf(uuid: string) {
  return { uuid, event_date: "2026-11-01", scope: null, event: `{"uuid":"${uuid}"}`, listing: "{}" };
}
