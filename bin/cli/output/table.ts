// A table of texts for a person: columns in line, and on a terminal no wider than it. A uuid or an instant is whole or not
// there, JSON is cut first, and what does not fit is named.

import terminalWidth from "fast-string-truncated-width";
import { oneLine } from "./terminal.ts";

/** Every value as text or null. */
export type ResultRow = readonly (string | null)[];

export interface TableRows {
  readonly columns: readonly string[];
  /** Null is shown as `NULL`. */
  readonly rows: readonly ResultRow[];
}

/** The result of a query as it arrives: the names of its columns, then batches of rows. */
export interface ResultRows {
  readonly columns: readonly string[];
  /** Which columns have texts that are JSON; none where this is absent. */
  readonly json?: readonly boolean[];
  /** Can be read once. */
  readonly batches: AsyncIterable<readonly ResultRow[]> | Iterable<readonly ResultRow[]>;
  /** What is not in it, because files are missing; only the line of `--json` has it. */
  readonly missing?: readonly object[];
}

interface TableOptions {
  /** Columns of the terminal that a value takes at most; without it values are whole. */
  readonly maxWidth?: number;
  /** Columns of the terminal that a line takes at most. */
  readonly width?: number | undefined;
  /** The options that show what is cut. */
  readonly whole?: string;
}

export function widthOf(text: string): number {
  return terminalWidth(text).width;
}

/** How many rows the widths of a table's columns come from; fewer where they are this long. */
const FIRST_ROWS = 1000;
const FIRST_CHARACTERS = 16 * 1024 * 1024;
/** A line may be many times as long as its row. */
const ROWS_IN_A_PIECE = 64;

/** In pieces. The first rows say how wide the columns are. */
export async function* tableOf(
  { columns, batches }: ResultRows,
  options: TableOptions,
): AsyncGenerator<string> {
  let layout: TableLayout | undefined;
  let waiting: ResultRow[] = [];
  let characters = 0;
  let count = 0;
  const show = function* (): Generator<string, TableLayout> {
    const known = layout ?? tableLayout({ columns, rows: waiting.slice(0, FIRST_ROWS) }, options);
    if (!layout) yield known.head;
    for (let from = 0; from < waiting.length; from += ROWS_IN_A_PIECE) {
      yield known.lines(waiting.slice(from, from + ROWS_IN_A_PIECE));
    }
    waiting = [];
    return known;
  };
  for await (const rows of batches) {
    count += rows.length;
    waiting.push(...rows);
    characters += rows.flat().reduce((sum, text) => sum + (text?.length ?? 0), 0);
    if (layout || waiting.length >= FIRST_ROWS || characters >= FIRST_CHARACTERS) layout = yield* show();
  }
  layout = yield* show();
  yield layout.foot(count);
}

const GAP = "  ";
/** As wide as a uuid, and wider than an instant: a column of no more is whole or not there, and a wider one may be cut. */
const WHOLE = 36;
/** Cut to fewer, a text says nothing: then its column is not there. */
const LEAST = 16;

/** A column is padded to no more, so that one long value does not make every line as long. */
const MOST_PADDED = 1000;

/** A table in the making; each text ends with a newline. All values are made safe to print. */
interface TableLayout {
  readonly head: string;
  readonly lines: (rows: TableRows["rows"]) => string;
  /** After all lines. */
  readonly foot: (count: number) => string;
}

export function formatTable(table: TableRows, options: TableOptions = {}): string {
  const { head, lines, foot } = tableLayout(table, options);
  return head + lines(table.rows) + foot(table.rows.length);
}

