// Lifted columns beside the tables: which are valid there, and their texts of an event. The files hold text, whatever its
// type.

import * as z from "zod";
import { shownText } from "../../errors/shown-text.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { columnText } from "../../json/json-line.ts";
import { parsePointer } from "../../json/json-pointers.ts";
import { members, type Span, valueAt, wholeOf } from "../../json/json-scanner.ts";
import {
  type ColumnType,
  columnType,
  decimalDigits,
  type LiftedColumn,
  liftText,
  parseLiftedColumn,
} from "../../settings/lifted-column.ts";
import { TABLES } from "../../storage/layout.ts";

const DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
const TIME = String.raw`([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?`;
const ZONE = "(Z|[+-](0[0-9]|1[0-8])(:?[0-5][0-9])?)";

const HEX = "[0-9a-fA-F]";
/** A character, or the two halves of one: engines make different things of a half alone. */
const CODE = String.raw`u([0-9a-cA-CefEF]${HEX}{3}|[dD][0-7]${HEX}{2}|[dD][89abAB]${HEX}{2}\\u[dD][c-fC-F]${HEX}{2})`;
/** What a string in JSON has between its quotes, but for escapes. */
const PLAIN = String.raw`[^"\\\x00-\x1f]*`;
const STRING = String.raw`"${PLAIN}(\\(["\\/bfnrt]|${CODE})${PLAIN})*"`;
const SPACE = String.raw`[ \t\n\r]*`;
const ITEM = `(null|${STRING})${SPACE}`;

/**
 * What texts that become values look like: without anchors, and alike for JavaScript, DuckDB and Trino. `[0-9]` and not
 * `\d`, which matches digits of other scripts in some engines.
 */
export const TEXT_FORMS = {
  BIGINT: "-?[0-9]{1,19}",
  /** Without an exponent: DuckDB rounds one wrongly, and Trino would write all digits of 1e999999999. */
  DECIMAL: String.raw`-?[0-9]+(\.[0-9]+)?`,
  DOUBLE: String.raw`-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`,
  BOOLEAN: "([tT]([rR][uU][eE])?|[fF]([aA][lL][sS][eE])?|[01])",
  /** An instant with or without a zone; a day alone is one too. */
  TIMESTAMP: `${DAY}([T ]${TIME}${ZONE}?)?`,
  /** An array of JSON that has strings and nulls only: of numbers engines would change the text. */
  "VARCHAR[]": String.raw`${SPACE}\[${SPACE}(${ITEM}(,${SPACE}${ITEM})*)?\]${SPACE}`,
} as const;

/** Whether `events_typed` has a value for the text; of a decimal, before it is rounded. */
export function fitsType(text: string, type: ColumnType): boolean {
  const has = (form: keyof typeof TEXT_FORMS): boolean => new RegExp(`^${TEXT_FORMS[form]}$`).test(text);
  switch (type) {
    case "VARCHAR":
      return true;
    case "BIGINT":
      return has(type) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
    case "DOUBLE":
      return has(type) && Number.isFinite(Number(text));
    case "BOOLEAN":
    case "VARCHAR[]":
      return has(type);
    case "DATE":
      return has("TIMESTAMP") && isRealDay(text.slice(0, 10));
    case "TIMESTAMP":
      return fitsType(text, "DATE") && isWithinYears(text);
    default: {
      const [precision, scale] = decimalDigits(type) ?? [0, 0];
      return has("DECIMAL") && text.replaceAll(/^-?0*|\..*$/g, "").length <= precision - scale;
    }
  }
}

