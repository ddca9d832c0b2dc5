// A query's result: every value as text, nothing lost, DuckDB's own words when the SQL is wrong, and what its tables lack: the
// units behind those that it names, and nothing else.

import { readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { basename, dirname, join } from "node:path";
import type { DuckDBPendingResult } from "@duckdb/node-api";
import { describe, expect, it } from "vitest";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { memoryLimitBytes, withPrepared } from "../../../bin/cli/query/locked-duckdb.ts";
import { missingUnits } from "../../../bin/cli/query/missing-units.ts";
import { onceMoreIfGone, query, queryRows } from "../../../bin/cli/query/query.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { aPublication } from "../../job/storage/publications.ts";
import { eventRow, Warehouse, warehouse } from "../warehouse.ts";

const NO_TABLES = {
  directory: "/no/warehouse",
  read: async () => ({ sql: "", accounts: [] }),
};

describe("query", () => {
  it.each([
    ["NULL", null],
    ["'it''s'", "it's"],
    ["''", ""],
    ["'a' || chr(0) || chr(8232) || '😀'", "a\u0000\u2028😀"],
    ["chr(65279) || 'x'", "\ufeffx"],
    ["chr(65279) || 'longer than twelve bytes'", "\ufefflonger than twelve bytes"],
    ["[chr(65279), {'a': chr(65279)}.a]", '["\ufeff","\ufeff"]'],
    ["1", "1"],
    ["9007199254740993", "9007199254740993"],
    ["170141183460469231731687303715884105727::HUGEINT", "170141183460469231731687303715884105727"],
    ["1.10::DECIMAL(5, 2)", "1.10"],
    ["3::DOUBLE", "3.0"],
    ["1e300::DOUBLE", "1e+300"],
    ["0.1::DOUBLE", "0.1"],
    ["true", "true"],
    ["DATE '2026-02-03'", "2026-02-03"],
    ["TIMESTAMP '2026-02-03 04:05:06.789'", "2026-02-03 04:05:06.789"],
    ["TIMESTAMPTZ '2026-02-03 04:05:06+00'", "2026-02-03 04:05:06+00"],
    ["[TIMESTAMPTZ '2026-02-03 04:05:06+02']", "[2026-02-03 02:05:06+00]"],
    ["'-0.0'::DOUBLE", "-0.0"],
    ["'-0.0'::FLOAT", "-0.0"],
    ["'-0'::DOUBLE", "-0.0"],
    ["['-0'::DOUBLE, 2, NULL]", "[-0.0, 2.0, NULL]"],
    ["{'a': ['-0'::DOUBLE], 'b': 'it''s', 'c': NULL}", "{'a': [-0.0], 'b': 'it''s', 'c': NULL}"],
    ["MAP {'a': '-0'::DOUBLE}", "{'a': -0.0}"],
    ["[1, NULL]", "[1, NULL]"],
    ["{'a': 'x'}", "{'a': 'x'}"],
    [`'{"a":1.10}'::JSON`, '{"a":1.10}'],
  ])("gives %s as %j", async (expression, expected) => {
    expect(await query(NO_TABLES, `SELECT ${expression} AS value`)).toEqual({
      columns: ["value"],
      rows: [[expected]],
    });
  });

  const gone = (file: string): string =>
    `IO Error: Cannot open file "/warehouse/${file}": No such file or directory`;

  it.each([
    [gone("run-log/uk/2025-01-01T06-00-00.000Z-1.ndjson"), 2],
    [gone("publications/uk/0000000001.ndjson"), 1],
    [`Binder Error: no column run-log/ in ${gone("run-log/uk/1.ndjson")}`, 1],
  ])("that fails with %s is tried %i times in all", async (message, times) => {
    let tried = 0;
    const failing = async (): Promise<never> => {
      tried += 1;
      throw new Error(message);
    };

    await expect(onceMoreIfGone(failing)).rejects.toThrow(message);
    expect(tried).toBe(times);
  });

  it("gives rows in batches that fit into memory, however long they are", async () => {
    const sizes: number[] = [];

    await queryRows(NO_TABLES, "SELECT repeat('x', 30000) AS a FROM range(3000)", {}, async ({ batches }) => {
      for await (const rows of batches) sizes.push(rows.length);
    });

    expect(sizes.reduce((sum, rows) => sum + rows)).toBe(3000);
    expect(Math.max(...sizes)).toBe(35);
  });

  it("leaves no connection", async () => {
    const connection = await withPrepared(NO_TABLES, "SELECT 1", {}, async (used) => used);

    await expect(connection.run("SELECT 1")).rejects.toThrow("disconnected");
  });

  it("ends with the signal's reason when it is stopped", async () => {
    const reason = new SyncError("INTERRUPTED", "stopped");
    const stop = new AbortController();
    const endless = "SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b";

    const querying = query(NO_TABLES, endless, { signal: stop.signal });
    setTimeout(() => stop.abort(reason), 300);

    await expect(querying).rejects.toBe(reason);
    await expect(query(NO_TABLES, "SELECT 1", { signal: stop.signal })).rejects.toBe(reason);
  });

  it("interrupts DuckDB when it is stopped", async () => {
    const long = "SELECT sum(range) FROM range(1000000000)";
    const stop = new AbortController();
    const { promise: begun, resolve } = Promise.withResolvers<DuckDBPendingResult | undefined>();
    const options = { signal: stop.signal };

    const stopped = withPrepared(NO_TABLES, long, options, async (_, [statement]) => {
      resolve(await statement?.start());
      stop.abort(new SyncError("INTERRUPTED", "stopped"));
    });

    await expect(stopped).rejects.toThrow("stopped");
    await expect((await begun)?.getResult()).rejects.toThrow("INTERRUPT Error");
  });

  it("takes half of the computer's memory at most", async () => {
    const { rows } = await query(NO_TABLES, "SELECT current_setting('memory_limit') AS taken");

    const [, number, unit = ""] = /^([0-9.]+) ([KMGT])iB$/.exec(String(rows[0]?.[0])) ?? [];
    const bytes = Number(number) * 1_024 ** ("KMGT".indexOf(unit) + 1);
    expect(bytes / totalmem()).toBeCloseTo(0.5, 1);
  });

  it.each([
    ["the computer's where there is no container", 8, 18_446_744_073_709_552_000, 4],
    ["the computer's where no limit is known", 8, 0, 4],
    ["the container's", 8, 2, 1],
  ])("takes half of %s", (_, ofComputer, ofContainer, expected) => {
    expect(memoryLimitBytes(ofComputer, ofContainer)).toBe(expected);
  });

  it("keeps what does not fit into memory in a folder of this user, which is gone afterwards", async () => {
    const seen: string[] = [];
    const sort = "SELECT current_setting('temp_directory') AS folder";
    const options = {
      onTables: async () => {
        for (const name of await readdir(tmpdir())) {
          // Other processes delete theirs at any time.
          const found =
            name.startsWith("brand-events-sync-") &&
            (await stat(join(tmpdir(), name)).catch(() => undefined));
          if (found) seen.push(`${name} ${(found.mode & 0o777).toString(8)}`);
        }
      },
    };

    const { rows } = await query(NO_TABLES, sort, options);
    const failed = await query(NO_TABLES, "SELECT error(current_setting('temp_directory'))").catch(String);

    const folder = String(rows[0]?.[0]);
    expect(seen).toContain(`${basename(folder)} 700`);
    const [left = ""] = /\S*brand-events-sync-\w+/.exec(String(failed)) ?? [];
    expect(dirname(left)).toBe(dirname(folder));
    for (const path of [folder, left]) await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("does without that folder where somebody takes it away", async () => {
    const ended = withPrepared(NO_TABLES, "SELECT 1", {}, async (connection) => {
      const found = await connection.runAndReadAll("SELECT current_setting('temp_directory')");
      await rm(String(found.value(0, 0)), { recursive: true });
      return "ended";
    });

    await expect(ended).resolves.toBe("ended");
  });

  it("loses no row of a long result", async () => {
    const { rows } = await query(NO_TABLES, "FROM range(10000)");

    expect(rows).toHaveLength(10_000);
    expect(rows.at(-1)).toEqual(["9999"]);
  });

  it.each([
    [
      "the order, and columns of the same name",
      "SELECT 2 AS a, 1 AS a UNION ALL SELECT 4, 3 ORDER BY 1 DESC",
      ["a", "a"],
      [
        ["4", "3"],
        ["2", "1"],
      ],
    ],
    ["the columns of a result without rows", "SELECT 1 AS a WHERE false", ["a"], []],
    [
      "the last of several statements, with comments and semicolons",
      "SELECT 1 AS a; -- first\nSELECT 2 AS b; -- last\n",
      ["b"],
      [["2"]],
    ],
  ])("gives %s", async (_, sql, columns, rows) => {
    expect(await query(NO_TABLES, sql)).toEqual({ columns, rows });
  });

  it("leaves aside what a newer version has written beside the columns", async () => {
    const made = await warehouse();
    await made.snapshot("uk", "2026-11-21T06-00-00.000Z", [eventRow("a", { later: { version: 2 } })]);
    await made.publish("uk", { events: 1, added: 0 });
    await made.put("publications/uk/0000000002.ndjson", [
      { ...aPublication({ publication: "0000000002", events: 1, added: 0 }), later: [2] },
    ]);
    await made.put("run-log/uk/2026-11-21T06-00-00.000Z-1.ndjson", [{ run_id: "r1", later: "2" }]);

    const { rows } = await query(
      made.views,
      "SELECT * FROM (SELECT uuid FROM events), (SELECT count(*) FROM publications), (SELECT run_id FROM sync_runs)",
    );

    expect(rows).toEqual([["a", "2", "r1"]]);
  });

  it("reads a warehouse that was moved", async () => {
    const made = await warehouse();
    await made.snapshot("uk", "2026-11-21T06-00-00.000Z", [eventRow("a")]);
    await made.publish("uk", { events: 1, added: 0 });
    await made.views.refresh("uk");
    await rename(made.directory, `${made.directory}-moved`);

    const moved = new Warehouse(`${made.directory}-moved`);

    expect((await query(moved.views, "SELECT uuid FROM events")).rows).toEqual([["a"]]);
  });

  it.each([
    ["SELEC 1", 'Parser Error: syntax error at or near "SELEC"'],
    ["SELECT * FROM evnts", 'Table with name evnts does not exist!\nDid you mean "events"?'],
    ["SELECT nothing FROM events", 'Referenced column "nothing" not found'],
    ["SELECT 'x'::INTEGER", "Could not convert string 'x' to INT32"],
    ["SELECT ?", "Values were not provided"],
    ["SELECT 1; SELEC 2", 'syntax error at or near "SELEC"'],
  ])("says what is wrong with %j, and which tables there are", async (sql, expected) => {
    const { views } = await warehouse();

    const error: unknown = await query(views, sql).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(SyncError);
    expect(error).toMatchObject({ code: "QUERY_FAILED" });
    expect(`${error}`).toContain(expected);
    expect(`${error}`).toContain(
      "The tables are events, event_snapshots, event_changes, publications, sync_runs, and the views events_typed and event_history;",
    );
    expect(`${error}`).not.toContain("Failed to extract");
  });

  it.each(["", "  -- nothing\n;"])("has nothing to run with %j", async (sql) => {
    await expect(query(NO_TABLES, sql)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("There is no SQL."),
    });
  });

  it.each([
    ["a function of dates", "SELECT month('a'::VARCHAR)", "explicit type casts.\nLINE 1: SELECT month"],
    ["a comparison with a date", "SELECT 'a'::VARCHAR > DATE '2026-01-01'", "an explicit cast is required"],
    ["a sum of texts", "SELECT sum('1.10'::VARCHAR)", "explicit type casts.\nLINE 1: SELECT sum"],
    ["a text that is no date", "SELECT CAST('2026-13-45' AS DATE)", "Conversion Error: "],
  ])("names TRY_CAST and no candidate functions for %s", async (_, sql, expected) => {
    const error: unknown = await query(NO_TABLES, sql).catch((thrown: unknown) => thrown);

    expect(`${error}`).toContain(expected);
    expect(`${error}`).toContain(
      "TRY_CAST(event_date AS DATE), or a number, exactly, TRY_CAST(amount AS DECIMAL(18, 2)).",
    );
    expect(`${error}`).not.toContain("Candidate");
  });

  const PREFIX = "Invalid Input Error: ";
  it.each([
    [2000, "x\nThe tables are"],
    [2001, "x…\nThe tables are"],
    [100_000, "x…\nThe tables are"],
  ])("shows 2000 characters of a message that has %i", async (characters, expected) => {
    const sql = `SELECT error(repeat('x', ${characters - PREFIX.length}))`;

    const error: unknown = await query(NO_TABLES, sql).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({
      message: expect.stringContaining(`${PREFIX}${"x".repeat(2000 - PREFIX.length - 1)}${expected}`),
    });
  });

  it("says that a published file is missing", async () => {
    const made = await warehouse();
    await made.publish("uk", { events: 1, added: 0 });

    await expect(query(made.views, "FROM events")).rejects.toMatchObject({
      code: "QUERY_FAILED",
      message: expect.stringMatching(
        /files are missing or unreadable\. Restore them from a backup.*part-\[0-9\]/s,
      ),
    });
  });
});

describe("json_extract_scalar", () => {
  it.each([
    [`{"a":"text"}`, "$.a", "text"],
    [`{"a":""}`, "$.a", ""],
    [`{"a":17}`, "$.a", "17"],
    [`{"a":9007199254740993}`, "$.a", "9007199254740993"],
    [`{"a":true}`, "$.a", "true"],
    [`{"a":false}`, "$.a", "false"],
    [`{"a":null}`, "$.a", null],
    [`{"a":{"b":1}}`, "$.a", null],
    [`{"a":[1]}`, "$.a", null],
    [`{"a":{"b":1}}`, "$.a.b", "1"],
    [`{"a":[1,"x"]}`, "$.a[1]", "x"],
    [`{"a b":{"c.d":1}}`, '$["a b"]["c.d"]', "1"],
    [`{}`, "$.a", null],
    [`"text"`, "$", "text"],
    [`not json`, "$.a", null],
    [String.raw`{"a":"\ud83d\ude00"}`, "$.a", "😀"],
    [String.raw`{"a":1,"b":"\ud800"}`, "$.a", "1"],
    [String.raw`{"b":"x\ud800y"}`, "$.b", "x\ufffdy"],
    [`{"a":1,"a":2}`, "$.a", "1"],
  ])("of %s at %s is %j", async (json, path, expected) => {
    const { views } = await warehouse();
    const sql = `SELECT json_extract_scalar(t, '${path}'), json_extract_scalar(t, '${path}') IS NULL FROM (VALUES ('${json}'), (NULL)) v(t)`;

    expect((await query(views, sql)).rows).toEqual([
      [expected, String(expected === null)],
      [null, "true"],
    ]);
  });
});

it("differs from Athena as docs/query.md says", async () => {
  const sql = `SELECT 7 / 2, typeof(avg(x::DECIMAL(18, 2))), contains([NULL, 'a'], 'x'),
    date_trunc('day', from_iso8601_timestamp('2026-01-01T01:00:00+02:00')) FROM range(3) t(x)`;

  expect((await query((await warehouse()).views, sql)).rows).toEqual([
    ["3.5", "DOUBLE", "false", "2025-12-31 00:00:00+00"],
  ]);
});

describe("half of a surrogate pair", () => {
  const event = String.raw`{"a":["x\ud800",1]}`;

  it.each([
    "json_extract(EVENT, '$.a[0]')::VARCHAR",
    `from_json(json_extract(EVENT, '$.a'), '["VARCHAR"]')[1]`,
    "(SELECT value FROM json_each(EVENT, '$.a') ORDER BY key LIMIT 1)",
    "EVENT::JSON->'a'->0",
  ])("ends %s with what helps", async (expression) => {
    const { views } = await warehouse();
    const sql = `SELECT ${expression} AS value FROM (VALUES ('${event}')) v(event)`;

    const failed: unknown = await query(views, sql.replace("EVENT", "event")).catch(String);
    const { rows } = await query(views, sql.replace("EVENT", "well_formed(event)"));

    expect(failed).toContain("write well_formed(event) for event");
    expect(String(rows[0]?.[0]).replaceAll('"', "")).toBe("x\ufffd");
  });

  it("is all that well_formed changes", async () => {
    const { views } = await warehouse();
    const texts = [String.raw`{"a":"\ud83d\ude00"}`, '{"a": 1.10, "a":2}', "no JSON"];
    const values = texts.map((text) => `('${text}')`).join(", ");

    const { rows } = await query(views, `SELECT well_formed(t) FROM (VALUES ${values}, (NULL)) v(t)`);

    expect(rows).toEqual([[texts[0]], [texts[1]], [null], [null]]);
  });
});

const ONE = "2026-11-21T06-00-00.000Z";
const TWO = "2026-11-22T06-00-00.000Z";
const THREE = "2026-11-23T06-00-00.000Z";

/** Whether it is the head, and what helps. */
async function missing(
  { directory, views }: Warehouse,
  tables: readonly string[],
): Promise<readonly string[]> {
  const { accounts } = await views.read();
  const found = missingUnits(accounts, new Set(tables), new GivenOptions({ warehouse: directory }, {}, "/"));
  return found.map(({ holds, snapshot_id, is_head, message }) => {
    const [remedy] = /retire \S+|--over-damaged|counts no more/.exec(message) ?? [];
    return `${holds} ${snapshot_id} ${is_head}: ${remedy}`;
  });
}

it.each([
  [["events"], [`snapshot ${TWO} true: --over-damaged`]],
  [["events_typed"], [`snapshot ${TWO} true: --over-damaged`]],
  [
    ["event_snapshots", "publications"],
    [`snapshot ${ONE} false: retire ${ONE}`, `snapshot ${TWO} true: --over-damaged`],
  ],
  [["event_changes"], [`changes ${TWO} false: --over-damaged`]],
  [["event_history"], [`changes ${TWO} false: --over-damaged`]],
  [["publications", "sync_runs"], []],
  [["others"], []],
])("%j lack %j", async (tables, expected) => {
  const made = await warehouse();
  await made.snapshot("uk", ONE, [eventRow("a")]);
  await made.publish("uk", { snapshot_id: ONE, events: 1, added: 0 });
  await made.snapshot("uk", TWO, [eventRow("a"), eventRow("b")]);
  await made.publish("uk", {
    publication: "0000000002",
    snapshot_id: TWO,
    base_snapshot_id: ONE,
    events: 2,
    added: 1,
  });
  await rm(join(made.directory, layout("uk").part(ONE, 0)));
  await rm(join(made.directory, layout("uk").part(TWO, 0)));

  expect(await missing(made, tables)).toEqual(expected);
});

it("changes from before the last restart count no more", async () => {
  const made = await warehouse();
  for (const [index, snapshot_id] of [ONE, TWO, THREE].entries()) {
    await made.snapshot("uk", snapshot_id, [eventRow("a")]);
    await made.publish("uk", {
      publication: `000000000${index + 1}`,
      snapshot_id,
      base_snapshot_id: null,
      events: 1,
      added: 1,
    });
  }

  expect(await missing(made, ["event_changes"])).toEqual([
    `changes ${ONE} false: counts no more`,
    `changes ${TWO} false: counts no more`,
    `changes ${THREE} false: --over-damaged`,
  ]);
});
