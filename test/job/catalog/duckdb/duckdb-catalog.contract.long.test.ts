// views.sql keeps the contract of a catalog, where DuckDB reads it.

import { warehouse } from "../../../cli/warehouse.ts";
import { readRows } from "../../../cli/warehouse-reader.ts";
import { catalogContract } from "../catalog-contract.ts";

catalogContract("DuckdbCatalog", async () => {
  const { store, views, directory } = await warehouse();
  const rowsOf = async (table: string, column: string, account: string): Promise<Map<string, string[]>> => {
    const sql = `SELECT ${column}, uuid FROM ${table} WHERE account = '${account}' ORDER BY 1, 2`;
    const found = new Map<string, string[]>();
    for (const [key, uuid] of await readRows(directory, sql)) {
      found.set(String(key), [...(found.get(String(key)) ?? []), String(uuid)]);
    }
    return found;
  };
  const tables = {
    events: async (account: string) => (await rowsOf("events", "account", account)).get(account) ?? [],
    snapshots: (account: string) => rowsOf("event_snapshots", "snapshot_id", account),
    changes: (account: string) => rowsOf("event_changes", "publication", account),
  };
  return { store, catalog: views, tables };
});
