// The views show the same rows in every version of DuckDB that the pages promise, whatever the texts are, and a database
// file of the newest opens in the oldest.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { query } from "../../bin/cli/query/query.ts";
import { TABLES } from "../../lambdas/job/storage/layout.ts";
import { type Warehouse, warehouse } from "../cli/warehouse.ts";
import { COLUMNS, HOSTILE_VALUES } from "../job/catalog/views/text-values.ts";
import { makeDatabase } from "./database-file.ts";
import { DUCKDB_VERSIONS, folderOf, isSkipped, runIn } from "./duckdb-versions.ts";

const ONE = "2026-11-21T06-00-00.000Z";
const NAMES = [...Object.keys(TABLES), "events_typed", "event_history"];

async function hostileWarehouse(): Promise<Warehouse> {
  const made = await warehouse();
  const rows = HOSTILE_VALUES.map((text) => ({
    event_date: text,
    event: JSON.stringify({ text, list: [text] }),
    ...Object.fromEntries(COLUMNS.map(([name]) => [name, text])),
  }));
  await made.publishTyped(ONE, Object.fromEntries(COLUMNS), rows, { added: 1 });
  await made.put(`changes/uk/0000000001/${ONE}/part-00000.ndjson.gz`, [
    { uuid: "e0", change: "added", fields: null, before: null, after: "{}" },
  ]);
  await made.put(`run-log/uk/${ONE}-1.ndjson`, [
    { run_id: ONE, attempt: 1, seconds: 1.5, outcome: "PUBLISHED" },
  ]);
  await made.views.refresh("uk");
  return made;
}

const STATEMENTS = [
  ...NAMES.map((name) => `SELECT COLUMNS(*)::VARCHAR FROM ${name} ORDER BY ALL`),
  ...["$.text", "$.list", "$.list[0]", '$["text"]', "$.nothing"].map(
    (path) => `SELECT uuid, json_extract_scalar(event, '${path}') FROM events ORDER BY uuid`,
  ),
  "SELECT epoch_ms(from_iso8601_timestamp(published_at))::VARCHAR FROM publications",
];

if (isSkipped) {
  process.stderr.write("The tests with other versions of DuckDB are skipped: npm run setup:duckdb\n");
}

const viewsOf = ({ directory }: Warehouse): string => readFileSync(join(directory, "views.sql"), "utf8");

describe.skipIf(isSkipped).each(DUCKDB_VERSIONS)("DuckDB %s", (version) => {
  it("has the same rows as query, in each table and view", async () => {
    const made = await hostileWarehouse();
    const expected = await Promise.all(
      STATEMENTS.map(async (sql) => [sql, (await query(made.views, sql)).rows] as const),
    );

    const [, ...found] = runIn(folderOf(version), [viewsOf(made), ...STATEMENTS], { cwd: made.directory });

    expect(expected.filter(([, rows]) => rows.length === 0)).toEqual([]);
    expect(STATEMENTS.map((sql, index) => [sql, found[index]])).toEqual(expected);
  });

  it("makes a database file, as the page says it, that every version opens", async () => {
    const made = await hostileWarehouse();
    const sql = "SELECT count(*)::VARCHAR FROM events_typed";
    const make = (): string => makeDatabase(folderOf(version), viewsOf(made), made.directory);

    make();
    const file = make();

    for (const reader of DUCKDB_VERSIONS) {
      const rows = runIn(folderOf(reader), [sql], { cwd: made.directory, database: file });
      expect(rows).toEqual([[[String(HOSTILE_VALUES.length)]]]);
    }
  });
});
