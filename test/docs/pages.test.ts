// The pages say what the source says: codes, tables, reasons, promises.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT, exitCodeOfError } from "../../bin/cli/output/exit-code.ts";
import { ERROR_CODES, SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { HOLD_REASONS } from "../../lambdas/job/run/publish/guard.ts";
import { runLogEntrySchema } from "../../lambdas/job/run/record/run-log.ts";
import { TABLES } from "../../lambdas/job/storage/layout.ts";
import { LOG_QUERIES } from "../../lib/monitoring/dashboard.ts";
import { codesIn, column, sectionOf, tableBelow, unquoted } from "./markdown.ts";

test("the table of errors has every code, in the order of the source, and no other", () => {
  const codes = column(tableBelow("errors.md", "## Errors"), "Code");

  expect(codes).toEqual(ERROR_CODES);
});

test("the errors that leave a run unfinished are those that the page of errors names", () => {
  const sentence =
    sectionOf("errors.md", "## Errors").match(/^A run that ended with (.*?) is unfinished/m)?.[1] ?? "";

  const unfinished = ERROR_CODES.filter((code) => new SyncError(code, "").isRetryable);

  expect(codesIn(sentence)).toEqual(unfinished);
});

test("the table of exit codes has every code", () => {
  const codes = column(tableBelow("errors.md", "## Outcomes and exit codes"), "Exit code");

  expect(codes.map(Number)).toEqual(Object.values(EXIT));
});

test("every outcome and every error that ends with 2 is named in the table of exit codes", () => {
  const { rows } = tableBelow("errors.md", "## Outcomes and exit codes");

  const wrongInput = ERROR_CODES.filter(
    (code) => exitCodeOfError(new SyncError(code, "")) === EXIT.wrongInput,
  );
  const named = [...runLogEntrySchema.shape.outcome.options, ...wrongInput];
  expect(codesIn(rows.flat().join()).toSorted()).toEqual(named.toSorted());
});

const { event_snapshots, ...TABLES_OF_THEIR_OWN } = TABLES;

test.each(Object.entries(TABLES_OF_THEIR_OWN))(
  "%s is described with its columns and types, in order",
  (name, table) => {
    const rows = tableBelow("tables.md", `## \`${name}\``).rows.flatMap(([cell = ""]) => {
      const type = / (\w+)$/.exec(cell)?.[1] ?? "string";
      return [...cell.matchAll(/`(\w+)`/g)].map(([, column]) => [column, type]);
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

test("the runbook has a row for each reason, in the order of the guard", () => {
  expect(column(tableBelow("runbook.md", "## Held"), "Reason")).toEqual(HOLD_REASONS);
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

// Each promise of docs/delivery.md has a test that fails where it is broken, and says so in its title.
test("the promises that are marked, and the marks in the titles of tests, are the same", () => {
  const [introduction = "", ...promises] = marksOf("docs/delivery.md");
  const tests = globSync("test/**/*.test.ts", { cwd: ROOT }).flatMap(marksOf);

  expect([...new Set(tests)].toSorted()).toEqual(promises.toSorted());
  expect(promises).toContain(introduction);
});
