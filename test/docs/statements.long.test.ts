// The code of the page runs on a small warehouse as it stands there: SQL with `query`, commands in a shell, and Python.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { RESULT_FORMATS } from "../../bin/cli/options/options.ts";
import { laptop, SYNC, sync } from "../cli/command-line.ts";
import {
  DUCKDB_VERSIONS,
  FRAMES_FOLDER,
  folderOf,
  isSkipped,
  PROGRAM,
  runBlocks,
  runIn,
} from "../duckdb/duckdb-versions.ts";
import { TrinoSQL } from "../lib/trino-grammar.ts";
import { customEvent, makeEvents } from "../simulator/simulated-event.ts";
import { codeBlocks, termsBelow, unquoted } from "./markdown.ts";

const blocks = (page: string, language: string): readonly string[] =>
  codeBlocks(page)
    .filter((block) => block.language === language)
    .map(({ code }) => code);

/** Commands of docs/query.md that no test runs, by how they begin, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "duckdb -init warehouse/views.sql -ui": "It downloads an extension and opens a browser.",
};

const isNotRun = (code: string): boolean => Object.keys(NOT_RUN).some((begin) => code.startsWith(begin));

/** A folder with a warehouse as `npm start` makes one. */
async function demo(account = "demo"): Promise<string> {
  const { cwd, ask } = await laptop({ events: makeEvents(30) });
  expect((await ask("run", "--account", account)).exitCode).toBe(0);
  return cwd;
}

test("the SQL of docs/query.md runs with query, and finds something", async () => {
  const cwd = await demo();
  const statements = blocks("query.md", "sql");
  expect(statements.length).toBeGreaterThan(10);

  const empty: string[] = [];
  for (const sql of statements) {
    const { exitCode, stdout, stderr } = await sync(["query", sql, "--format", "ndjson"], { cwd });

    expect([sql, exitCode, stderr]).toEqual([sql, 0, ""]);
    if (stdout === "") empty.push(sql);
  }

  // The simulated service sends dates that are dates, and the warehouse has one publication.
  expect(empty.filter((sql) => !/misfits > 0|change = 'changed'|published_at >=/.test(sql))).toEqual([]);
});

test("the SQL runs where an event has half of a surrogate pair, or a text in place of an array", async () => {
  const half = String.raw`"name":"\ud800","regions":["\udfff","uk"],"sector":{"name":"\udc00"}`;
  const events = [
    customEvent("1c48fc8e-ae9e-46d1-a7c1-4b108a0b85e6", half),
    customEvent("2c48fc8e-ae9e-46d1-a7c1-4b108a0b85e6", '"name":"x","regions":"uk"'),
  ];
  const { cwd, ask } = await laptop({ events });
  await ask("run", "--account", "demo");

  const printed: string[] = [];
  for (const sql of blocks("query.md", "sql")) {
    const { exitCode, stdout, stderr } = await sync(["query", sql, "--format", "ndjson"], { cwd });

    expect([sql, exitCode, stderr]).toEqual([sql, 0, ""]);
    printed.push(stdout);
  }

  expect(printed).toContainEqual(expect.stringContaining('{"region":"(no array)","events":"1"}'));
});

test.skipIf(isSkipped).each(DUCKDB_VERSIONS)(
  "the SQL of docs/query.md runs in DuckDB %s",
  async (version) => {
    const cwd = await demo();
    const views = await readFile(join(cwd, "warehouse/views.sql"), "utf8");
    const statements = blocks("query.md", "sql");

    expect(runIn(folderOf(version), [views, ...statements], { cwd })).toHaveLength(1 + statements.length);
  },
);

test("what docs/query.md gives for both engines is read by Athena's grammar as well", () => {
  const page = readFileSync(new URL("../../docs/query.md", import.meta.url), "utf8");
  const both = [...page.matchAll(/[Ii]n both engines:\n\n```sql\n([\s\S]*?);?\n```/g)].map(
    ([, sql = ""]) => sql,
  );

  expect(both).toHaveLength(1);
  expect(both.flatMap((sql) => new TrinoSQL().validate(sql))).toEqual([]);
});

const hasShell = process.platform !== "win32" && (existsSync(PROGRAM) || process.env["CI"] === "true");
if (!hasShell)
  process.stderr.write("The test of commands in docs/query.md is skipped: npm run setup:duckdb\n");

