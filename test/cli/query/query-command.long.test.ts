// `query` as a person and a script use it: where the SQL comes from, what form the result has, where it goes.

import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { Simulator } from "../../simulator/simulator.ts";
import {
  against,
  type Ended,
  type SyncOptions,
  sync,
  syncProcess,
  writeCredentials,
} from "../command-line.ts";

const SQL =
  "SELECT v.* FROM (VALUES ('a', 'uk'), ('b', NULL)) v(uuid, scope) WHERE (SELECT count(*) FROM events) = 2 ORDER BY uuid";

/** A folder with a warehouse of two events. */
let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "brand-events-"));
  await using simulator = await Simulator.start({ events: makeEvents(2) });
  await writeCredentials(cwd, simulator);
  await sync(["run", ...against(simulator)], { cwd });
});

afterAll(() => rm(cwd, { recursive: true }));

const run = (args: readonly string[], options: Partial<SyncOptions> = {}): Promise<Ended> =>
  sync(["query", ...args], { cwd, ...options });

describe("the SQL of a query", () => {
  it.each([
    ["-- a title\nSELECT 1 AS n", "n\n1\n"],
    ["--title\nSELECT 1 AS n", "n\n1\n"],
    ["--a=b\nSELECT 1 AS n", "n\n1\n"],
    ["-- a title\r\nSELECT 1 AS n", "n\n1\n"],
    ["/* a title */ SELECT 1 AS n", "n\n1\n"],
    ["-- one\n/* two */ -- three\nEXPLAIN SELECT 1", "physical_plan"],
  ])("may begin with a comment: %j", async (sql, expected) => {
    const { exitCode, stdout, stderr } = await run(["--format", "csv", sql]);

    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(expected);
  });

  it.each(["America/New_York", "Asia/Tokyo"])(
    "finds the same rows on a computer in %s: instants and days are those of UTC",
    async (zone) => {
      const sql = `SELECT TIMESTAMP '2026-07-01 00:00:00' = TIMESTAMPTZ '2026-07-01 00:00:00Z', now()::TIMESTAMP = now() AT TIME ZONE 'UTC',
      current_date = (now() AT TIME ZONE 'UTC')::DATE, from_iso8601_timestamp('2026-07-01T02:00:00+02:00'), date_trunc('day', TIMESTAMPTZ '2026-07-01 03:00:00Z')`;

      const { stdout } = await syncProcess(["query", "--json", sql], { cwd, env: { TZ: zone } });

      expect(JSON.parse(stdout)).toMatchObject({
        rows: [["true", "true", "true", "2026-07-01 00:00:00+00", "2026-07-01 00:00:00+00"]],
      });
    },
  );

  it("is no comment where it is an option that does not exist", async () => {
    const { exitCode, stderr } = await run(["--formt=csv", "SELECT 1"]);

    expect(exitCode).toBe(2);
    expect(stderr).toContain("unknown option '--formt=csv'");
  });

  it.each([["-f"], ["--file"]])("comes from a file with %s, with a byte order mark too", async (option) => {
    const folder = await temporaryDirectory();
    await writeFile(join(folder, "q.sql"), `\ufeff-- Title\n${SQL};\n`);

    const { exitCode, stdout } = await run([option, join(folder, "q.sql"), "--format", "csv"]);

    expect([exitCode, stdout]).toEqual([0, "uuid,scope\na,uk\nb,\n"]);
  });

  it.each([[["-"]], [["-f", "-"]]])("comes from standard input with %j", async (args) => {
    const stdin = Readable.from([Buffer.from("-- ä"), Buffer.from("\nSELECT 'ü' AS x")]);

    const { exitCode, stdout } = await run([...args, "--format", "csv"], { stdin });

    expect([exitCode, stdout]).toEqual([0, "x\nü\n"]);
  });

  it.each([
    ["no SQL", [], "There is no SQL. query "],
    ["an empty text", [""], "There is no SQL. query "],
    ["an empty input", ["-"], "There is no SQL. query "],
    ["a comment alone", ["-- SELECT 1"], "There is no SQL. query "],
    ["SQL and a file", ["SELECT 1", "-f", "q.sql"], "There is SQL twice"],
    ["standard input and a file", ["-", "-f", "q.sql"], "There is SQL twice"],
    [
      "a file that does not exist",
      ["-f", "none.sql"],
      "there is no such file or folder (ENOENT). Correct --file.",
    ],
    ["a folder", ["-f", "warehouse"], "it is a folder (EISDIR)"],
    ["a text that is no UTF-8", ["-f", "latin1.sql"], "is not UTF-8 text"],
    ["a saved query with its placeholder", ["SELECT '{{account}}'"], "has the placeholder {{account}}"],
  ])("%s exits with 2 and says what to do", async (_, args, expected) => {
    await writeFile(join(cwd, "latin1.sql"), Buffer.from("SELECT 'ü'", "latin1"));

    const { exitCode, stdout, stderr } = await run(args);

    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(expected);
  });

  it.each([[["-"]], [["-f", "-"]]])(
    "with a placeholder is to be in a file, not standard input again: %j",
    async (args) => {
      const { exitCode, stderr } = await run(args, { stdin: Readable.from(["SELECT '{{account}}'"]) });

      expect(exitCode).toBe(2);
      expect(stderr).toContain(": sed 's/{{account}}/NAME/g' FILE | ");
    },
  );

  it("stops when it is interrupted while it waits for standard input", async () => {
    const stop = new AbortController();
    const ending = run(["-"], { stdin: new PassThrough(), signal: stop.signal });
    setImmediate(() => stop.abort(new SyncError("INTERRUPTED", "stopped")));

    expect((await ending).exitCode).toBe(130);
  });
});

