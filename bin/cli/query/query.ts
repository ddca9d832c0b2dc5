// What a query on the warehouse gives: DuckDB in memory, over the files, every value as text.

import {
  type DuckDBConnection,
  type DuckDBExtractedStatements,
  type DuckDBPreparedStatement,
  type DuckDBResult,
  StatementType,
} from "@duckdb/node-api";
import type { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import type { AccountLog } from "../../../lambdas/job/catalog/duckdb/views-sql.ts";
import { VIEWS } from "../../../lambdas/job/catalog/views/views.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { DamagedUnit } from "../../../lambdas/job/snapshot/files/units.ts";
import { TABLES } from "../../../lambdas/job/storage/layout.ts";
import { allRows, type ResultRow, type ResultRows } from "../output/format-result.ts";
import { withLockedDuckDB } from "./locked-duckdb.ts";
import { resultBatches } from "./read-rows.ts";
import { noSql } from "./read-sql.ts";
import type { VerifyTablesOptions } from "./verify-tables.ts";

export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly ResultRow[];
}

export interface QueryOptions {
  readonly signal?: AbortSignal;
  /** Asked before the files of these tables are read; throws if one is damaged, or returns what to leave out. */
  readonly verify?: (
    use: Pick<VerifyTablesOptions, "accounts" | "tables">,
  ) => Promise<readonly DamagedUnit[]>;
  /** What helps with DuckDB's message about the SQL, if anything is known. */
  readonly hint?: (accounts: readonly AccountLog[], message: string) => Promise<string | undefined>;
}

interface PrepareOptions extends QueryOptions {
  /** A file outside the warehouse that the statements of `use` may write; the SQL itself cannot. */
  readonly file?: string;
}

export type Views = Pick<DuckdbCatalog, "directory" | "read">;

/** How DuckDB's client begins a parser's message, and how it does not when there is nothing to parse. */
const PARSER = "Failed to extract statements: ";

/** The whole result at once; otherwise as `queryRows`. */
export function query(views: Views, sql: string, options: QueryOptions = {}): Promise<QueryResult> {
  return queryRows(views, sql, options, allRows);
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
  const { signal = new AbortController().signal } = options;
  return withPrepared(views, sql, options, async (_, { statements }) => {
    const result = await run(statements, signal);
    return use({ columns: result.columnNames(), batches: batchesOf(result, signal) });
  });
}

/**
 * Lets `use` run what was let through. Throws `QUERY_FAILED` with what DuckDB says, and before anything runs for
 * SQL that does more than read this warehouse; the signal's reason when that aborts; what `verify` and `use` throw.
 */
