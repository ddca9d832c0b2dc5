// A DuckDB in memory that reads the tables of one warehouse, and writes one file if need be: no other file, no network, no
// extension, and of SQL only what reads.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { join, sep } from "node:path";
import {
  type DuckDBConnection,
  type DuckDBExtractedStatements,
  DuckDBInstance,
  type DuckDBPreparedStatement,
} from "@duckdb/node-api";
import * as z from "zod";
import { VIEWS } from "../../../lambdas/job/catalog/catalog.ts";
import type { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import {
  type AccountLog,
  escapePattern,
  linesIn,
  literal,
} from "../../../lambdas/job/catalog/duckdb/views-sql.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { abortable } from "../../../lambdas/job/runtime/on-abort.ts";
import { FOLDERS, TABLES, VIEWS_FILE } from "../../../lambdas/job/storage/layout.ts";
import { SELDOM_PARSED } from "../../../lambdas/job/storage/store.ts";
import { noSql } from "./read-sql.ts";

export type Views = Pick<DuckdbCatalog, "directory" | "read">;

export interface QueryOptions {
  readonly signal?: AbortSignal;
  /** Told what will be read: of these accounts these tables, in lower case, and perhaps others. */
  readonly onTables?: (accounts: readonly AccountLog[], tables: ReadonlySet<string>) => Promise<void>;
  /** What helps with DuckDB's message about the SQL, if anything is known. */
  readonly hint?: (accounts: readonly AccountLog[], message: string) => Promise<string | undefined>;
}

interface PrepareOptions extends QueryOptions {
  /** A file outside the warehouse that the statements of `use` may write; the SQL itself cannot. */
  readonly file?: string;
}

/**
 * Lets `use` run what was let through. Throws `QUERY_FAILED` with what DuckDB says, and before anything runs for
 * SQL that does more than read this warehouse; the signal's reason at once when that aborts, while DuckDB may go on; what
 * `onTables` and `use` throw.
 */
export async function withPrepared<T>(
  views: Views,
  sql: string,
  {
    signal = new AbortController().signal,
    onTables = async () => undefined,
    hint = async () => undefined,
    file,
  }: PrepareOptions,
  use: (
    connection: DuckDBConnection,
    statements: readonly DuckDBPreparedStatement[],
    signal: AbortSignal,
  ) => Promise<T>,
): Promise<T> {
  return withLockedDuckDB({ directory: views.directory, file, signal }, async (connection) => {
    const readOnly = await readOnlyStatements(connection, sql);
    const { sql: definitions, accounts } = await views.read(readOnly.tables);
    await define(connection, definitions);
    const statements = await prepare(readOnly.statements).catch(async (error: unknown) => {
      throw queryError(error, await hint(accounts, messageOf(error)));
    });
    await onTables(accounts, readOnly.tables);
    return use(connection, statements, signal);
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

/** How DuckDB's client begins a parser's message, and how it does not when there is nothing to parse. */
const PARSER = "Failed to extract statements: ";

async function prepare(statements: DuckDBExtractedStatements): Promise<readonly DuckDBPreparedStatement[]> {
  const prepared: DuckDBPreparedStatement[] = [];
  for (let index = 0; index < statements.count; index++) prepared.push(await statements.prepare(index));
  return prepared;
}

/** DuckDB would load these at the first sight of a function or a URL, over the network if need be. */
const NO_EXTENSIONS = {
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  allow_community_extensions: "false",
};

/** What needs more goes to the disk, and the rest of the computer keeps working. */
const MEMORY_SHARE = 0.5;

/** Of what this process may have: the computer's, or less in a container. 0 is a container's limit that is not known. */
export function memoryLimitBytes(ofComputer: number, ofContainer: number): number {
  const bytes = ofContainer > 0 ? Math.min(ofContainer, ofComputer) : ofComputer;
  return Math.floor(bytes * MEMORY_SHARE);
}

const { publications, runLogs, snapshots, changes } = FOLDERS;
const TABLE_FOLDERS = [publications, runLogs, snapshots, changes].map((folder) => folder.slice(0, -1));

interface LockOptions {
  readonly directory: string;
  readonly file: string | undefined;
  readonly signal: AbortSignal;
}

/** Lets `use` work with a connection. DuckDB compares real paths, so a link to a file elsewhere opens nothing. */
async function withLockedDuckDB<T>(
  { directory, file, signal }: LockOptions,
  use: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const folders = TABLE_FOLDERS.map((folder) => withForwardSlashes(join(directory, folder)));
  // DuckDB compares a file pattern with the folders as it is written, so each is named as in a pattern too.
  const allowed = new Set([...folders, ...folders.map(escapePattern)]);
  const files = [join(directory, VIEWS_FILE), ...(file === undefined ? [] : [file])].map(withForwardSlashes);
  // The pattern names no file itself: each one that it finds must lie in one of the folders.
  files.push(linesIn(directory));
  const list = (paths: Iterable<string>): string => [...paths].map(literal).join(", ");
  // For what does not fit into memory, values of rows: only this user may read it. Undefined where none can be made.
  const temporary = await mkdtemp(join(tmpdir(), "brand-events-sync-")).catch(() => undefined);
  const instance = await DuckDBInstance.create(":memory:", NO_EXTENSIONS);
  const connection = await instance.connect();
  try {
    // DuckDB adds its folder for large sorts to those that are allowed, hence one of our own.
    await connection.run(`SET temp_directory = ${literal(temporary ?? "")};
SET memory_limit = '${memoryLimitBytes(totalmem(), process.constrainedMemory())} B';
SET TimeZone = 'UTC';
SET allowed_directories = [${list(allowed)}];
SET allowed_paths = [${list(files)}];
SET enable_external_access = false;
SET lock_configuration = true;`);
    return await abortable(use(connection), signal);
  } finally {
    if (signal.aborted) connection.interrupt();
    else {
      connection.closeSync();
      instance.closeSync();
    }
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }
}

const withForwardSlashes = (path: string): string => path.replaceAll(sep, "/");

/** What a query that fails says: DuckDB's own words, and what helps. */
const MAX_MESSAGE_CHARS = 2000;

/** How DuckDB's message begins for a file, a URL or an extension that it may not open. */
const LOCKED = "Permission Error: ";

/** How DuckDB's message begins for a value that does not convert, and for types that a function or an operator does not take. */
const ABOUT_TYPES =
  /^(?:Conversion Error: |Binder Error: (?:No function matches|Could not choose|Cannot compare))/;

const TRY_CAST =
  "What the service sends is text. TRY_CAST converts it, to NULL where it does not convert: TRY_CAST(event_date AS DATE), or a number, exactly, TRY_CAST(amount AS DECIMAL(18, 2)). Instants are text too: from_iso8601_timestamp(published_at) >= current_timestamp - INTERVAL '7' DAY.";

/** How DuckDB's message begins for a JSON text that it does not read. */
const MALFORMED = /^[A-Z][A-Za-z ]+ Error: Malformed JSON/;

const WELL_FORMED =
  "DuckDB reads no JSON with half of a surrogate pair, which an event may have: write well_formed(event) for event, which has U+FFFD there and is null for what is no JSON.";

const ALLOWED =
  "query reads the tables of this warehouse and their files, with SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW and SUMMARIZE, or EXPLAIN of one of them; PIVOT needs its IN list. For anything else read views.sql in a DuckDB of your own.";

/** A `SyncError` stays as it is. */
export function queryError(error: unknown, hint?: string): SyncError {
  if (error instanceof SyncError) return error;
  const message = messageOf(error);
  return message.startsWith(LOCKED) ? refused(message) : failed(message, hint);
}

function failed(message: string, hint?: string): SyncError {
  const remedies = [
    ...(hint === undefined ? [] : [hint]),
    ...(MALFORMED.test(message) ? [WELL_FORMED] : ABOUT_TYPES.test(message) ? [TRY_CAST] : []),
    `The tables are ${Object.keys(TABLES).join(", ")}, and the views ${Object.keys(VIEWS).join(" and ")}; DESCRIBE events shows the columns of one.`,
  ];
  return new SyncError("QUERY_FAILED", [message, ...remedies].join("\n"));
}

/** Every function of a name, which may be forty. */
const CANDIDATES = /\n\tCandidate functions:\n(?:\t.*\n)+\n*/;

/** What DuckDB says quotes the SQL, and a value that does not convert with it: enough is enough. */
function messageOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const message = said.replace(CANDIDATES, "\n");
  return message.length > MAX_MESSAGE_CHARS ? `${message.slice(0, MAX_MESSAGE_CHARS)}…` : message;
}

function refused(message: string): SyncError {
  return new SyncError("QUERY_FAILED", `${message}\n${ALLOWED}`);
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

interface ReadOnly {
  readonly statements: DuckDBExtractedStatements;
  /** In lower case, whatever is named like a table, some of it quoted: more rather than less than is read. */
  readonly tables: ReadonlySet<string>;
}

const CALLED = z.object({ function_name: z.string().toLowerCase() });

/** What was let through, before any table is made. */
async function readOnlyStatements(connection: DuckDBConnection, sql: string): Promise<ReadOnly> {
  const statements = await connection.extractStatements(sql).catch((error: unknown) => {
    const message = messageOf(error);
    throw message.startsWith(PARSER) ? failed(message.slice(PARSER.length)) : noSql();
  });
  const tables = new Set<string>();
  for (const node of nodesOf(await syntaxTree(connection, sql.replace(EXPLAIN, "")))) {
    if (node.table_name !== undefined) tables.add(String(node.table_name).toLowerCase().replaceAll('"', ""));
    if (node.type !== "TABLE_FUNCTION") continue;
    const { function_name: name } = CALLED.parse(node.function, SELDOM_PARSED);
    if (!READERS.has(name) && !name.startsWith("duckdb_")) {
      throw refused(`The function ${name} does more than read.`);
    }
  }
  return { statements, tables };
}

/** What DuckDB says of statements that it can write as a tree. */
const SERIALIZED = z.object({ error: z.literal(false), statements: z.unknown() });

async function syntaxTree(connection: DuckDBConnection, sql: string): Promise<unknown> {
  const result = await connection.runAndReadAll("SELECT json_serialize_sql($1::VARCHAR)", [sql]);
  const { data } = SERIALIZED.safeParse(readTree(String(result.value(0, 0))), SELDOM_PARSED);
  // The serializer knows SELECT statements only, so this is where others end: PRAGMA too, which may turn into a SELECT.
  if (data === undefined) throw refused("This does more than read.");
  return data.statements;
}

function readTree(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refused(
      "What this reads cannot be told. Is a number in it beyond the range of DOUBLE, such as 1e400? Write 'Infinity'::DOUBLE.",
    );
  }
}

interface SyntaxNode {
  readonly type?: unknown;
  readonly table_name?: unknown;
  readonly function?: unknown;
}

function* nodesOf(value: unknown): Generator<SyntaxNode> {
  if (typeof value !== "object" || value === null) return;
  yield value;
  for (const child of Object.values(value)) yield* nodesOf(child);
}
