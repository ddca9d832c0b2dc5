// `discover`: shows which fields events have, and the options that make columns of them.

import {
  createView,
  type Dialect,
  DUCKDB,
  eventsTyped,
  TRINO,
} from "../../../lambdas/job/catalog/catalog.ts";
import { DEFAULT_SAMPLE, type Discovery, discover } from "../../../lambdas/job/commands/discover.ts";
import { shellWord } from "../../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { countText, missingReasons } from "../../../lambdas/job/run/record/texts.ts";
import { liftText } from "../../../lambdas/job/settings/lifted-column.ts";
import { typesOf } from "../../../lambdas/job/snapshot/fields/field-profile.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import { SERVICE_OPTIONS } from "../options/options.ts";
import { EXIT } from "../output/exit-code.ts";
import { reportSkipped } from "../output/run-report.ts";
import { formatTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { plural } from "../output/words.ts";
import { elementsQuery } from "../query/hints.ts";
import { command } from "../wiring/command.ts";
import { withService } from "../wiring/service-ports.ts";

export const discoverCommand = command({
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
    const doubt = context.style.doubt(found.doubt);
    context.result({ json: { ...asJson(found), doubt: doubt ?? null }, line });
    if (values.sql) context.stdout.text(typedView(found, isS3(values.warehouse) ? TRINO : DUCKDB));
    else if (!values.json) print(found, isS3(values.warehouse), context.stdout);
    if (doubt !== undefined) context.stderr.message(doubt);
    return EXIT.done;
  },
});

function asJson({ fields, duplicateKeys, suggestions }: Discovery): object {
  return {
    fields: fields.map((field) => {
      const types = [...typesOf(field)].sort();
      return { pointer: field.pointer, types, count: field.count };
    }),
    duplicate_keys: duplicateKeys,
    suggestions: suggestions.map(liftText),
  };
}

function print(discovery: Discovery, isAthena: boolean, terminal: Terminal): void {
  const { listed, events, fields, duplicateKeys, isComplete } = discovery;
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
    ...(duplicateKeys > 0 ? [twice(duplicateKeys)] : []),
    ...advice(discovery),
    ...numberAdvice(discovery),
    ...arrayAdvice(discovery, isAthena),
  ]);
}

const twice = (events: number): string =>
  `${plural(events, "event")} of the sample ${events === 1 ? "has" : "have"} a key twice in one object: a column takes the last value, and json_extract_scalar the first.`;

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

const MOST_NAMED = 5;

/** An identifier looks like a number too. */
function numberAdvice({ numbers }: Discovery): readonly string[] {
  if (numbers.length === 0) return [];
  const options = numbers.slice(0, MOST_NAMED).map((column) => `  --lift ${shellWord(liftText(column))}`);
  return [
    `${plural(numbers.length, "column")} of text ${numbers.length === 1 ? "looks" : "look"} like numbers. To calculate with one give it a type, in place of its option above:`,
    ...options,
  ];
}

function arrayAdvice({ arrays }: Discovery, isAthena: boolean): readonly string[] {
  if (arrays.length === 0) return [];
  const others = arrays.length - MOST_NAMED;
  const named = `${arrays.slice(0, MOST_NAMED).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
  const [query] = arrays.flatMap((pointer) => elementsQuery(pointer, isAthena) ?? []);
  return [
    `${plural(arrays.length, "array")} ${arrays.length === 1 ? "is" : "are"} left out, because a column holds no more than a list of texts: ${named}.${query === undefined ? "" : " This query reads the elements:"}`,
    ...(query === undefined ? [] : [`  ${query}`]),
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