function isRealDay(day: string): boolean {
  const at = day >= "0001" ? Date.parse(day) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** Whether a text that looks like a `TIMESTAMP` lies within the years, in UTC. */
function isWithinYears(text: string): boolean {
  const [, hours = "+00", minutes = "00"] = /([+-]\d\d):?(\d\d)?$/.exec(text.slice(11)) ?? [];
  const instant = `${text.slice(0, 10)}T${text.slice(11, 16) || "00:00"}${hours}:${minutes}`;
  const year = new Date(instant).getUTCFullYear();
  return year >= 1 && year <= 9999;
}

const EVENT_COLUMNS: readonly string[] = TABLES.events.columns.map(({ name }) => name);

/** Names that the tables of events have already. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...EVENT_COLUMNS,
  ...TABLES.events.partitions,
  ...TABLES.event_snapshots.partitions,
  ...TABLES.event_changes.partitions,
]);

/**
 * Without quotes such a name is a value or a list for DuckDB or Athena, and no column; and `_col0` is Hive's word for the
 * first column, so its values would be the uuids.
 */
const TAKEN_OTHERWISE =
  /^(?:_col[0-9]+|all|null|true|false|current_(?:catalog|date|path|schema|time|timestamp|user)|localtime|localtimestamp)$/;

/** Of new columns: those that are there may have any name that was valid then. */
export const isTakenOtherwise = (name: string): boolean => TAKEN_OTHERWISE.test(name);

export const TAKEN_OTHERWISE_TEXT =
  "which without quotes is something else than this column in DuckDB or in Athena";

/** Columns that `events_typed` has for its own: a lifted column of one of these names is not in it. */
export const TYPED_VIEW_NAMES: ReadonlySet<string> = new Set(["event_day", "misfits"]);

/** Glue's limit of length. */
const NAME = /^[a-z_][a-z0-9_]{0,254}$/;

/** All columns of a row, in order, without those that come from the path. */
export function eventColumns(lifted: readonly Pick<LiftedColumn, "name">[]): readonly string[] {
  return [...EVENT_COLUMNS, ...lifted.map(({ name }) => name)];
}

/** From texts of the form `NAME=POINTER[:TYPE]`. Throws `CONFIG_INVALID` with what was expected and what was found. */
export function parseLiftedColumns(texts: readonly string[]): readonly LiftedColumn[] {
  const columns = texts.map(parseLiftedColumn);
  requireValid(columns);
  return columns;
}

/** The columns as settings in JSON name them. */
export const liftedColumns = z
  .array(
    z.strictObject({
      name: z.string("expected a column's name"),
      pointer: z.string("expected a JSON Pointer"),
      type: columnType.optional(),
    }),
    'expected the columns of your own as a list, such as [{"name": "brand", "pointer": "/brand/name"}]',
  )
  .superRefine((columns, context) => {
    try {
      requireValid(columns);
    } catch (error) {
      if (!(error instanceof SyncError)) throw error;
      context.addIssue({ code: "custom", message: error.message });
    }
  })
  .readonly();

function requireValid(columns: readonly LiftedColumn[]): void {
  const pointers = new Map<string, string>();
  for (const column of columns) {
    const { name, pointer } = column;
    const got = `and got ${shownText(liftText(column))}`;
    const earlier = pointers.get(name);
    if (!NAME.test(name)) {
      throw invalid(`expected a name of a-z, 0-9 and _ that begins with a letter or _, ${got}`);
    }
    if (RESERVED_NAMES.has(name)) {
      throw invalid(
        `expected a name other than ${[...RESERVED_NAMES].join(", ")}, which are reserved, ${got}`,
      );
    }
    if (pointer === "") {
      throw invalid(
        `expected a JSON Pointer to a part of the detail (the column event holds the whole), ${got}`,
      );
    }
    parsePointer(pointer);
    if (earlier !== undefined) {
      throw invalid(`expected each name once, and got ${name} twice, for ${earlier} and for ${pointer}`);
    }
    pointers.set(name, pointer);
  }
}

function invalid(problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", problem);
}

/** The common beginnings of the pointers are walked once. */
interface Branch {
  readonly children: Map<string, Branch>;
  /** The columns whose pointer ends here. */
  readonly names: string[];
}

/**
 * The columns' texts of an event, in the columns' order. For events that are known to be JSON without white space around it,
 * as the column `event` holds them.
 */
export function lifter(
  columns: readonly LiftedColumn[],
): (event: string) => Readonly<Record<string, string | null>> {
  const root = newBranch();
  for (const { name, pointer } of columns) branchAt(root, parsePointer(pointer)).names.push(name);
  return (event) => {
    const spans = new Map<string, Span>();
    find(event, wholeOf(event), root, spans);
    // Made of entries, because assigning to `__proto__` would set no column.
    return Object.fromEntries(columns.map(({ name }) => [name, columnText(event, spans.get(name))]));
  };
}

function newBranch(): Branch {
  return { children: new Map(), names: [] };
}

function branchAt(root: Branch, tokens: readonly string[]): Branch {
  let branch = root;
  for (const token of tokens) {
    const child = branch.children.get(token) ?? newBranch();
    branch.children.set(token, child);
    branch = child;
  }
  return branch;
}

// Recurses no deeper than the longest pointer.
function find(event: string, span: Span, branch: Branch, spans: Map<string, Span>): void {
  for (const name of branch.names) spans.set(name, span);
  if (branch.children.size === 0) return;
  const found = new Map<Branch, Span>(); // of duplicate keys the last one counts
  if (event[span.start] === "{") {
    for (const { key, value } of members(event, span)) {
      const child = branch.children.get(key);
      if (child) found.set(child, value);
    }
  } else {
    for (const [token, child] of branch.children) {
      const value = valueAt(event, [token], span);
      if (value) found.set(child, value);
    }
  }
  for (const [child, value] of found) find(event, value, child, spans);
}
