// Columns of your own. `discover` shows which fields events have, and the options that make columns of them; `columns` says
// of each column that is there where it comes from, and in how many events it has a value.

import {
  createView,
  type Dialect,
  DUCKDB,
  eventsTyped,
  TRINO,
  typedValue,
} from "../../../lambdas/job/catalog/catalog.ts";
import { DEFAULT_SAMPLE, type Discovery, discover } from "../../../lambdas/job/commands/discover.ts";
import { shellWord } from "../../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { countText, missingReasons } from "../../../lambdas/job/run/record/texts.ts";
import { typesOf } from "../../../lambdas/job/snapshot/fields/field-profile.ts";
import { liftText } from "../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { readColumns, type TableColumns } from "../../../lambdas/job/snapshot/rows/table-columns.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import { SERVICE_OPTIONS } from "../options/options.ts";
import { EXIT } from "../output/exit-code.ts";
import { formatTable, type ResultRow } from "../output/format-result.ts";
import { reportSkipped } from "../output/run-report.ts";
import type { Terminal } from "../output/terminal.ts";
import { plural } from "../output/words.ts";
import { withDuckDB } from "../query/load-query.ts";
import type { QueryOptions } from "../query/locked-duckdb.ts";
import { type MissingUnit, missingUnits } from "../query/missing-units.ts";
import { type CommandOfList, command } from "../wiring/command.ts";
import { openLocalWarehouse } from "../wiring/open-warehouse.ts";
import { withService } from "../wiring/service-ports.ts";

const discoverCommand = command({
  name: "discover",
  group: "Set up",
  summary: "read a sample of the events, show their fields, and suggest columns",
  options: [...SERVICE_OPTIONS, "lifted", "limit", "sql", "all"],
  example: "discover --base-url https://service.example --limit 200",
  execute: async (values, context) => {
    if (values.sql && values.json) {
      throw new SyncError(
        "CONFIG_INVALID",
        "--json and --sql are two forms of the result. Leave one of them out.",
      );
    }
    const found = await withService(values, context, ({ ports, settings }) =>
      discover(ports, settings, values.limit ?? DEFAULT_SAMPLE),
    );
    if ("outcome" in found) return reportSkipped(context, found);
    const line = `ok          ${plural(found.fields.length, "field")} of ${plural(found.events, "event")}`;
    context.result({ json: asJson(found), line });
    if (values.sql) context.stdout.text(typedView(found, isS3(values.warehouse) ? TRINO : DUCKDB));
    else if (!values.json) print(found, context.stdout);
    return EXIT.done;
  },
});

function asJson({ fields, suggestions }: Discovery): object {
  return {
    fields: fields.map((field) => {
      const types = [...typesOf(field)].sort();
      return { pointer: field.pointer, types, count: field.count };
    }),
    suggestions: suggestions.map(liftText),
  };
}

function print(discovery: Discovery, terminal: Terminal): void {
  const { listed, events, fields, isComplete } = discovery;
  if (events === 0) {
    terminal.lines(["The service lists no events, so there is nothing to discover yet."]);
    return;
  }
  const rows = fields.map((field) => [
    field.pointer,
    typesOf(field).join(", "),
    `${Math.round((field.count / events) * 100)} %`,
  ]);
  terminal.text(formatTable({ columns: ["field", "types", "share of events"], rows }, { maxWidth: 60 }));
  terminal.lines([
    `${countText(events)} of ${countText(listed)} listed events were read${unread(discovery)}.${isComplete ? "" : " They have more fields than these."}`,
    ...advice(discovery),
  ]);
}

/** Why a sample of 50 is 47 events. */
function unread({ leftOut }: Discovery): string {
  const { gone = 0, forbidden = 0, oversize = 0, too_deep = 0, unreadable = 0 } = leftOut;
  const rejected = oversize + too_deep + unreadable;
  const rest = missingReasons({ gone, forbidden, rejected, oversize, too_deep, unreadable });
  return rest === "" ? "" : `; the rest of the sample is missing: ${rest}`;
}

function advice(discovery: Discovery): readonly string[] {
  const { columns, suggestions } = discovery;
  const options = inLines(liftOptions(discovery));
  if (suggestions.length === 0) {
    // The uuid, the date and the scope are columns in any case.
    const none = "No other field that at least half of the events have fits into a column.";
    if (!columns.some(({ type }) => type !== undefined)) return [none];
    return [none, "The columns that there are, with types for the view events_typed:", ...options];
  }
  return [
    columns.length === 0
      ? "Columns of your own: start run with the options that you want of these. Later runs use the columns without the options:"
      : `The warehouse has ${plural(columns.length, "column")} of your own, and runs use what is there. To add columns, start run with the options of those first, then with the new ones that you want:`,
    ...options,
    ...[...columns, ...suggestions]
      .flatMap(({ name, type }) => (type === "VARCHAR[]" ? listAdvice(name) : []))
      .slice(0, 2),
  ];
}

