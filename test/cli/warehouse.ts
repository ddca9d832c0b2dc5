// A warehouse on disk with what a test puts into it, the views over it, and what a reader finds through `views.sql`, which may be
// older than the log.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { DuckdbCatalog } from "../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { systemRandom } from "../../lambdas/job/runtime/clock.ts";
import type { ColumnType } from "../../lambdas/job/settings/lifted-column.ts";
import type { Manifest } from "../../lambdas/job/snapshot/files/manifest.ts";
import { DirectoryStore } from "../../lambdas/job/storage/directory/directory-store.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../lambdas/job/storage/publication.ts";
import { publish } from "../../lambdas/job/storage/publication-log.ts";
import { accountStore } from "../../lambdas/job/storage/store.ts";
import { aManifest, liftedManifest } from "../job/snapshot/files/manifests.ts";
import { aRow } from "../job/snapshot/rows/a-row.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { aPublication } from "../job/storage/publications.ts";

/** By the name of a lifted column. */
export type ColumnTypes = Readonly<Record<string, ColumnType | undefined>>;

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

  /** A snapshot of `uk` with columns of these types, each from the pointer of its own name, and these rows. */
  async publishTyped(
    snapshot_id: string,
    types: ColumnTypes,
    values: readonly object[],
    over: Partial<Publication> = {},
  ): Promise<void> {
    const manifest = liftedManifest(Object.keys(types), { snapshot_id });
    const lifted = manifest.lifted.map((each) => ({
      ...each,
      type: types[each.name],
      typed_by: snapshot_id,
    }));
    await this.manifest({ ...manifest, lifted });
    await this.snapshot(
      "uk",
      snapshot_id,
      values.map((each, index) => eventRow(`e${index}`, each)),
    );
    await this.publish("uk", { snapshot_id, events: values.length, added: 0, ...over });
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
  ...aRow(uuid, { event_date: "2026-11-01", scope: "uk" }),
  ...over,
});

/** The characters that some readers take for the end of a line are written as escapes (`docs/format.md`). */
const line = (row: object): string =>
  JSON.stringify(row)
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
    .replaceAll("\u0085", "\\u0085");

/** `SELECT uuid, event FROM events`, sorted; empty where no views were ever written. */
export async function readEvents(warehouse: string): Promise<ReadonlyMap<string, string>> {
  const rows = await readRows(warehouse, "SELECT uuid, event FROM events ORDER BY uuid");
  return new Map(rows.map(([uuid, event]) => [String(uuid), String(event)]));
}

export async function readRows(warehouse: string, sql: string): Promise<readonly (readonly unknown[])[]> {
  const views = await readFile(join(warehouse, "views.sql"), "utf8").catch(() => undefined);
  if (views === undefined) return [];
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    await connection.run(views);
    return (await connection.runAndReadAll(sql)).getRowsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
