// A query shows no row of a damaged file, and verifies each file once.

import {
  appendFile,
  chmod,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it, test } from "vitest";
import type { TableRows } from "../../../bin/cli/output/format-result.ts";
import type { QueryOptions } from "../../../bin/cli/query/locked-duckdb.ts";
import { query } from "../../../bin/cli/query/query.ts";
import { verifyTables } from "../../../bin/cli/query/verify-tables.ts";
import { writeParts } from "../../../lambdas/job/snapshot/files/parts.ts";
import { changeLine } from "../../../lambdas/job/snapshot/rows/diff-rows.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import { interposed } from "../../job/run/interposed-store.ts";
import { aManifest } from "../../job/snapshot/files/manifests.ts";
import { eventRow, type Warehouse, warehouse } from "../warehouse.ts";

const ONE = "2026-11-21T06-00-00.000Z";
const TWO = "2026-11-22T06-00-00.000Z";
const RECORD = ".verified.ndjson";

const part = (snapshotId: string): string => layout("uk").part(snapshotId, 0);
const CHANGES = layout("uk").changesPart("0000000002", TWO, 0);

/** Two publications of uk: a and b, then b is changed. The manifests are those of the files. */
async function twoPublications(): Promise<Warehouse> {
  const made = await warehouse();
  await snapshot(made, ONE, [eventRow("a"), eventRow("b")]);
  await made.publish("uk", { snapshot_id: ONE, run_id: ONE, events: 2, added: 0 });
  await snapshot(made, TWO, [eventRow("a"), eventRow("b", { scope: "xk" })]);
  const change = { uuid: "b", change: "changed", fields: '["/scope"]', before: "{}", after: "{}" } as const;
  await writeParts({
    store: made.store,
    key: (index) => layout("uk").changesPart("0000000002", TWO, index),
    lines: linesOf([changeLine(change)]),
  });
  await made.publish("uk", {
    publication: "0000000002",
    snapshot_id: TWO,
    base_snapshot_id: ONE,
    run_id: TWO,
    events: 2,
    added: 0,
    changed: 1,
  });
  return made;
}

async function snapshot({ store, directory }: Warehouse, id: string, rows: readonly object[]): Promise<void> {
  const lines = linesOf(rows.map((row) => JSON.stringify(row)));
  const parts = await writeParts({ store, key: (i) => layout("uk").part(id, i), lines });
  // Stored, not compressed, so that a flipped bit leaves something that can be unzipped.
  const file = join(directory, layout("uk").part(id, 0));
  await writeFile(file, gzipSync(gunzipSync(await readFile(file)), { level: 0 }));
  const counts = {
    listed: 2,
    events: 2,
    gone: 0,
    forbidden: 0,
    rejected: 0,
    oversize: 0,
    repeated: 0,
    too_deep: 0,
  };
  const stored = [{ bytes: (await stat(file)).size, sha256: "0".repeat(64) }];
  const manifest = aManifest({ snapshot_id: id, run_id: id, parts, stored, counts });
  await store.create(layout("uk").manifest(id), Buffer.from(`${JSON.stringify(manifest)}\n`));
}

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** Counts which files are verified. */
function ask(
  made: Warehouse,
  sql: string,
  signal = new AbortController().signal,
): { result: Promise<TableRows>; opened: readonly string[] } {
  const { views, directory } = made;
  const opened: string[] = [];
  const store: Store = {
    ...interposed(made.store, async () => undefined),
    open: (key) => {
      opened.push(key);
      return made.store.open(key);
    },
  };
  const verify: QueryOptions["verify"] = (use) => verifyTables({ store, directory, signal, ...use });
  return { result: query(views, sql, { verify, signal }), opened };
}

async function opened(made: Warehouse, sql: string): Promise<readonly string[]> {
  const asked = ask(made, sql);
  await asked.result;
  return asked.opened;
}

/** DuckDB reads "yk" where "uk" stands, and does not look at the checksum. */
async function flipABit(made: Warehouse, key: string): Promise<void> {
  const file = join(made.directory, key);
  const bytes = await readFile(file);
  const at = bytes.indexOf('"scope":"') + '"scope":"'.length;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0b100, at);
  await writeFile(file, bytes);
}

