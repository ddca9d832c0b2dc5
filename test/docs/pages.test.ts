// The pages say what the source says: codes, tables, reasons, promises, and the keys and columns of the warehouse's files.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT, exitCodeOfError } from "../../bin/cli/output/exit-code.ts";
import { ERROR_CODES, SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { HOLD_REASONS } from "../../lambdas/job/run/record/held-mark.ts";
import { OUTCOMES } from "../../lambdas/job/run/record/run-log.ts";
import { rowLine } from "../../lambdas/job/snapshot/rows/row.ts";
import { COLUMNS_FILE, layout, TABLES, VIEWS_FILE } from "../../lambdas/job/storage/layout.ts";
import { LOG_QUERIES } from "../../lib/monitoring/dashboard.ts";
import { aManifest } from "../job/snapshot/files/manifests.ts";
import { codesIn, column, sectionOf, tableBelow, termsBelow, unquoted } from "./markdown.ts";

test("the list of errors has every code in the order of the source, its exit code, and what the next run does", async () => {
  const page = new URL("../../docs/errors.md", import.meta.url);
  const before = readFileSync(page, "utf8");
  const meanings = new Map(
    [...before.matchAll(/^- `(\w+)` \(.*?\): (.*)$/gm)].map(([, code, text]) => [code, text]),
  );

  const lines = ERROR_CODES.map((code) => {
    const error = new SyncError(code, "");
    const next = error.isRetryable ? "resumes" : "begins";
    return `- \`${code}\` (${exitCodeOfError(error)}, ${next}): ${meanings.get(code) ?? "say when"}\n`;
  });
  const after = before.replace(
    /(\n## Which codes are there\?\n(?:(?!- ).*\n)*)(?:- .*\n)*/,
    (_, head: string) => head + lines.join(""),
  );

  expect(after).not.toContain("say when");
  await expect(after).toMatchFileSnapshot("../../docs/errors.md");
});

test("the table of exit codes has every code", () => {
  const codes = column(tableBelow("errors.md", "## How did it end?"), "Exit code");

  expect(codes.map(Number)).toEqual(Object.values(EXIT));
});

test("every outcome and every error that ends with 2 is named in the table of exit codes", () => {
  const { rows } = tableBelow("errors.md", "## How did it end?");

  const wrongInput = ERROR_CODES.filter(
    (code) => exitCodeOfError(new SyncError(code, "")) === EXIT.wrongInput,
  );
  const named = [...OUTCOMES, ...wrongInput];
  expect(codesIn(rows.flat().join()).toSorted()).toEqual(named.toSorted());
});

const { event_snapshots, ...TABLES_OF_THEIR_OWN } = TABLES;

test.each(Object.entries(TABLES_OF_THEIR_OWN))(
  "%s is described with its columns and types, in order",
  (name, table) => {
    const rows = termsBelow("tables.md", `## \`${name}\``).flatMap((term) => {
      const type = / (\w+)$/.exec(term)?.[1] ?? "string";
      return [...term.matchAll(/`(\w+)`/g)].map(([, column]) => [column, type]);
    });

    const partitions = table.partitions.map((partition) => [partition, "string"]);
    expect(rows).toEqual([...table.columns.map((each) => [each.name, each.type]), ...partitions]);
  },
);

test("event_snapshots has the columns of events and at the end those that the page names", () => {
  const [, named = ""] =
    /the columns of `events`, and at the end (.*)\./.exec(sectionOf("tables.md", "## `event_snapshots`")) ??
    [];

  expect(event_snapshots.columns).toEqual(TABLES.events.columns);
  expect([...TABLES.events.partitions, unquoted(named)]).toEqual(event_snapshots.partitions);
});

test("the runbook has a line for each reason, in the order of the guard", () => {
  expect(termsBelow("runbook.md", "### Why is it held?").map(unquoted)).toEqual(HOLD_REASONS);
});

test("the page on AWS names every saved query on the log, in the stack's order", () => {
  const named = [...sectionOf("aws.md", "### Dashboard and log").matchAll(/\*(.+?)\*/g)].map(
    ([, title]) => title,
  );

  expect(named).toEqual(LOG_QUERIES.map(({ title }) => title));
});

const ROOT = join(import.meta.dirname, "..", "..");
const MARK = /\[D\d+\]/g;

const marksOf = (file: string): readonly string[] => readFileSync(join(ROOT, file), "utf8").match(MARK) ?? [];

// Each promise of docs/guarantees.md has a test that fails where it is broken, and says so in its title.
test("the promises that are marked, and the marks in the titles of tests, are the same", () => {
  const [introduction = "", ...promises] = marksOf("docs/guarantees.md");
  const tests = globSync("test/**/*.test.ts", { cwd: ROOT }).flatMap(marksOf);

  expect([...new Set(tests)].toSorted()).toEqual(promises.toSorted());
  expect(promises).toContain(introduction);
});

const PAGE = "format.md";
const [ACCOUNT, SNAPSHOT, PUBLICATION, RUN] = ["<account>", "<snapshot_id>", "<publication>", "<run_id>"];
const FOLDERS = ["snapshots", "snapshot", "changes", "publications", "runLogs", "runs", "run"];

const KEYS: Readonly<Partial<Record<keyof ReturnType<typeof layout>, string>>> = {
  part: layout(ACCOUNT).part(SNAPSHOT, 0),
  manifest: layout(ACCOUNT).manifest(SNAPSHOT),
  leftOut: layout(ACCOUNT).leftOut(SNAPSHOT),
  held: layout(ACCOUNT).held(SNAPSHOT),
  retired: layout(ACCOUNT).retired(SNAPSHOT),
  changesPart: layout(ACCOUNT).changesPart(PUBLICATION, SNAPSHOT, 0),
  publication: layout(ACCOUNT).publication(PUBLICATION),
  runLog: layout(ACCOUNT).runLog(RUN, 1).replace("-1.", "-<attempt>."),
  plan: layout(ACCOUNT).plan(RUN),
  rows: layout(ACCOUNT).rows(RUN, 0, "<token>"),
  record: layout(ACCOUNT).record(RUN, 0),
  unread: layout(ACCOUNT).unread(RUN, "<uuid>"),
  outcome: layout(ACCOUNT).outcome(RUN),
  writeCheck: layout(ACCOUNT).writeCheck("<token>"),
  lease: layout(ACCOUNT).lease,
  loginRefused: layout(ACCOUNT).loginRefused,
};

test("the list of files has every key of the layout, and no other", () => {
  const named = termsBelow(PAGE, "## Files")
    .map(unquoted)
    .filter((key) => !key.startsWith("."));

  expect(Object.keys(KEYS)).toEqual(Object.keys(layout(ACCOUNT)).filter((name) => !FOLDERS.includes(name)));
  const expected = [...Object.values(KEYS), COLUMNS_FILE, VIEWS_FILE].map((key) =>
    key.replace("00000000", "<8 digits>").replace("00000", "<5 digits>"),
  );
  expect(named).toEqual(expected);
});

describe.each([
  ["## Parts of a snapshot", "events"],
  ["## Changes", "event_changes"],
  ["## Publications", "publications"],
  ["## Run log", "sync_runs"],
] as const)("%s", (heading, table) => {
  const { columns } = TABLES[table];

  test(`leads to the columns of ${table}`, () => {
    expect(sectionOf(PAGE, heading)).toContain(`the columns of [\`${table}\`](tables.md#${table})`);
  });

  test(`has an example with the columns of ${table} in order, and values of their types`, () => {
    const TYPES = { string: "string", bigint: "number", double: "number", boolean: "boolean" };
    const example = exampleOf(heading);

    expect(Object.keys(example)).toEqual(columns.map(({ name }) => name));
    for (const { name, type } of columns)
      if (example[name] !== null) expect([name, typeof example[name]]).toEqual([name, TYPES[type]]);
  });
});

test("the example of a row is one that the program would write", () => {
  const { uuid, event_date, scope, event, listing } = exampleOf("## Parts of a snapshot");

  const line = rowLine({
    uuid: String(uuid),
    event_date: String(event_date),
    scope: String(scope),
    event: String(event),
    listing: String(listing),
  });

  expect(sectionOf(PAGE, "## Parts of a snapshot")).toContain(`\n${line}\n`);
});

test("the list of the manifest has its keys in order", () => {
  const terms = termsBelow(PAGE, "## Manifest");

  const keys = terms.flatMap((term) => [...term.matchAll(/`(\w+)`/g)].map(([, key = ""]) => key));

  const doubt = { why: "unsaid", entries: 16, places: [] } as const;
  expect(keys).toEqual(Object.keys(aManifest({ doubt })));
});

/** The line of JSON in a section. */
function exampleOf(heading: string): Readonly<Record<string, unknown>> {
  const [, json = ""] = /^```json\n(.*)\n```$/m.exec(sectionOf(PAGE, heading)) ?? [];
  const value: unknown = JSON.parse(json);
  return Object.fromEntries(Object.entries(value ?? {}));
}
