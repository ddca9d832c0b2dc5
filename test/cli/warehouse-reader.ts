// Reads a warehouse through `views.sql`, which may be older than the log.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";

/** `SELECT uuid, event FROM events`, sorted; empty where no views were ever written. */
export async function readEvents(warehouse: string): Promise<ReadonlyMap<string, string>> {
  const rows = await readRows(warehouse, "SELECT uuid, event FROM events ORDER BY uuid");
  return new Map(rows.map(([uuid, event]) => [String(uuid), String(event)]));
}

export async function readRows(warehouse: string, sql: string): Promise<readonly (readonly unknown[])[]> {
  const views = await readFile(join(warehouse, "views.sql"), "utf8").catch(() => undefined);
  if (views === undefined) return [];
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    await connection.run(views);
    return (await connection.runAndReadAll(sql)).getRowsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