/** The rows say how wide the columns are. Later values that are wider are cut where there is a limit, and whole elsewhere. */
function tableLayout(
  { columns, rows }: TableRows,
  {
    maxWidth = Number.POSITIVE_INFINITY,
    width = Number.POSITIVE_INFINITY,
    whole = "--full, or --format vertical",
  }: TableOptions,
): TableLayout {
  const most = Math.min(maxWidth, width + 1); // one more than fits, so that it shows that this does not
  const header = columns.map((name) => cell(name, most));
  const natural = header.map((name, index) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(cell(row[index] ?? null, most))), widthOf(name)),
  );
  const isWhole = most === Number.POSITIVE_INFINITY;
  const widths = isWhole
    ? natural.map((columns) => Math.min(columns, MOST_PADDED))
    : fitted(
        natural.map((columns, index) => ({ columns, isJson: isJsonIn(rows, index) })),
        width,
      );
  let isCut = !isWhole && natural.some((columns, index) => columns !== widths[index]);
  const shown = (text: string, columns: number): string => {
    const fitting = isWhole ? text : cut(text, columns);
    isCut ||= fitting !== text;
    return fitting + " ".repeat(Math.max(0, columns - widthOf(fitting)));
  };
  const lineOf = (cells: readonly string[]): string => {
    const own = widths.flatMap((columns, index) =>
      columns === undefined ? [] : [shown(cells[index] ?? "", columns)],
    );
    return `${own.join(GAP).trimEnd()}\n`;
  };
  const gone = header.filter((_, index) => widths[index] === undefined);
  return {
    head: lineOf(header) + lineOf(widths.map((columns = 0) => "─".repeat(columns))),
    lines: (more) => more.map((row) => lineOf(row.map((value) => cell(value, most)))).join(""),
    foot: (count) => {
      const cutText = isCut ? `, cut to fit; whole: ${whole}` : "";
      const lines = gone.length === 0 ? [] : goneLines(gone, width);
      return [`(${count} ${count === 1 ? "row" : "rows"}${cutText})`, ...lines, ""].join("\n");
    },
  };
}

function isJsonIn(rows: TableRows["rows"], index: number): boolean {
  const values = rows.flatMap((row) => row[index] ?? []);
  return values.length > 0 && values.every((text) => /^[[{]/.test(text));
}

/** In as many lines as it takes: no reader misses a column that is not named. */
function goneLines(names: readonly string[], width: number): readonly string[] {
  const lines = [`${names.length} ${names.length === 1 ? "column does" : "columns do"} not fit:`];
  for (const [index, name] of names.entries()) {
    const word = index === names.length - 1 ? name : `${name},`;
    const longer = `${lines.at(-1)} ${word}`;
    if (widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(cut(`  ${word}`, width));
  }
  return lines;
}

interface Natural {
  readonly columns: number;
  readonly isJson: boolean;
}

/**
 * The widths of the columns, undefined for one that is not there. Those that are not cut come first, each that still fits;
 * then other texts, whole where the columns of JSON can be cut for that; what is left is for JSON.
 */
function fitted(natural: readonly Natural[], width: number): readonly (number | undefined)[] {
  const rank = ({ columns, isJson }: Natural): number => (isJson ? 2 : columns > WHOLE ? 1 : 0);
  const leastOf = (each: Natural): number =>
    rank(each) === 0 ? each.columns : Math.min(each.columns, LEAST);
  let room = width + GAP.length;
  const there = natural
    .map((each, index) => ({ ...each, index, rank: rank(each), least: leastOf(each) }))
    .toSorted((a, b) => a.rank - b.rank)
    .filter(({ least }) => {
      const fits = least + GAP.length <= room;
      if (fits) room -= least + GAP.length;
      return fits;
    });
  const widths = natural.map((): number | undefined => undefined);
  for (const ofRank of [0, 1, 2]) {
    const own = there.filter(({ rank }) => rank === ofRank);
    room += own.reduce((sum, { least }) => sum + least, 0);
    const most = share(
      own.map(({ columns }) => columns),
      room,
    );
    for (const { index, columns } of own) {
      const given = Math.min(columns, most);
      widths[index] = given;
      room -= given;
    }
  }
  // Of the first column its beginning is better than nothing.
  if (there.length === 0 && natural.length > 0) widths[0] = Math.max(1, width);
  return widths;
}

/** How wide a column may be so that all together take no more than `room`. */
export function share(widths: readonly number[], room: number): number {
  let left = room;
  for (const [index, columns] of widths.toSorted((a, b) => a - b).entries()) {
    const each = Math.floor(left / (widths.length - index));
    if (columns > each) return each;
    left -= columns;
  }
  return Number.POSITIVE_INFINITY;
}

/** A value on one line, cut to so many columns. */
export function cell(value: string | null, maxWidth: number): string {
  // A column takes at least one code unit but for marks, so the rest of a long text needs no look.
  return cut(oneLine((value ?? "NULL").slice(0, maxWidth * 16)), maxWidth);
}

function cut(text: string, maxWidth: number): string {
  const { index, truncated } = terminalWidth(text, { limit: maxWidth, ellipsis: "…" });
  return truncated ? `${text.slice(0, index)}…` : text;
}
