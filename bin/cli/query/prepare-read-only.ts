// Lets through SQL that only reads. DuckDB itself says what each statement is and which functions it calls.

import {
  type DuckDBConnection,
  type DuckDBExtractedStatements,
  type DuckDBPreparedStatement,
  StatementType,
} from "@duckdb/node-api";

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
export class NotReadOnly extends Error {}

export interface ReadOnly {
  readonly statements: readonly DuckDBPreparedStatement[];
  /** In lower case, whatever is named like a table, some of it quoted: more rather than less than is read. */
  readonly tables: ReadonlySet<string>;
}

/** `statements` are those of `sql`. Throws `NotReadOnly`; other errors are DuckDB's. */
export async function prepareReadOnly(
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
