// The files of a snapshot are what its manifest says: parts, checksums, counts.

import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import type { Model } from "./model.ts";

const EVERY_ROW = ["uuid", "event_date", "scope", "event", "listing"];

export function checkFiles(model: Model, snapshotId: string): void {
  const { reader, world } = model;
  const manifest = reader.manifest(snapshotId);
  if (manifest === undefined) return;
  const fail = (what: string): void => model.fail(`the manifest of ${snapshotId} says ${what}`);
  const folder = reader.snapshotFolder(snapshotId);
  const bytesOf = (file: string): Uint8Array =>
    world.objects.asWritten(`${folder}${file}`)?.bytes ?? new Uint8Array();
  for (const [index, { file, rows, ...plain }] of manifest.parts.entries()) {
    const zipped = bytesOf(file);
    const bytes = gunzipSync(zipped);
    if (!isFile(bytes, plain)) fail(`another checksum of ${file}`);
    if (!isFile(zipped, manifest.stored[index])) fail(`another checksum of ${file} as it is stored`);
    if (bytes.toString().split("\n").length - 1 !== rows) fail(`${rows} rows in ${file}`);
  }
  const { counts, left_out: leftOutFile } = manifest;
  const rows = reader.rows(snapshotId) ?? [];
  const leftOut = reader.leftOut(snapshotId);
  const missing = (reason: string): number => leftOut.filter((one) => one.reason === reason).length;
  if (counts.events !== rows.length) fail(`${counts.events} events`);
  if (counts.gone !== missing("gone") || counts.forbidden !== missing("forbidden"))
    fail("other events that are missing");
  if (counts.listed !== counts.events + counts.gone + counts.forbidden + counts.rejected) fail("another sum");
  if (leftOutFile ? !isFile(bytesOf("_left_out.ndjson"), leftOutFile) : leftOut.length > 0)
    fail("another checksum of what is left out");
  const names = [...EVERY_ROW, ...manifest.lifted.map(({ name }) => name)];
  if (JSON.stringify(manifest.columns) !== JSON.stringify(names)) fail("other columns");
  if (rows.some((row) => JSON.stringify(Object.keys(row)) !== JSON.stringify(names)))
    fail("other columns than a row has");
}

function isFile(
  content: Uint8Array,
  said: { readonly bytes: number; readonly sha256: string } | undefined,
): boolean {
  return said?.bytes === content.length && said.sha256 === createHash("sha256").update(content).digest("hex");
}

/**
 * The tables have the columns of a snapshot before it is published, whatever their order: a held snapshot may be accepted
 * after another account has brought one of its columns. Readers take columns by name.
 */
export function checkColumns(model: Model, snapshotId: string): void {
  const lifted = model.reader.manifest(snapshotId)?.lifted.map(({ name }) => name) ?? [];
  const there = model.reader.columns();
  if (lifted.some((name) => !there.includes(name)))
    model.fail(`${snapshotId} has the columns ${lifted.join()}, and the tables ${there.join()}`);
}