describe("a query", () => {
  it.each([
    ["SELECT scope FROM events", part(TWO)],
    ["SELECT count(*) FROM events", part(TWO)],
    ["WITH e AS (FROM main.events) SELECT (SELECT count(*) FROM e)", part(TWO)],
    ["SUMMARIZE EVENTS", part(TWO)],
    ['SELECT 1; FROM "events"', part(TWO)],
    ["EXPLAIN ANALYZE FROM events", part(TWO)],
    ["SELECT scope FROM event_snapshots", part(ONE)],
    ["SELECT scope FROM event_snapshots, publications", part(TWO)],
  ])("%s fails where a bit of %s has flipped", async (sql, key) => {
    const made = await twoPublications();
    await flipABit(made, key);

    await expect(ask(made, sql).result).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key },
      message: expect.stringContaining(`The file ${key} is damaged`),
    });
  });

  it("shows the flipped bit where nothing is verified: DuckDB does not notice", async () => {
    const made = await twoPublications();
    await flipABit(made, part(TWO));

    expect((await query(made.views, "SELECT scope FROM events ORDER BY uuid")).rows).toEqual([
      ["qk"],
      ["xk"],
    ]);
  });

  it.each([
    "SELECT count(*) FROM publications",
    "FROM sync_runs",
    "SELECT uuid FROM event_changes",
    "DESCRIBE publications",
    "SELECT 'events'",
  ])("%s needs no part of a snapshot, so a damaged one does not matter", async (sql) => {
    const made = await twoPublications();
    await flipABit(made, part(ONE));
    await flipABit(made, part(TWO));

    await expect(ask(made, sql).result).resolves.toBeDefined();
  });

  it("of the head says how to publish over it, of an older snapshot how to give it up, of both how to see the rest", async () => {
    const made = await twoPublications();
    await flipABit(made, part(ONE));
    await expect(ask(made, "FROM event_snapshots").result).rejects.toThrow(
      `Or give up the snapshot ${ONE} of the account uk: retire ${ONE} --yes takes it out of the tables. With --partial,`,
    );

    await flipABit(made, part(TWO));
    await expect(ask(made, "FROM events").result).rejects.toThrow('--over-damaged (in AWS {"account": "uk"');
    await expect(ask(made, "FROM events").result).rejects.toThrow("With --partial, query shows everything");
  });

  it.each([
    ["a changed row", `{"uuid":"b","change":"added"}\n`],
    ["a row less", ""],
    ["no row", "not json\n"],
  ])("of changes fails on a file with %s", async (_, text) => {
    const made = await twoPublications();
    await writeFile(join(made.directory, CHANGES), gzipSync(text));

    await expect(ask(made, "FROM event_changes").result).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  it("of changes fails on a file whose own checksum is wrong", async () => {
    const made = await twoPublications();
    const file = join(made.directory, CHANGES);
    const zipped = gzipSync(gunzipSync(await readFile(file)), { level: 0 });
    const at = zipped.indexOf("/scope");
    zipped.write("/scopf", at);
    await writeFile(file, zipped);

    await expect(ask(made, "FROM event_changes").result).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key: CHANGES },
    });
  });

  it("fails on a part that the manifest does not have, and not on a file that no view reads", async () => {
    const made = await twoPublications();
    const copy = `${layout("uk").snapshot(TWO)}part-00000 copy.ndjson.gz`;
    await writeFile(join(made.directory, layout("uk").snapshot(TWO), "desktop.ini"), "x");
    await writeFile(join(made.directory, copy), await readFile(join(made.directory, part(TWO))));
    expect((await ask(made, "FROM events").result).rows).toHaveLength(2);

    const foreign = layout("uk").part(TWO, 1);
    await writeFile(join(made.directory, foreign), gzipSync("{}\n"));
    await expect(ask(made, "FROM events").result).rejects.toMatchObject({ fields: { key: foreign } });
  });
});

