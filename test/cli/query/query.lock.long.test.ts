// `query` reads the warehouse and nothing else, and changes nothing: no file, no setting, no table.

import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { query, writeParquet } from "../../../bin/cli/query/query.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { eventRow, Warehouse, warehouse } from "../warehouse.ts";

const SNAPSHOT = "2026-11-21T06-00-00.000Z";
const PARTS = `snapshots/uk/${SNAPSHOT}/part-*.ndjson.gz`;
const LOG = layout("uk").publication("0000000001");

async function warehouseWithEvents(name: string): Promise<Warehouse> {
  const made = await warehouse(name);
  await made.snapshot("uk", SNAPSHOT, [eventRow("a"), eventRow("b")]);
  await made.publish("uk", { snapshot_id: SNAPSHOT, events: 2, added: 0 });
  return made;
}

/** With links to the secrets in the warehouse. */
async function warehouseBesideSecrets(): Promise<{ readonly made: Warehouse; readonly outside: string }> {
  const made = await warehouseWithEvents("warehouse");
  const outside = await temporaryDirectory();
  await writeFile(join(outside, "credentials.json"), '{"password":"hunter2"}\n');
  await writeFile(join(outside, "schema.sql"), "CREATE TABLE t (a INTEGER);");
  await writeFile(join(made.directory, "schema.sql"), "CREATE TABLE t (a INTEGER);");
  await symlink(join(outside, "credentials.json"), join(made.directory, "link.json"));
  await symlink(outside, join(made.directory, "folder"));
  await mkdir(join(made.directory, "empty"));
  await mkdir(join(made.directory, "credentials", "uk"), { recursive: true });
  for (const name of [
    "credentials.json",
    "credentials/uk.json",
    "credentials/uk/uk.ndjson",
    ".hidden.json",
  ]) {
    await writeFile(join(made.directory, name), '{"password":"hunter2"}\n');
  }
  await made.put("accounts/uk/lease.json", [{ password: "hunter2" }]);
  return { made, outside };
}