/** What to do with the first list. The query is the same in DuckDB and Athena. */
function listAdvice(name: string): readonly string[] {
  return [
    "A VARCHAR[] is a list of texts. After a run with it, this query counts the events of each text:",
    `  SELECT c, count(*) FROM events_typed CROSS JOIN UNNEST("${name}") AS t(c) GROUP BY 1`,
  ];
}

/** Each on a line of its own, to be pasted into one command. */
function inLines(options: readonly string[]): readonly string[] {
  return options.map((option, index) => `  ${option}${index === options.length - 1 ? "" : " \\"}`);
}

/** All columns that there are, then the suggested ones. */
function liftOptions({ columns, suggestions }: Discovery): readonly string[] {
  const present = columns.map(({ name, pointers: [pointer = "POINTER"], type }) => ({ name, pointer, type }));
  return [...present, ...suggestions].map((column) => `--lift ${shellWord(liftText(column))}`);
}

/** The view as it is once a run has these columns. */
function typedView(discovery: Discovery, dialect: Dialect): string {
  const { columns, suggestions } = discovery;
  // Each option in one line: what follows a line break would be SQL.
  const options = liftOptions(discovery).map((option) => `--   ${option.replaceAll(/\s+/g, " ")}\n`);
  const needs = suggestions.length === 0 ? "" : `-- After a run with these columns:\n${options.join("")}`;
  return `${needs}${createView(eventsTyped([...columns, ...suggestions], dialect))}`;
}

const columnsCommand = command({
  name: "columns",
  group: "Every day",
  summary: "list the columns of your own: name, pointer, type, and in how many events they have a value",
  options: ["config", "warehouse", "json"],
  example: "columns --warehouse ./warehouse",
  execute: async (values, context) => {
    const { stdout, stderr, signal } = context;
    const inS3 =
      "columns counts the values of a warehouse on this computer. For one in S3, query events_typed in Athena.";
    const { store, views } = await openLocalWarehouse(values, context, inS3);
    const columns = await readColumns(store);
    const { query } = await withDuckDB();
    let missing: readonly MissingUnit[] = [];
    const onTables: QueryOptions["onTables"] = async (accounts, tables) => {
      missing = missingUnits(accounts, tables, context.given);
      for (const { message } of missing) stderr.message(`left out: ${message}`);
    };
    const counted =
      columns.length === 0 ? [] : (await query(views, countsSql(columns), { signal, onTables })).rows;
    const found = counted.flatMap((row) => columnsOf(row, columns));
    if (values.json) stdout.json({ columns: found, ...(missing.length > 0 ? { missing } : {}) });
    else if (found.length === 0)
      stdout.lines(["There are no columns of your own, or no events. discover suggests some."]);
    else {
      stdout.text(
        formatTable({ columns: HEADER, rows: found.map((one) => HEADER.map((key) => text(one[key]))) }),
      );
      stdout.lines([
        "A column is null in older snapshots, and in an account that has no pointer here, until its next run.",
      ]);
    }
    return missing.length > 0 ? EXIT.failed : EXIT.done;
  },
});

export const COLUMNS: readonly CommandOfList[] = [discoverCommand, columnsCommand];

const HEADER = ["account", "name", "pointer", "type", "events", "filled", "misfits"] as const;

type Counted = Readonly<Record<(typeof HEADER)[number], string | number | null>>;

/** One row for each account: its name, its events, and of each column the texts and the misfits. */
function countsSql(columns: TableColumns): string {
  const counts = columns.flatMap(({ name, type = "VARCHAR" }) => [
    `count("${name}")`,
    `count(*) FILTER ("${name}" IS NOT NULL AND ${typedValue(`"${name}"`, type, DUCKDB)} IS NULL)`,
  ]);
  return `SELECT account, count(*), ${counts.join(", ")} FROM events GROUP BY account ORDER BY account`;
}

function columnsOf([account, events, ...counts]: ResultRow, columns: TableColumns): readonly Counted[] {
  return columns.map(({ name, type, pointers }, index) => ({
    account: account ?? null,
    name,
    pointer: pointers[account ?? ""] ?? null,
    type: type ?? "VARCHAR",
    events: Number(events),
    filled: Number(counts[2 * index]),
    misfits: Number(counts[2 * index + 1]),
  }));
}

const text = (value: string | number | null): string | null => (value === null ? null : String(value));
