// The contract of the files names the keys and columns that the code has.

import { describe, expect, test } from "vitest";
import { rowLine } from "../../lambdas/job/snapshot/rows/row.ts";
import { COLUMNS_FILE, layout, TABLES, VIEWS_FILE } from "../../lambdas/job/storage/layout.ts";
import { aManifest } from "../job/snapshot/files/manifests.ts";
import { column, sectionOf, tableBelow } from "./markdown.ts";

const PAGE = "warehouse-format.md";
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
  outcome: layout(ACCOUNT).outcome(RUN),
  writeCheck: layout(ACCOUNT).writeCheck("<token>"),
  lease: layout(ACCOUNT).lease,
  loginRefused: layout(ACCOUNT).loginRefused,
};

test("the table of files has every key of the layout, and no other", () => {
  const named = column(tableBelow(PAGE, "## Files"), "Key").filter((key) => !key.startsWith("."));

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

test("the table of the manifest has its keys in order", () => {
  const { rows } = tableBelow(PAGE, "## Manifest");

  const keys = rows.flatMap(([cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map(([, key = ""]) => key));

  expect(keys).toEqual(Object.keys(aManifest()));
});

/** The line of JSON in a section. */
function exampleOf(heading: string): Readonly<Record<string, unknown>> {
  const [, json = ""] = /^```json\n(.*)\n```$/m.exec(sectionOf(PAGE, heading)) ?? [];
  const value: unknown = JSON.parse(json);
  return Object.fromEntries(Object.entries(value ?? {}));
}
