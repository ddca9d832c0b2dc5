// The rows of a view in Glue: its definition as Athena would find it, run over the rows that Athena would find. DuckDB
// runs it, with macros for the words of Trino that it lacks.

import { GetTableCommand, type GlueClient } from "@aws-sdk/client-glue";
import { DuckDBInstance } from "@duckdb/node-api";
import { z } from "zod";
import { VIEWS, type ViewName } from "../../lambdas/job/catalog/views.ts";
import type { TableName } from "../../lambdas/job/storage/layout.ts";
import { TRINO_WORDS } from "../job/catalog/views/trino-words.ts";

const definition = z.object({ originalSql: z.string(), schema: z.string() });

/** The SQL of the view in the catalog. */
export async function viewSql(glue: GlueClient, database: string, name: ViewName): Promise<string> {
  const { Table } = await glue.send(new GetTableCommand({ DatabaseName: database, Name: name }));
  const [, base64 = ""] = /^\/\* Presto View: (.+) \*\/$/.exec(Table?.ViewOriginalText ?? "") ?? [];
  const { originalSql, schema } = definition.parse(JSON.parse(Buffer.from(base64, "base64").toString()));
  if (schema !== database) throw new Error(`${name} reads the database ${schema}`);
  return originalSql;
}

/** As text or null, in the order of the view's columns. */
export async function viewRows(
  name: ViewName,
  sql: string,
  rowsOf: (table: TableName) => Promise<readonly object[]>,
): Promise<readonly (readonly unknown[])[]> {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  try {
    await connection.run(TRINO_WORDS);
    for (const table of VIEWS[name]) {
      const rows = await rowsOf(table);
      const columns = Object.keys(rows[0] ?? {}).map((column) => `"${column}": "VARCHAR"`);
      await connection.run(
        `CREATE TABLE ${table} AS SELECT unnest(from_json($1, '[{${columns.join(", ")}}]'), recursive := true)`,
        [JSON.stringify(rows)],
      );
    }
    return (
      await connection.runAndReadAll(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (${sql}) ORDER BY ALL`)
    ).getRowsJson();
  } finally {
    connection.closeSync();
  }
}
