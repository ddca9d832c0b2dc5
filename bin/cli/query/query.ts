// What a query on the warehouse gives: DuckDB in memory, over the files, every value as text.

import type { DuckDBConnection, DuckDBResult } from "@duckdb/node-api";
import type { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { DamagedUnit } from "../../../lambdas/job/snapshot/files/units.ts";
import { collect, type ResultRows, type Row } from "../formats/result-rows.ts";
import { withLockedDuckDB } from "./locked-duckdb.ts";
import { prepareReadOnly, type ReadOnly } from "./prepare-read-only.ts";
import { failed, messageOf, queryError } from "./query-error.ts";
import { valueText } from "./value-text.ts";
import type { VerifyTablesOptions } from "./verify-tables.ts";

export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

export interface QueryOptions {
  readonly signal?: AbortSignal;
  /** Asked before the files of these tables are read; throws if one is damaged, or returns what to leave out. */
  readonly verify?: (
    use: Pick<VerifyTablesOptions, "accounts" | "tables">,
  ) => Promise<readonly DamagedUnit[]>;
}

interface PrepareOptions extends QueryOptions {
  /** A file outside the warehouse that the statements of `use` may write; the SQL itself cannot. */
  readonly file?: string;
}

export type Views = Pick<DuckdbCatalog, "directory" | "read">;

/** How DuckDB's client begins a parser's message, and how it does not when there is nothing to parse. */
const PARSER = "Failed to extract statements: ";

const NOTHING_TO_RUN = "There is no statement to run.";

/** The whole result at once; otherwise as `queryRows`. */
export function query(views: Views, sql: string, options: QueryOptions = {}): Promise<QueryResult> {
  return queryRows(views, sql, options, collect);
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
  { signal = new AbortController().signal, verify = async () => [], file }: PrepareOptions,
  use: (connection: DuckDBConnection, prepared: ReadOnly) => Promise<T>,
): Promise<T> {
  const { sql: definitions, accounts, without } = await views.read();
  return withLockedDuckDB({ directory: views.directory, file }, async (connection) => {
    const stop = (): void => connection.interrupt();
    signal.addEventListener("abort", stop);
    try {
      await define(connection, definitions);
      let prepared = await prepare(connection, sql);
      const leftOut = await verify({ accounts, tables: prepared.tables });
      if (leftOut.length > 0) {
        await define(connection, without(leftOut));
        prepared = await prepare(connection, sql);
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

async function prepare(connection: DuckDBConnection, sql: string): Promise<ReadOnly> {
  const extracted = await connection.extractStatements(sql).catch((error: unknown) => {
    const message = messageOf(error);
    throw failed(message.startsWith(PARSER) ? message.slice(PARSER.length) : NOTHING_TO_RUN);
  });
  if (extracted.count === 0) throw failed(NOTHING_TO_RUN);
  return prepareReadOnly(connection, sql, extracted).catch((error: unknown) => {
    throw queryError(error);
  });
}

/** The result of the last statement, not yet read. */
async function run(statements: ReadOnly["statements"], signal: AbortSignal): Promise<DuckDBResult> {
  const last = statements.at(-1);
  if (last === undefined) throw failed(NOTHING_TO_RUN);
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

async function* batchesOf(result: DuckDBResult, signal: AbortSignal): AsyncGenerator<readonly Row[]> {
  try {
    for await (const rows of result.yieldConvertedRows(valueText)) {
      signal.throwIfAborted();
      yield rows;
    }
  } catch (error) {
    throw queryError(error);
  }
}
