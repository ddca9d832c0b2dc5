// A small world whose snapshots a test damages.

import { gunzipSync, gzipSync } from "node:zlib";
import { expect } from "vitest";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { type Publication, readHead } from "../../../../../lambdas/job/storage/publication-log.ts";
import { ACCOUNT, SmallWorld } from "../../small-world.ts";

export class DamagedWorld extends SmallWorld {
  /** Publishes while an older snapshot is damaged, which a run does not look at. */
  async publishUnder(count: number, version: number, older: string): Promise<string> {
    await this.restore(older);
    const second = await this.publish(count, version);
    await this.damage(older);
    return second;
  }

  async edit(snapshotId: string, change: (text: string) => string): Promise<void> {
    const stored = await this.store.read(partOf(snapshotId));
    this.store.put(partOf(snapshotId), gzipSync(change(gunzipSync(stored?.bytes ?? "").toString())));
  }

  /** Leaves rows that are whole, but are not those that were published. */
  damage(snapshotId: string): Promise<void> {
    return this.edit(snapshotId, (text) => text.replace('\\"version\\":', '\\"Version\\":'));
  }

  restore(snapshotId: string): Promise<void> {
    return this.edit(snapshotId, (text) => text.replace('\\"Version\\":', '\\"version\\":'));
  }

  head(): Promise<Publication | undefined> {
    return readHead(this.own);
  }

  oldest(): string {
    return this.catalog.log(ACCOUNT)[0]?.snapshot_id ?? "";
  }

  /** The rows of a snapshot with the changes of one publication applied. */
  async folded(from: ReadonlyMap<string, string>, publication: string): Promise<ReadonlyMap<string, string>> {
    const events = new Map(from);
    for (const line of await this.catalog.changesOf(ACCOUNT, publication)) {
      const { uuid, before, after } = JSON.parse(line);
      expect(events.get(uuid) ?? null).toBe(before);
      if (after === null) events.delete(uuid);
      else events.set(uuid, after);
    }
    return new Map([...events].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

export function partOf(snapshotId: string): string {
  return layout(ACCOUNT).part(snapshotId, 0);
}