describe("the result of a query", () => {
  it.each([
    [[], "uuid  scope\n────  ─────\na     uk\nb     NULL\n(2 rows)\n"],
    [["--format", "csv"], "uuid,scope\na,uk\nb,\n"],
    [["--json"], '{"columns":["uuid","scope"],"rows":[["a","uk"],["b",null]]}\n'],
  ])("has the form of %j", async (args, expected) => {
    expect(await run([...args, SQL])).toEqual({ exitCode: 0, stdout: expected, stderr: "" });
  });

  it.each([
    ["table", 'l                    n\n───────────────────  ────\n["it\'s","a\\n",null]  NULL\n(1 row)\n'],
    ["csv", 'l,n\n"[""it\'s"",""a\\n"",null]",\n'],
    ["json", `[\n{"l":["it's","a\\n",null],"n":null}\n]\n`],
    ["ndjson", `{"l":["it's","a\\n",null],"n":null}\n`],
  ])("has a list of texts as JSON, which is no text in it: %s", async (format, expected) => {
    const sql = "SELECT ['it''s', 'a' || chr(10), NULL] AS l, NULL::VARCHAR[] AS n";

    expect(await run(["--format", format, sql])).toMatchObject({ exitCode: 0, stdout: expected });
    expect(JSON.parse((await run(["--json", sql])).stdout)).toMatchObject({
      rows: [[["it's", "a\n", null], null]],
    });
  });

  const WIDE = "SELECT repeat('x', 200) AS a, repeat('y', 200) AS b";

  it("is cut to the terminal, unless --full", async () => {
    const cut = await run([WIDE], { columns: 40 });
    const full = await run([WIDE, "--full"], { columns: 40 });
    const piped = await run([WIDE]);

    expect(
      Math.max(
        ...cut.stdout
          .split("\n")
          .slice(0, 3)
          .map((line) => line.length),
      ),
    ).toBe(40);
    expect(full.stdout).toContain("x".repeat(200));
    expect(piped.stdout).toBe(full.stdout);
  });
});

