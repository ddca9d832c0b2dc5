// What a query on the warehouse gives: rows with every value as text, exact, or a Parquet file.

import { sep } from "node:path";
import {
  DuckDBArrayType,
  DuckDBArrayValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  type DuckDBPreparedStatement,
  type DuckDBResult,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  type DuckDBVector,
  StatementType,
} from "@duckdb/node-api";
import accessors from "@duckdb/node-api/lib/vectors/dataAccessors.js";
import { literal } from "../../../lambdas/job/catalog/duckdb/views-sql.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { FOLDERS } from "../../../lambdas/job/storage/layout.ts";
import type { ResultRow, ResultRows, TableRows } from "../output/table.ts";
import { type QueryOptions, queryError, type Views, withPrepared } from "./locked-duckdb.ts";
import { noSql } from "./read-sql.ts";

/** The whole result at once; otherwise as `queryRows`. */
export function query(views: Views, sql: string, options: QueryOptions = {}): Promise<TableRows> {
  return queryRows(views, sql, options, async ({ columns, batches }) => {
    return { columns, rows: (await Array.fromAsync(batches)).flat() };
  });
}

/**
 * Runs `sql` on the tables as the logs have them now, so also in a warehouse that was moved. Of several
 * statements, the last one's rows are the result, which `use` reads while DuckDB makes them. Throws as
 * `withPrepared`.
 */
export function queryRows<T>(
  views: Views,
  sql: string,
  options: QueryOptions,
  use: (result: ResultRows) => Promise<T>,
): Promise<T> {
  return withPrepared(views, sql, options, async (_, statements, signal) => {
    const { result, first, rest } = await onceMoreIfGone(async () => {
      const result = await run(statements, signal);
      const rest = batchesOf(result, signal);
      return { result, first: await rest.next(), rest };
    });
    const [columns, types] = [result.columnNames(), result.columnTypes()];
    async function* batches(): AsyncGenerator<readonly ResultRow[]> {
      if (first.done) return;
      yield first.value;
      yield* rest;
    }
    return use({ columns, json: types.map(isListOfTexts), batches: batches() });
  });
}

/** How the message begins where a file is not there any more that DuckDB had found in the run log. */
const GONE = new RegExp(`^IO Error: Cannot open file "[^"]*/${FOLDERS.runLogs}`);

/** A run deletes old lines of the run log: the same query, once more, does not find them. */
export async function onceMoreIfGone<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    if (GONE.test(error instanceof Error ? error.message : "")) return work();
    throw error;
  });
}

/** Groups of rows wait in memory until they are full, and an event may take kilobytes. */
const ROWS_IN_A_GROUP = 20_480;

/**
 * Writes `file`, which lies outside the warehouse, and returns how many rows it has. DuckDB writes it row group by
 * row group. `sql` goes no further than into a view, behind all locks: it must be one statement that DuckDB takes
 * for a SELECT, so nothing of it can stand beside that view or write. Throws as `withPrepared`.
 */
export function writeParquet(
  views: Views,
  sql: string,
  options: QueryOptions,
  file: string,
): Promise<number> {
  return withPrepared(views, sql, { ...options, file }, async (connection, [statement, ...others]) => {
    if (statement?.statementType !== StatementType.SELECT || others.length > 0) throw notOneSelect();
    try {
      const views = await connection
        .extractStatements(`CREATE TEMP VIEW query_result AS\n${sql}`)
        .catch(() => undefined);
      if (views?.count !== 1) throw notOneSelect();
      await (await views.prepare(0)).run();
      const described = await connection.runAndReadAll("DESCRIBE query_result");
      const columns = described.getRows().map(([name, type]) => exactly(String(name), String(type)));
      const copy = `COPY (SELECT ${columns.join(", ")} FROM query_result) TO ${literal(file.replaceAll(sep, "/"))}
        (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROWS_IN_A_GROUP}, USE_TMP_FILE false)`;
      const copied = await onceMoreIfGone(() => connection.runAndReadAll(copy));
      return Number(copied.value(0, 0));
    } catch (error) {
      throw unwritable(error);
    }
  });
}

/** What the format has no type for, so that DuckDB would round it, and what is exact in its place; a number that is too large fails. */
const EXACT_TYPES: ReadonlyMap<string, string> = new Map([
  ["HUGEINT", "DECIMAL(38,0)"],
  ["UHUGEINT", "DECIMAL(38,0)"],
  ["INTERVAL", "VARCHAR"],
  ["TIME WITH TIME ZONE", "VARCHAR"],
]);

/** The column as the file has it. Behind a type ends its member, its list or all; behind a name a type follows. */
function exactly(name: string, type: string): string {
  const column = `"${name.replaceAll('"', '""')}"`;
  const exact = type.replaceAll(
    /"(?:[^"]|"")*"|'(?:[^']|'')*'|\b(?:U?HUGEINT|INTERVAL|TIME WITH TIME ZONE)(?=[[,)]|$)/g,
    (word) => EXACT_TYPES.get(word) ?? word,
  );
  return exact === type ? column : `CAST(${column} AS ${exact}) AS ${column}`;
}

/** The name in DuckDB's message is one that is gone by now. */
const UNWRITABLE = /^IO Error: Could not write file .*?(?:: ([^:\n]+))?$/m;