test("verifying ends with the signal, with its reason, and is not remembered", async () => {
  const made = await twoPublications();
  const stopped = new Error("stopped");

  await expect(ask(made, "FROM events", AbortSignal.abort(stopped)).result).rejects.toBe(stopped);

  expect(await opened(made, "FROM events")).toEqual([part(TWO)]);
});

describe("each file is verified once", () => {
  const ALL = "SELECT count(*) FROM events, event_snapshots, event_changes";

  test("and only if the query needs it", async () => {
    const made = await twoPublications();

    expect(await opened(made, "FROM events")).toEqual([part(TWO)]);
    expect(await opened(made, ALL)).toEqual([part(ONE), CHANGES]);
    expect(await opened(made, ALL)).toEqual([]);
  });

  test("again when its time or size changes, and a damage since then is noticed", async () => {
    const made = await twoPublications();
    await opened(made, ALL);
    const file = join(made.directory, part(ONE));
    const { atime, mtime } = await stat(file);

    await utimes(file, atime, new Date(mtime.getTime() + 1000));
    expect(await opened(made, ALL)).toEqual([part(ONE)]);

    await flipABit(made, part(ONE));
    await expect(ask(made, ALL).result).rejects.toMatchObject({ fields: { key: part(ONE) } });
    await expect(ask(made, ALL).result).rejects.toMatchObject({ fields: { key: part(ONE) } });
  });

  test("a part that was deleted since then is missing", async () => {
    const made = await twoPublications();
    await writeFile(join(made.directory, layout("uk").part(TWO, 1)), gzipSync("{}\n"));
    await expect(ask(made, "FROM events").result).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await rm(join(made.directory, layout("uk").part(TWO, 1)));
    await opened(made, "FROM events");

    await rm(join(made.directory, part(TWO)));

    await expect(ask(made, "FROM events").result).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key: part(TWO) },
    });
  });

  test("also by queries at the same time", async () => {
    const made = await twoPublications();

    await Promise.all(Array.from({ length: 8 }, () => opened(made, ALL)));

    expect(await opened(made, ALL)).toEqual([]);
  });

  test.each([
    ["empty", ""],
    ["damaged", '{"folder":"snapshots/\n\u0000[]\n{"folder":1}\nnull\n'],
  ])("again when the record is %s, which is then appended to", async (_, text) => {
    const made = await twoPublications();
    await writeFile(join(made.directory, RECORD), text);

    expect(await opened(made, "FROM events")).toEqual([part(TWO)]);
    expect(await opened(made, "FROM events")).toEqual([]);
  });

  test("after a record that ends in half a line too", async () => {
    const made = await twoPublications();
    await appendFile(join(made.directory, RECORD), '{"folder":"snap');
    await opened(made, "FROM events");

    expect(await opened(made, "FROM events")).toEqual([]);
  });

  test.skipIf(process.getuid?.() === 0)("every time where the record cannot be written", async () => {
    const made = await twoPublications();
    await chmod(made.directory, 0o500);

    expect(await opened(made, "FROM events")).toEqual([part(TWO)]);
    expect(await opened(made, "FROM events")).toEqual([part(TWO)]);
    await chmod(made.directory, 0o700);
  });

  test("every time where a folder stands in the record's place", async () => {
    const made = await twoPublications();
    await mkdir(join(made.directory, RECORD));

    expect(await opened(made, "FROM events")).toEqual([part(TWO)]);
    expect(await opened(made, "FROM events")).toEqual([part(TWO)]);
  });

  test("the record is no file of the warehouse", async () => {
    const made = await twoPublications();
    await opened(made, ALL);
    const keys = await Array.fromAsync(made.store.list(""), ({ key }) => key);

    expect(await readdir(made.directory)).toContain(RECORD);
    expect(keys.filter((key) => key.includes("verified"))).toEqual([]);
  });
});

test.skipIf(process.platform === "win32")("what is verified is not written through a link", async () => {
  const made = await twoPublications();
  const file = join(made.directory, "file");
  await writeFile(file, "before");
  await symlink("file", join(made.directory, RECORD));

  expect((await ask(made, "FROM events").result).rows).toHaveLength(2);

  expect(await readFile(file, "utf8")).toBe("before");
});