export async function withPrepared<T>(
  views: Views,
  sql: string,
  {
    signal = new AbortController().signal,
    verify = async () => [],
    hint = async () => undefined,
    file,
  }: PrepareOptions,
  use: (connection: DuckDBConnection, prepared: ReadOnly) => Promise<T>,
): Promise<T> {
  const { sql: definitions, accounts, without } = await views.read();
  return withLockedDuckDB({ directory: views.directory, file }, async (connection) => {
    const stop = (): void => connection.interrupt();
    signal.addEventListener("abort", stop);
    try {
      await define(connection, definitions);
      const hintOn = (message: string): Promise<string | undefined> => hint(accounts, message);
      let prepared = await prepare(connection, sql, hintOn);
      const leftOut = await verify({ accounts, tables: prepared.tables });
      if (leftOut.length > 0) {
        await define(connection, without(leftOut));
        prepared = await prepare(connection, sql, hintOn);
      }
      return await use(connection, prepared);
    } catch (error) {
      signal.throwIfAborted(); // DuckDB's own word for it would look like a fault in the SQL
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  });
}

async function define(connection: DuckDBConnection, definitions: string): Promise<void> {
  try {
    await connection.run(definitions);
  } catch (error) {
    throw new SyncError(
      "QUERY_FAILED",
      `The tables cannot be made, because published files are missing or unreadable. Restore them from a backup. DuckDB says: ${messageOf(error)}`,
    );
  }
}

async function prepare(
  connection: DuckDBConnection,
  sql: string,
  hintOn: (message: string) => Promise<string | undefined>,
): Promise<ReadOnly> {
  const extracted = await connection.extractStatements(sql).catch((error: unknown) => {
    const message = messageOf(error);
    throw message.startsWith(PARSER) ? failed(message.slice(PARSER.length)) : noSql();
  });
  if (extracted.count === 0) throw noSql();
  return prepareReadOnly(connection, sql, extracted).catch(async (error: unknown) => {
    throw queryError(error, await hintOn(messageOf(error)));
  });
}

/** The result of the last statement, not yet read. */
async function run(statements: ReadOnly["statements"], signal: AbortSignal): Promise<DuckDBResult> {
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

async function* batchesOf(result: DuckDBResult, signal: AbortSignal): AsyncGenerator<readonly ResultRow[]> {
  try {
    yield* resultBatches(result, signal);
  } catch (error) {
    throw queryError(error);
  }
}

/** What a query that fails says: DuckDB's own words, and what helps. */
const MAX_MESSAGE_CHARS = 2000;

/** How DuckDB's message begins for a file, a URL or an extension that it may not open. */
const LOCKED = "Permission Error: ";

/** How DuckDB begins its message for arguments of types that a function or an operator does not take. */
const NO_OVERLOAD = /^Binder Error: (?:No function matches|Could not choose|Cannot compare)/;

const TRY_CAST =
  "What the service sends is text. TRY_CAST converts it, to NULL where it does not convert: TRY_CAST(event_date AS DATE). Instants are text too: from_iso8601_timestamp(published_at) >= current_timestamp - INTERVAL '7' DAY.";

const ALLOWED =
  "query reads the tables of this warehouse and their files, with SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW and SUMMARIZE, or EXPLAIN of one of them; PIVOT needs its IN list. For anything else read views.sql in a DuckDB of your own.";

export function queryError(error: unknown, hint?: string): SyncError {
  const message = messageOf(error);
  return error instanceof NotReadOnly || message.startsWith(LOCKED)
    ? refused(message)
    : failed(message, hint);
}

function failed(message: string, hint?: string): SyncError {
  const isAboutTypes = message.startsWith("Conversion Error: ") || NO_OVERLOAD.test(message);
  const remedies = [
    ...(hint === undefined ? [] : [hint]),
    ...(isAboutTypes ? [TRY_CAST] : []),
    `The tables are ${Object.keys(TABLES).join(", ")}, and the views ${Object.keys(VIEWS).join(" and ")}; DESCRIBE events shows the columns of one.`,
  ];
  return new SyncError("QUERY_FAILED", [message, ...remedies].join("\n"));
}

/** What DuckDB says quotes the SQL, and a value that does not convert with it: enough is enough. */
export function messageOf(error: unknown): string {
  const message = withoutCandidates(error instanceof Error ? error.message : String(error));
  return message.length > MAX_MESSAGE_CHARS ? `${message.slice(0, MAX_MESSAGE_CHARS)}…` : message;
}

function refused(message: string): SyncError {
  return new SyncError("QUERY_FAILED", `${message}\n${ALLOWED}`);
}

/** Without the list of every function of that name, one to a line that begins with a tab. */
function withoutCandidates(message: string): string {
  if (!message.includes("Candidate functions:")) return message;
  const lines = message.split("\n").filter((line) => !line.startsWith("\t") && line !== "");
  return lines.join("\n");
}

/**
 * Functions in a FROM that only read. Others are statements in disguise: `enable_profiling` writes a file,
 * `query` runs a text, `histogram` takes a table's name as one. Those that begin with `duckdb_` describe DuckDB.
 */
const READERS: ReadonlySet<string> = new Set([
  ...["read_json", "read_json_auto", "read_json_objects", "read_json_objects_auto"],
  ...["read_ndjson", "read_ndjson_auto", "read_ndjson_objects", "read_csv", "read_csv_auto", "sniff_csv"],
  ...["read_parquet", "parquet_scan", "parquet_metadata", "parquet_schema", "read_text", "read_blob", "glob"],
  ...["range", "generate_series", "repeat", "repeat_row", "unnest", "json_each", "json_tree"],
  ...["pragma_version", "pragma_table_info", "pragma_show"],
]);

/**
 * What may stand before the statement that EXPLAIN explains, and that EXPLAIN ANALYZE runs. A comment ends where
 * DuckDB ends it, or earlier: then this SQL is refused.
 */
const EXPLAIN =
  /^(?:\s|--[^\r\n]*[\r\n]|\/\*(?:[^*]|\*(?!\/))*\*\/)*EXPLAIN\s+(?:ANALY[SZ]E\s+|\([^()]*\)\s*(?=[\w(]))?/i;

/** SQL that does more than read. */
class NotReadOnly extends Error {}

export interface ReadOnly {
  readonly statements: readonly DuckDBPreparedStatement[];
  /** In lower case, whatever is named like a table, some of it quoted: more rather than less than is read. */
  readonly tables: ReadonlySet<string>;
}

/** `statements` are those of `sql`. Throws `NotReadOnly`; other errors are DuckDB's. */
async function prepareReadOnly(
  connection: DuckDBConnection,
  sql: string,
  statements: DuckDBExtractedStatements,
): Promise<ReadOnly> {
  const tree = await syntaxTree(connection, sql.replace(EXPLAIN, ""));
  for (const name of functionsInFrom(tree)) {
    if (!READERS.has(name) && !name.startsWith("duckdb_")) {
      throw new NotReadOnly(`The function ${name} does more than read.`);
    }
  }

  const prepared: DuckDBPreparedStatement[] = [];
  for (let index = 0; index < statements.count; index++) {
    const statement = await statements.prepare(index);
    const { statementType } = statement;
    if (statementType !== StatementType.SELECT && statementType !== StatementType.EXPLAIN) {
      throw new NotReadOnly(`A statement of the kind ${StatementType[statementType]} does more than read.`);
    }
    prepared.push(statement);
  }
  return { statements: prepared, tables: new Set(tablesIn(tree)) };
}

async function syntaxTree(connection: DuckDBConnection, sql: string): Promise<unknown> {
  const result = await connection.runAndReadAll("SELECT json_serialize_sql($1::VARCHAR)", [sql]);
  const tree: unknown = JSON.parse(String(result.value(0, 0)));
  // It knows SELECT statements only, so this is where others end: PRAGMA too, which may turn into a SELECT.
  if (hasKey(tree, "error") && tree.error === false) return tree;
  throw new NotReadOnly("This does more than read.");
}

function* functionsInFrom(node: unknown): Generator<string> {
  if (typeof node !== "object" || node === null) return;
  if (hasKey(node, "type") && node.type === "TABLE_FUNCTION") {
    const called = hasKey(node, "function") ? node.function : undefined;
    yield hasKey(called, "function_name") ? String(called.function_name).toLowerCase() : "without a name";
  }
  for (const child of Object.values(node)) yield* functionsInFrom(child);
}

function* tablesIn(node: unknown): Generator<string> {
  if (typeof node !== "object" || node === null) return;
  if (hasKey(node, "table_name")) yield String(node.table_name).toLowerCase().replaceAll('"', "");
  for (const child of Object.values(node)) yield* tablesIn(child);
}

function hasKey<K extends string>(value: unknown, key: K): value is Record<K, unknown> {
  return typeof value === "object" && value !== null && key in value;
}