describe("query --out", () => {
  it("writes a file of the form that its ending says, and tells how many rows", async () => {
    const folder = await temporaryDirectory();

    const { exitCode, stdout, stderr } = await run([SQL, "--out", join(folder, "x.csv")]);

    expect([exitCode, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(/^2 rows in .*x\.csv\n$/);
    expect(await readFile(join(folder, "x.csv"), "utf8")).toBe("uuid,scope\r\na,uk\r\nb,\r\n");
    expect(await readdir(folder)).toEqual(["x.csv"]);
  });

  it.each([
    ["x.ndjson", [], '{"n":"1"}\n'],
    ["x.JSON", [], '[\n{"n":"1"}\n]\n'],
    ["x.csv", ["--format", "ndjson"], '{"n":"1"}\n'],
    ["x.json", ["--json"], '{"columns":["n"],"rows":[["1"]]}\n'],
    ["x.tsv", [], "n\r\n1\r\n"],
    ["x.xlsx", ["--format", "csv"], "n\r\n1\r\n"],
    ["x", [], "n\n─\n1\n(1 row)\n"],
    ["x.TXT", [], "n\n─\n1\n(1 row)\n"],
  ])("writes %s with %j", async (name, args, expected) => {
    const folder = await temporaryDirectory();

    await run(["SELECT 1 AS n", "--out", join(folder, name), ...args], { columns: 10 });

    expect(await readFile(join(folder, name), "utf8")).toBe(expected);
  });

  it.each(["x.parquet", "it's [a] *b?.parquet"])(
    "writes Parquet into %s with the types of the columns, in order",
    async (name) => {
      const folder = join(await temporaryDirectory(), "f [1]");
      await mkdir(folder);
      const sql =
        "-- Title\nSELECT TRY_CAST(event_date AS DATE) AS day, 1.10::DECIMAL(4, 2) AS d, [uuid] AS l, NULL AS n, 'a' || chr(10) AS t, 9007199254740993 AS i FROM events ORDER BY uuid DESC; -- end";

      const { exitCode, stderr } = await run([sql, "--out", join(folder, name)]);

      expect([exitCode, stderr]).toEqual([0, `2 rows in ${join(folder, name)}\n`]);
      expect(await readdir(folder)).toEqual([name]);
      await rename(join(folder, name), join(folder, "..", "plain.parquet"));
      const { types, rows } = await readParquet(join(folder, "..", "plain.parquet"));
      expect(types).toEqual(["DATE", "DECIMAL(4,2)", "VARCHAR[]", "INTEGER", "VARCHAR", "BIGINT"]);
      expect(rows.map((row) => row.slice(4))).toEqual([
        ["a\n", "9007199254740993"],
        ["a\n", "9007199254740993"],
      ]);
      const uuids = rows.map((row) => row[2]);
      expect(uuids).toEqual(uuids.toSorted().toReversed());
    },
  );

  it.each(["x.xlsx", "x.csv.gz", "x.tmp"])("refuses %s: its ending is no format", async (name) => {
    const folder = await temporaryDirectory();

    const { exitCode, stderr } = await run(["SELECT 1", "--out", join(folder, name)]);

    expect(exitCode).toBe(2);
    expect(stderr).toContain("is none of .txt, .csv, .tsv, .json, .ndjson, .jsonl, .parquet");
    expect(await readdir(folder)).toEqual([]);
  });

  it("keeps in Parquet what the format has no type for, and writes no rounded value", async () => {
    const folder = await temporaryDirectory();
    const file = join(folder, "x.parquet");
    const values = [
      `sum(9007199254740993) AS "a ""b"""`,
      "[9007199254740993::UHUGEINT] AS l",
      "{'HUGEINT': 9007199254740993::HUGEINT} AS s",
      "INTERVAL '1.234567 seconds' AS i",
      "'12:00:00.123456+02:00'::TIMETZ AS t",
    ];

    const { exitCode } = await run([`SELECT ${values.join(", ")} FROM range(1)`, "--out", file]);
    const tooLarge = await run(["SELECT sum(170141183460469231731687303715884105727)", "--out", file]);

    expect([exitCode, tooLarge.exitCode]).toEqual([0, 1]);
    const { types, rows } = await readParquet(file);
    expect(types).toEqual([
      "DECIMAL(38,0)",
      "DECIMAL(38,0)[]",
      'STRUCT("HUGEINT" DECIMAL(38,0))',
      "VARCHAR",
      "VARCHAR",
    ]);
    expect(rows.map((row) => row.map(String))).toEqual([
      [
        "9007199254740993",
        "[9007199254740993]",
        expect.stringContaining("9007199254740993"),
        "00:00:01.234567",
        "12:00:00.123456+02",
      ],
    ]);
  });

  it("writes no Parquet to standard output", async () => {
    const { exitCode, stdout, stderr } = await run(["SELECT 1", "--format", "parquet"]);

    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("name a file with --out");
  });

  it("replaces a file, keeps its mode, follows a link to it, and says so", async () => {
    const folder = await temporaryDirectory();
    await writeFile(join(folder, "old.csv"), "before");
    await chmod(join(folder, "old.csv"), 0o666);
    await symlink("old.csv", join(folder, "link.csv"));

    const { stderr } = await run(["SELECT 1 AS n", "--out", join(folder, "link.csv")]);

    expect(stderr).toMatch(/^1 row in .*old\.csv, in place of the file before\n$/);
    expect(await readFile(join(folder, "link.csv"), "utf8")).toBe("n\r\n1\r\n");
    expect((await stat(join(folder, "old.csv"))).mode & 0o777).toBe(0o666);
    expect((await readdir(folder)).toSorted()).toEqual(["link.csv", "old.csv"]);
  });

  it.each([
    ["a folder", "folder", "it is a folder"],
    ["a folder that does not exist", "none/x.csv", "there is no such file or folder (ENOENT)"],
    ["a device", "/dev/null", "it is not an ordinary file"],
    ["a file of the warehouse", "$W/views.sql", "it lies in the warehouse, which is only read"],
    ["a new file in the warehouse", "$W/publications/default/x.csv", "it lies in the warehouse"],
    ["a link into the warehouse", "inside/x.csv", "it lies in the warehouse"],
    ["a URL", "https://example.com/x.csv", "a file, and no URL"],
  ])("refuses %s before the query runs", async (_, out, reason) => {
    const folder = await temporaryDirectory();
    const warehouse = join(cwd, "warehouse");
    await mkdir(join(folder, "folder"));
    await symlink(warehouse, join(folder, "inside"));
    const before = await readdir(warehouse, { recursive: true });

    const { exitCode, stderr } = await sync(
      ["query", "SELEC", "--format", "csv", "--warehouse", warehouse, "--out", out.replace("$W", warehouse)],
      { cwd: folder },
    );

    expect(exitCode).toBe(2);
    expect(stderr).toContain(reason);
    expect(await readdir(warehouse, { recursive: true })).toEqual(before);
  });
});

/** What any DuckDB reads. */
async function readParquet(
  file: string,
): Promise<{ readonly types: readonly string[]; readonly rows: readonly (readonly string[])[] }> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const result = await connection.runAndReadAll(`FROM '${file}'`);
  return {
    types: result.columnTypes().map(String),
    rows: result.getRows().map((row) => row.map(String)),
  };
}
