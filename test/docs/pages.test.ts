import { expect, test } from "vitest";
import { EXIT, exitCodeOfError } from "../../bin/cli/output/exit-code.ts";
import { ERROR_CODES, SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { runLogEntrySchema } from "../../lambdas/job/run/record/run-log.ts";
import { TABLES } from "../../lambdas/job/storage/layout.ts";
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