describe("query reads", () => {
  it.each([
    ["SELECT count(*) FROM events", "2"],
    ["FROM events SELECT count(*)", "2"],
    ["WITH e AS (FROM events) SELECT count(*) FROM e", "2"],
    ["VALUES (1)", "1"],
    ["SELECT column_name FROM (DESCRIBE events)", "uuid"],
    ["DESCRIBE events", "uuid"],
    ["SUMMARIZE events", "uuid"],
    ["SHOW TABLES", "event_changes"],
    ["EXPLAIN SELECT * FROM events", "physical_plan"],
    ["EXPLAIN (FORMAT json) SELECT * FROM events", "physical_plan"],
    ["explain analyze SELECT * FROM events; ", "analyzed_plan"],
    ["EXPLAIN ANALYZE (SELECT * FROM events);", "analyzed_plan"],
    ["EXPLAIN (ANALYZE) SELECT * FROM events", "analyzed_plan"],
    ["EXPLAIN SELECT 1; SELECT 2", "2"],
    ["PIVOT (SELECT scope, 1 AS one FROM events) ON scope IN ('uk') USING sum(one)", "2"],
    ["SELECT unnest FROM unnest(['x'])", "x"],
    ["SELECT max(value) FROM json_each('[1, 3]')", "3"],
    ["SELECT count(*) > 10 FROM duckdb_settings()", "true"],
    ["SELECT current_setting('lock_configuration')", "true"],
    ["SELECT current_setting('enable_external_access')", "false"],
    [`SELECT count(*) FROM read_json('$W/${PARTS}')`, "2"],
    [`SELECT count(*) FROM '$W/${PARTS}'`, "2"],
    [`SELECT count(*) FROM read_json('$R/${PARTS}')`, "2"],
  ])("%s", async (sql, expected) => {
    const { directory, views } = await warehouseWithEvents("warehouse");
    const text = sql.replace("$W", directory).replace("$R", relative(process.cwd(), directory));

    expect((await query(views, text)).rows[0]?.[0]).toBe(expected);
  });

  it.each(["it's [a] *b?", 'say "hello"; -- DROP'])(
    "files by path in a warehouse called %s",
    async (name) => {
      const { directory, views } = await warehouseWithEvents(name);
      const path = `${directory}/${LOG}`.replaceAll("'", "''").replaceAll(/[[*?]/g, "[$&]");

      expect((await query(views, `SELECT publication FROM read_json('${path}')`)).rows).toHaveLength(1);
    },
  );

  it("views.sql, in a warehouse that is named as any of its files may be", async () => {
    const { directory, views } = await warehouseWithEvents("warehouse");
    await views.refresh("uk");

    for (const path of [directory, relative(process.cwd(), directory)]) {
      const { rows } = await query(views, `SELECT content FROM read_text('${path}/views.sql')`);
      expect(rows).toEqual([[expect.stringContaining("CREATE OR REPLACE VIEW events AS")]]);
    }
  });

  it("a warehouse by a link to it", async () => {
    const { directory } = await warehouseWithEvents("warehouse");
    const link = join(await temporaryDirectory(), "link");
    await symlink(directory, link);

    expect((await query(new Warehouse(link).views, "SELECT count(*) FROM events")).rows).toEqual([["2"]]);
  });
});

describe("query refuses", () => {
  it.each([
    // What writes.
    "COPY (SELECT 1) TO '$W/out.csv'",
    "COPY (SELECT 1) TO '$O/out.csv'",
    `COPY (SELECT 1) TO '$W/${LOG}' (USE_TMP_FILE false)`,
    `SELECT 1; COPY (SELECT 1) TO '$W/${LOG}' (USE_TMP_FILE false)`,
    `EXPLAIN ANALYZE COPY (SELECT 1) TO '$W/${LOG}' (USE_TMP_FILE false)`,
    `EXPLAIN (ANALYZE) COPY (SELECT 1) TO '$W/${LOG}' (USE_TMP_FILE false)`,
    `EXPLAIN /* SELECT */ ANALYZE COPY (SELECT 1) TO '$W/${LOG}' (USE_TMP_FILE false)`,
    `/* EXPLAIN SELECT */ EXPLAIN ANALYZE COPY (SELECT 1) TO '$W/${LOG}' (USE_TMP_FILE false)`,
    "EXPLAIN ANALYZE INSERT INTO events VALUES (1)",
    "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
    "EXPLAIN ANALYZE EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
    "PIVOT events ON scope",
    "EXPORT DATABASE '$W/empty'",
    "IMPORT DATABASE '$W'",
    "IMPORT DATABASE '$O'",
    "ATTACH '$W/new.db'",
    "ATTACH '$O/new.db'",
    "CREATE TABLE t (a INTEGER)",
    "CREATE OR REPLACE VIEW events AS SELECT 1",
    "CREATE SECRET (TYPE s3)",
    "INSERT INTO events VALUES (1)",
    "DROP VIEW events",
    "CHECKPOINT",
    "VACUUM",
    `FROM enable_profiling(save_location = '$W/${LOG}'); SELECT 1; SELECT 2`,
    `FROM system.main."Enable_Profiling"(save_location = '$W/${LOG}'); SELECT 1; SELECT 2`,
    `SELECT (SELECT 1 FROM enable_profiling(save_location = '$W/${LOG}')); SELECT 1; SELECT 2`,
    `DESCRIBE FROM enable_profiling(save_location = '$W/${LOG}'); SELECT 1; SELECT 2`,
    `FROM query('FROM enable_profiling(save_location = ''$W/${LOG}'')'); SELECT 1; SELECT 2`,
    `EXPLAIN ANALYZE FROM enable_profiling(save_location = '$W/${LOG}'); SELECT 1; SELECT 2`,
    `FROM enable_profiling(save_location = '$W/${LOG}')$0; SELECT 1`,
    "FROM enable_logging('QueryLog', storage = 'file', storage_path = '$W/empty'); SELECT 1",
    "FROM enable_logging('QueryLog', storage = 'stdout'); SELECT 1",
    "FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    // What changes DuckDB.
    "SET threads = 1",
    "SET VARIABLE x = 1",
    "RESET threads",
    "SET lock_configuration = false",
    "SET enable_external_access = true",
    "SET allowed_directories = ['/']",
    "PRAGMA threads = 1",
    "PRAGMA version",
    "PRAGMA profiling_output = '$W/out.json'",
    "CALL pragma_version()",
    "USE memory",
    "PREPARE p AS SELECT 1",
    "BEGIN",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '$W/x.duckdb_extension'",
    "UPDATE EXTENSIONS",
    // What lies elsewhere.
    "FROM '$O/credentials.json'",
    "FROM read_text('$O/credentials.json')",
    "FROM read_text('/etc/passwd')",
    "FROM read_csv('/etc/passwd', header = false)",
    "FROM sniff_csv('/etc/passwd')",
    "FROM read_text('$W/../*/credentials.json')",
    "FROM read_text('$W/link.json')",
    "FROM read_text('$W/folder/credentials.json')",
    "FROM read_text('$W/folder/*')",
    // What lies in the warehouse and is of no table.
    "FROM read_text('$W/credentials.json')",
    "FROM read_text('$R/credentials.json')",
    "FROM read_text('$W/snapshots/../credentials.json')",
    "FROM read_text('$W/credentials/uk.json')",
    "FROM read_text('$W/.hidden.json')",
    "FROM read_text('$W/*.json')",
    "FROM read_text('$W/*/*.json')",
    "FROM read_text('$W/*/*/*.ndjson')",
    "FROM read_text('$W/**/*.ndjson')",
    "FROM read_text('$W/accounts/uk/lease.json')",
    "FROM glob('$W/*')",
    "FROM glob('/**')",
    "FROM glob('$O/*')",
    "FROM 'credentials.json'",
    "FROM read_text('package.json')",
    "SELECT getenv('HOME')",
    "FROM 'https://example.com/x.csv'",
    "FROM read_json('http://127.0.0.1:1/x.json')",
    "FROM 's3://bucket/x.parquet'",
    "FROM duckdb_secrets()",
  ])("%s", async (sql) => {
    const { made, outside } = await warehouseBesideSecrets();
    const before = await tree(made.directory);

    const file = join(await temporaryDirectory(), "result.parquet");
    await writeFile(file, "");
    const text = sql
      .replaceAll("$W", made.directory)
      .replaceAll("$R", relative(process.cwd(), made.directory))
      .replaceAll("$O", outside)
      .replaceAll("$0", "\0");
    for (const ask of [query, writeParquet]) {
      const error: unknown = await ask(made.views, text, {}, file).catch((thrown: unknown) => thrown);

      expect(error).toMatchObject({ code: "QUERY_FAILED" });
      expect(`${error}`).not.toContain("hunter2");
      expect(await tree(made.directory)).toEqual(before);
      expect(await readdir(outside)).toEqual(["credentials.json", "schema.sql"]);
      // DuckDB deletes what it has begun to write and could not finish.
      expect(await readFile(file, "utf8").catch(() => "")).toBe("");
    }
  });

  it.each(["SELECT 1) TO '$F' --", "SELECT 1; SELECT 2", "EXPLAIN SELECT 1", "DESCRIBE events"])(
    "%j for Parquet, and leaves its file empty",
    async (sql) => {
      const { views } = await warehouseWithEvents("warehouse");
      const file = join(await temporaryDirectory(), "result.parquet");
      await writeFile(file, "");

      const asked = writeParquet(views, sql.replace("$F", file), {}, file);

      await expect(asked).rejects.toMatchObject({ code: "QUERY_FAILED" });
      expect(await readFile(file, "utf8")).toBe("");
    },
  );

  it.each([
    ["COPY (SELECT 1) TO 'x.csv'", "This does more than read."],
    ["FROM enable_logging()", "The function enable_logging does more than read."],
    ["SELECT uuid FROM events WHERE 7 < -1e400", "What this reads cannot be told. Is a number in it beyond"],
    ["FROM 'credentials.json'", 'Cannot access file "credentials.json"'],
    ["FROM 'https://example.com/x.csv'", 'Cannot access file "https://example.com/x.csv"'],
  ])("%s, and says what is allowed", async (sql, reason) => {
    const { views } = await warehouse();

    const error: unknown = await query(views, sql).catch((thrown: unknown) => thrown);

    expect(`${error}`).toContain(reason);
    expect(`${error}`).toContain("query reads the tables of this warehouse and their files, with SELECT,");
  });
});

/** Every file of the warehouse with its text, links not followed. */
async function tree(directory: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(file, "latin1")])),
  );
}
