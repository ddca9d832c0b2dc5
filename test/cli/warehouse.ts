// A warehouse on disk with what a test puts into it, and the views over it.

import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { DuckdbCatalog } from "../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { systemRandom } from "../../lambdas/job/runtime/clock.ts";
import type { Manifest } from "../../lambdas/job/snapshot/files/manifest.ts";
import { DirectoryStore } from "../../lambdas/job/storage/directory/directory-store.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { type Publication, publish } from "../../lambdas/job/storage/publication-log.ts";
import { accountStore } from "../../lambdas/job/storage/store.ts";
import { aManifest } from "../job/snapshot/files/manifests.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { aPublication } from "../job/storage/publications.ts";

export class Warehouse {
  readonly directory: string;
  readonly store: DirectoryStore;
  readonly views: DuckdbCatalog;

  constructor(directory: string) {
    this.directory = directory;
    this.store = new DirectoryStore({ directory, random: systemRandom });
    this.views = new DuckdbCatalog({ store: this.store, directory });
  }

  /** Writes the rows, one JSON line each, gzipped where the key says so. */
  async put(key: string, rows: readonly object[]): Promise<void> {
    const text = Buffer.from(rows.map((row) => `${line(row)}\n`).join(""));
    await this.store.create(key, key.endsWith(".gz") ? gzipSync(text) : text);
  }

  async snapshot(
    account: string,
    snapshotId: string,
    ...parts: readonly (readonly object[])[]
  ): Promise<void> {
    for (const [index, rows] of parts.entries()) {
      await this.put(`snapshots/${account}/${snapshotId}/part-0000${index}.ndjson.gz`, rows);
    }
  }

  /** Of the parts that the snapshot has now. */
  async manifest(manifest: Manifest): Promise<void> {
    const { account, snapshot_id: snapshotId } = manifest;
    const prefix = layout(account).snapshot(snapshotId);
    const files = await Array.fromAsync(this.store.list(`${prefix}part-`));
    const sha256 = "0".repeat(64);
    const parts = files.map(({ key, bytes }) => ({ file: key.slice(prefix.length), rows: 1, bytes, sha256 }));
    const stored = parts.map(({ bytes }) => ({ bytes, sha256 }));
    const counts = { ...manifest.counts, listed: parts.length + 5, events: parts.length };
    await this.put(layout(account).manifest(snapshotId), [{ ...manifest, parts, stored, counts }]);
  }

  /** A snapshot that has no manifest yet gets one without lifted columns. */
  async publish(account: string, over: Partial<Publication>): Promise<void> {
    const publication = aPublication(over);
    await this.manifest(aManifest({ account, snapshot_id: publication.snapshot_id }));
    await publish(accountStore(this.store, account), publication);
  }
}

export async function warehouse(name = "warehouse"): Promise<Warehouse> {
  return new Warehouse(join(await temporaryDirectory(), name));
}

export const eventRow = (uuid: string, over: object = {}): object => ({
  uuid,
  event_date: "2026-11-01",
  scope: "uk",
  event: `{"uuid":"${uuid}"}`,
  listing: "{}",
  ...over,
});

/** The characters that some readers take for the end of a line are written as escapes (`docs/warehouse-format.md`). */
const line = (row: object): string =>
  JSON.stringify(row)
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
    .replaceAll("\u0085", "\\u0085");
