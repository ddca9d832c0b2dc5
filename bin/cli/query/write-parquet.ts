// A result as a Parquet file, with the types that DuckDB gives its columns.

import { StatementType } from "@duckdb/node-api";
import { literal } from "../../../lambdas/job/catalog/duckdb/views-sql.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { withForwardSlashes } from "./locked-duckdb.ts";
import { messageOf, type QueryOptions, queryError, type Views, withPrepared } from "./query.ts";

const UNWRITABLE = "IO Error: Could not write file ";

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
  return withPrepared(views, sql, { ...options, file }, async (connection, { statements }) => {
    const [statement, ...others] = statements;
    if (statement?.statementType !== StatementType.SELECT || others.length > 0) throw notOneSelect();
    try {
      const views = await connection
        .extractStatements(`CREATE TEMP VIEW query_result AS\n${sql}`)
        .catch(() => undefined);
      if (views?.count !== 1) throw notOneSelect();
      await (await views.prepare(0)).run();
      const copied = await connection.runAndReadAll(
        `COPY (FROM query_result) TO ${literal(withForwardSlashes(file))}
        (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROWS_IN_A_GROUP}, USE_TMP_FILE false)`,
      );
      return Number(copied.value(0, 0));
    } catch (error) {
      if (error instanceof SyncError) throw error;
      throw messageOf(error).startsWith(UNWRITABLE) ? unwritable(error) : queryError(error);
    }
  });
}

/** The name in DuckDB's message is one that is gone by now. */
function unwritable(error: unknown): SyncError {
  const [, reason = "the file system reports an error"] = /: ([^:\n]+)$/.exec(messageOf(error)) ?? [];
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
