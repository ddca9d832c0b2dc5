// What a query on the warehouse gives: DuckDB in memory, over the files, every value as text.

import {
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  type DuckDBResultReader,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
} from "@duckdb/node-api";
import type { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { TABLES } from "../../../lambdas/job/storage/tables.ts";
import { withLockedDuckDB } from "./locked-duckdb.ts";
import { NotReadOnly, prepareReadOnly, type ReadOnly } from "./prepare-read-only.ts";
import type { VerifyTablesOptions } from "./verify-tables.ts";

export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

export interface QueryOptions {
  readonly signal?: AbortSignal;
  /** Asked before the files of these tables are read; throws if one is damaged. */
  readonly verify?: (use: Pick<VerifyTablesOptions, "accounts" | "tables">) => Promise<void>;
}

const MAX_MESSAGE_CHARS = 2000;

/** How DuckDB's client begins a parser's message, and how it does not when there is nothing to parse. */
const PARSER = "Failed to extract statements: ";

/** How DuckDB's message begins for a file, a URL or an extension that it may not open. */
const LOCKED = "Permission Error: ";

/** How DuckDB begins its message for arguments of types that a function or an operator does not take. */
const NO_OVERLOAD = /^Binder Error: (?:No function matches|Could not choose|Cannot compare)/;

const TRY_CAST =
  "What the service sends is text. TRY_CAST converts it, to NULL where it does not convert: TRY_CAST(event_date AS DATE).";

const ALLOWED =
  "query reads the tables and files of this warehouse, with SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW and SUMMARIZE, or EXPLAIN of one of them. For anything else read views.sql in a DuckDB of your own.";

/**
 * Runs `sql` on the tables as the logs have them now, so also in a warehouse that was moved. Of several
 * statements, the last one's rows are the result. Throws `QUERY_FAILED` with what DuckDB says, and before
 * anything runs for SQL that does more than read this warehouse; the signal's reason when that aborts; what
 * `verify` throws.
 */
export async function query(
  views: Pick<DuckdbCatalog, "directory" | "read">,
  sql: string,
  { signal = new AbortController().signal, verify = async () => undefined }: QueryOptions = {},
): Promise<QueryResult> {
  const { sql: definitions, accounts } = await views.read();
  return withLockedDuckDB(views.directory, async (connection) => {
    const stop = (): void => connection.interrupt();
    signal.addEventListener("abort", stop);
    try {
      await define(connection, definitions);
      const { statements, tables } = await prepare(connection, sql);
      await verify({ accounts, tables });
      return await run(statements, signal);
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

async function prepare(connection: DuckDBConnection, sql: string): Promise<ReadOnly> {
  const extracted = await connection.extractStatements(sql).catch((error: unknown) => {
    const message = messageOf(error);
    throw failed(message.startsWith(PARSER) ? message.slice(PARSER.length) : "There is no statement to run.");
  });
  if (extracted.count === 0) throw failed("There is no statement to run.");
  return prepareReadOnly(connection, sql, extracted).catch((error: unknown) => {
    throw queryError(error);
  });
}

async function run(
  statements: readonly DuckDBPreparedStatement[],
  signal: AbortSignal,
): Promise<QueryResult> {
  try {
    let result: DuckDBResultReader | undefined;
    for (const statement of statements) {
      signal.throwIfAborted();
      result = await statement.runAndReadAll();
    }
    return { columns: result?.columnNames() ?? [], rows: result?.convertRows(toText) ?? [] };
  } catch (error) {
    throw queryError(error);
  }
}

function queryError(error: unknown): SyncError {
  const message = messageOf(error);
  return error instanceof NotReadOnly || message.startsWith(LOCKED) ? refused(message) : failed(message);
}

function refused(message: string): SyncError {
  return new SyncError("QUERY_FAILED", `${message}\n${ALLOWED}`);
}

function failed(message: string): SyncError {
  const isAboutTypes = message.startsWith("Conversion Error: ") || NO_OVERLOAD.test(message);
  const remedies = [
    ...(isAboutTypes ? [TRY_CAST] : []),
    `The tables are ${Object.keys(TABLES).join(", ")}; DESCRIBE events shows the columns of one.`,
  ];
  return new SyncError("QUERY_FAILED", [message, ...remedies].join("\n"));
}

/** What DuckDB says quotes the SQL, and a value that does not convert with it: enough is enough. */
function messageOf(error: unknown): string {
  const message = withoutCandidates(error instanceof Error ? error.message : String(error));
  return message.length > MAX_MESSAGE_CHARS ? `${message.slice(0, MAX_MESSAGE_CHARS)}…` : message;
}

/**
 * As DuckDB writes it, but for the strings in a list or struct, which are quoted, and for a byte order mark
 * at the very beginning of a string, which DuckDB's client drops.
 */
function toText(value: DuckDBValue, type: DuckDBType): string | null {
  if (value === null) return null;
  const text = String(value);
  // JavaScript drops what tells a whole number of a floating type from an integer.
  const isFloating = type.typeId === DuckDBTypeId.DOUBLE || type.typeId === DuckDBTypeId.FLOAT;
  return isFloating && /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** Without the list of every function of that name, one to a line that begins with a tab. */
function withoutCandidates(message: string): string {
  if (!message.includes("Candidate functions:")) return message;
  const lines = message.split("\n").filter((line) => !line.startsWith("\t") && line !== "");
  return lines.join("\n");
}
