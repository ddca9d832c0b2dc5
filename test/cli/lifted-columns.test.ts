// Columns of one's own in the tables of events: where they stand, and what older snapshots show there.

import { expect, it } from "vitest";
import { query } from "../../bin/cli/query/query.ts";
import { COLUMNS_FILE } from "../../lambdas/job/storage/layout.ts";
import { liftedManifest } from "../job/snapshot/files/manifests.ts";
import { eventRow, type Warehouse, warehouse } from "./warehouse.ts";

const ONE = "2026-11-21T06-00-00.000Z";
const TWO = "2026-11-22T06-00-00.000Z";

const rows = async ({ views }: Warehouse, sql: string): Promise<readonly unknown[]> =>
  (await query(views, sql)).rows;

const columnsOf = (made: Warehouse, table: string): Promise<readonly unknown[]> =>
  rows(made, `SELECT column_name FROM (DESCRIBE ${table}) WHERE column_type = 'VARCHAR'`);

/** Two snapshots of uk, the second one with these lifted columns. */
async function withLifted(names: readonly string[], values: object): Promise<Warehouse> {
  const made = await warehouse();
  await made.snapshot("uk", ONE, [eventRow("a")]);
  await made.publish("uk", { snapshot_id: ONE, events: 1, added: 0 });
  await made.snapshot("uk", TWO, [eventRow("a", values)]);
  await made.manifest(liftedManifest(names, { snapshot_id: TWO }));
  await made.publish("uk", { publication: "0000000002", snapshot_id: TWO, events: 1, added: 0 });
  return made;
}

it("stand after the listing and before the partitions, in order", async () => {
  const made = await withLifted(["brand", "amount"], { brand: "x", amount: "1.10" });

  const shared = ["uuid", "event_date", "scope", "event", "listing", "brand", "amount", "account"];
  expect(await columnsOf(made, "events")).toEqual(shared.map((name) => [name]));
  expect(await columnsOf(made, "event_snapshots")).toEqual([...shared, "snapshot_id"].map((name) => [name]));
});

it("are null in a snapshot from before they were lifted", async () => {
  const made = await withLifted(["brand"], { brand: "x" });

  expect(await rows(made, "SELECT snapshot_id, brand FROM event_snapshots ORDER BY ALL")).toEqual([
    [ONE, null],
    [TWO, "x"],
  ]);
  expect(await rows(made, "SELECT brand FROM events")).toEqual([["x"]]);
});

it("are those of the account that has the most, and null for the others", async () => {
  const made = await withLifted(["brand"], { brand: "x" });
  await made.snapshot("de", ONE, [eventRow("b", { brand: "y", amount: "2" })]);
  await made.manifest(liftedManifest(["brand", "amount"], { account: "de", snapshot_id: ONE }));
  await made.publish("de", { snapshot_id: ONE, events: 1, added: 0 });

  expect(await rows(made, "SELECT account, brand, amount FROM events ORDER BY ALL")).toEqual([
    ["de", "y", "2"],
    ["uk", "x", null],
  ]);
});

it("are those of columns.json, with their types, also one that has no row yet", async () => {
  const made = await withLifted(["brand"], { brand: "x" });
  const columns = [
    { name: "brand", pointers: { uk: "/brand" }, since: TWO },
    { name: "amount", type: "BIGINT", typed_by: TWO, pointers: { de: "/amount" }, since: TWO },
  ];
  await made.put(COLUMNS_FILE, [{ version: 1, columns }]);

  expect(await rows(made, "SELECT brand, amount FROM events")).toEqual([["x", null]]);
  expect(
    await rows(made, "SELECT column_type FROM (DESCRIBE events_typed) WHERE column_name = 'amount'"),
  ).toEqual([["BIGINT"]]);
});

it("may have any name, that of a keyword or of DuckDB's own columns too", async () => {
  const names = ["select", "filename", "__proto__", "rowid", "file_row_number", "order", "_"];
  const made = await withLifted(names, JSON.parse(`{${names.map((name) => `"${name}":"${name}!"`)}}`));
  const quoted = names.map((name) => `"${name}"`);

  expect(await rows(made, `SELECT ${quoted} FROM events`)).toEqual([names.map((name) => `${name}!`)]);
  expect(await rows(made, `SELECT ${quoted} FROM event_snapshots WHERE snapshot_id = '${ONE}'`)).toEqual([
    names.map(() => null),
  ]);
});

it("are there, though the head has no events", async () => {
  const made = await warehouse();
  await made.manifest(liftedManifest(["brand"], { snapshot_id: ONE }));
  await made.publish("uk", { snapshot_id: ONE, events: 0, added: 0 });

  expect(await rows(made, "SELECT brand FROM events")).toEqual([]);
});
