// The SQL of the pages runs on a small warehouse as it stands there: with `query`, or in a DuckDB of one's own.

import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, test } from "vitest";
import { RESULT_FORMATS } from "../../bin/cli/options/options.ts";
import { against, sync, writeCredentials } from "../cli/command-line.ts";
import { DUCKDB_VERSIONS, folderOf, isSkipped, runIn } from "../duckdb/duckdb-versions.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { column, tableBelow } from "./markdown.ts";

const OWN_DUCKDB = ".read warehouse/views.sql\n";

const blocks = (page: string, language: string): readonly string[] => {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
  const fences = text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"));
  return [...fences].map(([, block = ""]) => block);
};

/** A folder with a warehouse as `npm start` makes one. */
async function demo(): Promise<string> {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(30) });
  await writeCredentials(cwd, simulator);
  const { exitCode } = await sync(["run", "--account", "demo", ...against(simulator)], { cwd });
  expect(exitCode).toBe(0);
  return cwd;
}

describe.each(["querying.md", "tables.md"])("the SQL of docs/%s", (page) => {
  test("runs with query, and finds something", async () => {
    const cwd = await demo();
    const statements = blocks(page, "sql").filter((sql) => !sql.startsWith(OWN_DUCKDB));
    expect(statements.length).toBeGreaterThan(4);

    const empty: string[] = [];
    for (const sql of statements) {
      const { exitCode, stdout, stderr } = await sync(["query", sql, "--format", "ndjson"], { cwd });

      expect([sql, exitCode, stderr]).toEqual([sql, 0, ""]);
      if (stdout === "") empty.push(sql);
    }

    // The simulated service sends dates that are dates, and the warehouse has one publication.
    expect(empty.filter((sql) => !/misfits > 0|change = 'changed'|published_at >=/.test(sql))).toEqual([]);
  });

  test("runs in a DuckDB of one's own", async () => {
    const cwd = await demo();
    for (const csv of blocks(page, "csv")) await writeFile(join(cwd, "targets.csv"), csv);
    const views = await readFile(join(cwd, "warehouse/views.sql"), "utf8");

    for (const block of blocks(page, "sql").filter((sql) => sql.startsWith(OWN_DUCKDB))) {
      const connection = await (await DuckDBInstance.create(":memory:")).connect();
      await connection.run(`SET file_search_path = '${cwd}'`);
      const result = await connection.runAndReadAll(views + block.slice(OWN_DUCKDB.length));

      expect(result.currentRowCount).toBeGreaterThan(0);
    }
  });
});

describe.skipIf(isSkipped).each(DUCKDB_VERSIONS)("the SQL of the pages in DuckDB %s", (version) => {
  test.each(["querying.md", "tables.md"])("runs: docs/%s", async (page) => {
    const cwd = await demo();
    for (const csv of blocks(page, "csv")) await writeFile(join(cwd, "targets.csv"), csv);
    const views = await readFile(join(cwd, "warehouse/views.sql"), "utf8");
    const statements = blocks(page, "sql").map((sql) => sql.replace(OWN_DUCKDB, ""));

    expect(runIn(folderOf(version), [views, ...statements], { cwd })).toHaveLength(1 + statements.length);
  });
});

test("the table of formats in docs/querying.md has every format", () => {
  expect(column(tableBelow("querying.md", "## Formats"), "Format")).toEqual(RESULT_FORMATS);
});