test.skipIf(!hasShell)("each command of docs/query.md runs, and finds or writes something", async () => {
  const cwd = await demo("uk");
  const bin = join(cwd, "bin");
  await mkdir(bin);
  const program = `#!/bin/sh\nexec '${process.execPath}' '${SYNC}' "$@"\n`;
  await writeFile(join(bin, "brand-events-sync"), program, { mode: 0o755 });
  await symlink(PROGRAM, join(bin, "duckdb"));
  await symlink(fileURLToPath(new URL("../../lib", import.meta.url)), join(cwd, "lib"));
  await writeFile(join(cwd, "latest.sql"), "SELECT uuid FROM events ORDER BY event_date DESC LIMIT 5");
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"]}` };
  const input = "SELECT count(*) FROM events;\n";
  const shell = (line: string): string => {
    const args = ["-o", "pipefail", "-c", line];
    const { status, stdout, stderr } = spawnSync("bash", args, { cwd, env, input, encoding: "utf8" });
    expect([line, status, stderr]).toEqual([line, 0, expect.not.stringMatching(/error/i)]);
    return stdout;
  };
  const lines = blocks("query.md", "sh").flatMap((block) => block.trimEnd().split("\n"));

  const silent: string[] = [];
  for (const line of lines.filter((each) => !isNotRun(each))) {
    const before = await readdir(cwd);
    const isWritten = async (): Promise<boolean> => (await readdir(cwd)).length > before.length;
    const printed = shell(line);
    if ((printed === "" || printed.endsWith("\n(0 rows)\n")) && !(await isWritten())) silent.push(line);
  }

  expect(lines.length).toBeGreaterThan(6);
  expect(silent).toEqual([]);
  expect(shell("duckdb -readonly -csv -noheader brand-events.duckdb 'SELECT count(*) FROM events'")).toBe(
    "30\n",
  );
});

test.skipIf(!hasShell)("the database file is made again while a program has it open", async () => {
  const cwd = await demo();
  await symlink(PROGRAM, join(cwd, "duckdb"));
  const env = { ...process.env, PATH: `${cwd}${delimiter}${process.env["PATH"]}` };
  const line = blocks("query.md", "sh").find((block) => block.includes("ATTACH")) ?? "";
  const make = (): number | null => spawnSync("bash", ["-c", line], { cwd, env }).status;
  expect(make()).toBe(0);
  const reader = spawn(PROGRAM, ["-readonly", "brand-events.duckdb"], { cwd });
  onTestFinished(() => void reader.kill());
  reader.stdin.write("SELECT count(*) FROM events;\n");
  await once(reader.stdout, "data");

  expect(make()).toBe(0);
});

const hasFrames = existsSync(FRAMES_FOLDER) || process.env["CI"] === "true";
if (!hasFrames)
  process.stderr.write("The test of Python in docs/query.md is skipped: npm run setup:duckdb\n");

/** A whole number that a double cannot hold, a decimal, a sum, and nulls; an empty text, and a null. */
const EXACT_ROWS = `SELECT * FROM (VALUES
  (1, 9007199254740993, 12345678901234567.89::DECIMAL(38, 2), 9007199254740993::HUGEINT, '1.10', ''),
  (2, NULL, NULL, NULL, NULL, NULL)) v(n, big, amount, sum, text, empty) ORDER BY n`;

/** As a frame has them, unless it rounds. */
const EXACT_FRAME = [
  ["1", "9007199254740993", "12345678901234567.89", "9007199254740993", "1.10", ""],
  ["2", null, null, null, null, null],
];

test.skipIf(!hasFrames)("the Python of docs/query.md makes frames that keep each value", async () => {
  const cwd = await demo();
  for (const format of ["parquet", "ndjson", "csv"]) {
    const written = await sync(["query", EXACT_ROWS, "--out", `events.${format}`], { cwd });
    expect(written.exitCode).toBe(0);
  }
  const asWritten = blocks("query.md", "python");
  const exact = asWritten.map((code) => code.replace(/con\.sql\(".*?"\)/, `con.sql("""${EXACT_ROWS}""")`));

  const frames = runBlocks([...asWritten, ...exact], cwd);

  const [[ofEvents] = []] = frames;
  expect(ofEvents?.[1]).toHaveLength(30);
  const found = frames.slice(asWritten.length).flat();
  expect(found).toHaveLength(7);
  const inCsv = EXACT_FRAME.map((row) => row.map((value) => value || null));
  for (const [statement, rows] of found)
    expect([statement, rows]).toEqual([statement, statement.includes("read_csv") ? inCsv : EXACT_FRAME]);
});

test("each block of docs/query.md is run as it stands, or is named here", () => {
  const others = codeBlocks("query.md").filter(({ language }) => !["sql", "sh", "python"].includes(language));
  const lines = blocks("query.md", "sh").flatMap((block) => block.split("\n"));

  expect(others).toEqual([]);
  expect(lines.filter(isNotRun)).toHaveLength(Object.keys(NOT_RUN).length);
});

test("the list of formats in docs/query.md has every format", () => {
  expect(termsBelow("query.md", "## What can `query` do?").map(unquoted)).toEqual(RESULT_FORMATS);
});