function unwritable(error: unknown): SyncError {
  const failure = queryError(error);
  const found = UNWRITABLE.exec(failure.message);
  if (found === null) return failure;
  const [, reason = "the file system reports an error"] = found;
  return new SyncError(
    "QUERY_FAILED",
    `The result cannot be written: ${reason}. Make room, or choose another place with --out.`,
    { cause: error },
  );
}

function notOneSelect(): SyncError {
  return new SyncError(
    "QUERY_FAILED",
    "Parquet holds the rows of one SELECT. Give one statement; DESCRIBE, SHOW and SUMMARIZE go into another one: SELECT * FROM (DESCRIBE events).",
  );
}

/** The result of the last statement, not yet read. */
async function run(
  statements: readonly DuckDBPreparedStatement[],
  signal: AbortSignal,
): Promise<DuckDBResult> {
  const last = statements.at(-1);
  if (last === undefined) throw noSql();
  try {
    for (const statement of statements.slice(0, -1)) {
      signal.throwIfAborted();
      await statement.run();
    }
    signal.throwIfAborted();
    return await last.stream();
  } catch (error) {
    throw queryError(error);
  }
}

const BATCH_CHARACTERS = 1024 * 1024;

/** A vector keeps each text that was read from it: so many rows are read from a part of it, which is then let go. */
const PART_ROWS = 16;

/** The client's own drops a byte order mark at the beginning of each text, in a list too, and there is no option against it. */
const EXACT = { textDecoder: new TextDecoder("utf-8", { ignoreBOM: true }) };

/** The client writes instants in the computer's zone, whatever the session has. */
const IN_UTC = { timezoneOffsetInMinutes: 0 };

/** Each batch has at most 2,048 rows, and one row more than `BATCH_CHARACTERS`. */
async function* batchesOf(result: DuckDBResult, signal: AbortSignal): AsyncGenerator<readonly ResultRow[]> {
  Object.assign(accessors, EXACT);
  Object.assign(DuckDBTimestampTZValue, IN_UTC);
  try {
    for await (const chunk of result) {
      signal.throwIfAborted();
      const { rowCount } = chunk;
      const vectors = Array.from({ length: chunk.columnCount }, (_, column) => chunk.getColumnVector(column));
      let batch: ResultRow[] = [];
      let characters = 0;
      for (let from = 0; from < rowCount; from += PART_ROWS) {
        const length = Math.min(PART_ROWS, rowCount - from);
        const part = vectors.map((vector) => vector.slice(from, length));
        for (let index = 0; index < length; index++) {
          const row = part.map((vector) => textAt(vector, index));
          batch.push(row);
          characters += row.reduce((sum, text) => sum + (text?.length ?? 0), 0);
          if (characters < BATCH_CHARACTERS) continue;
          yield batch;
          signal.throwIfAborted();
          batch = [];
          characters = 0;
        }
      }
      if (batch.length > 0) yield batch;
    }
  } catch (error) {
    throw queryError(error);
  }
}

/** As DuckDB writes it, but for a list of texts, which is JSON, and the strings in other lists and in a struct, which are quoted. */
function textAt(vector: DuckDBVector, index: number): string | null {
  const value = vector.getItem(index);
  if (value === null || typeof value === "string") return value;
  if (isListOfTexts(vector.type) && isList(value)) return JSON.stringify(value.items);
  return textOf(value, vector.type);
}

function textOf(value: DuckDBValue, type: DuckDBType): string {
  if (value === null) return "NULL";
  if (typeof value === "string") return literal(value);
  if (typeof value === "number" && FLOATING.has(type.typeId)) return floatingText(value);
  if (isList(value) && isListType(type))
    return `[${value.items.map((item) => textOf(item, type.valueType)).join(", ")}]`;
  if (value instanceof DuckDBStructValue && type instanceof DuckDBStructType) {
    const members = Object.entries(value.entries).map(
      ([name, member]) => `${literal(name)}: ${textOf(member, type.typeForEntry(name))}`,
    );
    return `{${members.join(", ")}}`;
  }
  if (value instanceof DuckDBMapValue && type instanceof DuckDBMapType) {
    const entries = value.entries.map(
      (entry) => `${textOf(entry.key, type.keyType)}: ${textOf(entry.value, type.valueType)}`,
    );
    return `{${entries.join(", ")}}`;
  }
  return String(value);
}

const FLOATING: ReadonlySet<DuckDBTypeId> = new Set([DuckDBTypeId.DOUBLE, DuckDBTypeId.FLOAT]);

/** JavaScript drops what tells a whole number of a floating type from an integer, and the sign of zero. */
function floatingText(value: number): string {
  const text = Object.is(value, -0) ? "-0" : String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function isListOfTexts(type: DuckDBType): boolean {
  return isListType(type) && type.valueType.typeId === DuckDBTypeId.VARCHAR;
}

function isListType(type: DuckDBType): type is DuckDBListType | DuckDBArrayType {
  return type instanceof DuckDBListType || type instanceof DuckDBArrayType;
}

function isList(value: DuckDBValue): value is DuckDBListValue | DuckDBArrayValue {
  return value instanceof DuckDBListValue || value instanceof DuckDBArrayValue;
}
