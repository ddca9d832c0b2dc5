// Columns are only ever appended: a run that would move or lose one is refused before any request.

import { describe, expect, test } from "vitest";
import type { Catalog } from "../../../../lambdas/job/catalog/catalog.ts";
import {
  checkColumns,
  columnsOfRun,
  type WarehouseColumn,
} from "../../../../lambdas/job/run/publish/columns.ts";
import {
  type LiftedColumn,
  parseLiftedColumns,
} from "../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { type AccountStore, accountStore } from "../../../../lambdas/job/storage/store.ts";
import { MemoryCatalog } from "../../catalog/memory-catalog.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { liftedManifest } from "../../snapshot/files/manifests.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { aPublication } from "../../storage/publications.ts";

const lift = (...names: readonly string[]): readonly LiftedColumn[] =>
  parseLiftedColumns(names.map((name) => `${name}=/${name}`));

const tablesWith = (...names: readonly string[]): readonly WarehouseColumn[] =>
  names.map((name) => ({ name, pointers: [], isOwn: false }));

describe("columns that begin with those of the tables", () => {
  test.each<[readonly string[], readonly string[]]>([
    [[], []],
    [[], ["a"]],
    [["a"], ["a"]],
    [
      ["a", "b"],
      ["a", "b", "c", "d"],
    ],
  ])("%j, then %j, are accepted", (tables, own) => {
    expect(() => checkColumns(tablesWith(...tables), lift(...own))).not.toThrow();
  });
});

describe("columns that do not", () => {
  test.each<[readonly string[], readonly string[], string]>([
    [["a"], [], "lacks the column a, which is in the tables."],
    [["a", "b"], ["b"], "lacks the column a, which is in the tables."],
    [["a", "b", "c"], ["b"], "lacks the columns a, c, which are in the tables."],
    [["a"], ["b"], "lacks the column a, which is in the tables; b stands in its place."],
    [["a"], ["b", "a"], "The new column b stands where the tables have a."],
    [["a", "b"], ["a", "c", "b"], "The new column c stands where the tables have b."],
    [
      ["a", "b"],
      ["b", "a"],
      "The column a has moved: it is number 6 in the tables and number 7 of this run.",
    ],
  ])("%j, then %j, are refused: %s", (tables, own, why) => {
    const check = (): void => checkColumns(tablesWith(...tables), lift(...own));

    expect(check).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(why) }),
    );
  });

  test("are refused with the options to give instead, as far as their pointers are known", () => {
    const tables = [{ name: "a", pointers: ["/old/a"], isOwn: true }, ...tablesWith("b", "c")];

    expect(() => checkColumns(tables, lift("c", "a"))).toThrow(
      "Give --lift a=/old/a --lift b=POINTER --lift c=/c first, in this order, and new ones at the end.",
    );
  });
});

describe("a start", () => {
  /** A head of uk with a column that comes from /name. */
  async function headWith(
    name: string,
    account = "uk",
  ): Promise<{ store: AccountStore; catalog: Catalog; logger: LogLines }> {
    const store = new MemoryStore();
    const manifest = liftedManifest([name]);
    store.put(layout("uk").manifest(manifest.snapshot_id), JSON.stringify(manifest));
    store.put(layout("uk").publication("0000000001"), `${JSON.stringify(aPublication())}\n`);
    return { store: accountStore(store, account), catalog: new MemoryCatalog(store), logger: new LogLines() };
  }

  test("with another pointer under the same name is accepted with a warning", async () => {
    const ports = await headWith("brand");
    const lifted = [{ name: "brand", pointer: "/brand/name" }];

    await columnsOfRun(ports, { lifted });

    expect(ports.logger.text).toMatch(
      /warn .*brand now comes from \/brand\/name and no longer from \/brand;/,
    );
  });

  test("with the same pointer says only which columns are new", async () => {
    const ports = await headWith("brand");

    await columnsOfRun(ports, { lifted: lift("brand", "more") });

    expect(ports.logger.lines).toEqual([expect.stringMatching(/^info new columns: more\. /)]);
  });

  test("without a head of its own is held to the columns of another account", async () => {
    const ports = await headWith("brand", "de");

    const started = columnsOfRun(ports, { lifted: lift("other") });

    await expect(started).rejects.toThrow(/lacks the column brand.*; other stands in its place/);
  });

  test("is refused where a deployment put another column in the place of one, with the setting that helps", async () => {
    const ports = await headWith("brand");
    const catalog = { ...ports.catalog, columns: async () => ["uuid", "event", "region", "brand"] };

    const started = columnsOfRun({ ...ports, catalog }, { lifted: lift("brand") });

    await expect(started).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("begin the setting lifted with brand, in this order"),
    });
  });

  test("has all columns of the warehouse where a deployment has not brought them to the tables yet", async () => {
    const ports = await headWith("brand");
    const catalog = { ...ports.catalog, columns: async () => ["uuid", "event"] };

    const { columns } = await columnsOfRun({ ...ports, catalog }, { lifted: [] });

    expect(columns).toEqual([{ name: "brand", pointer: "/brand" }]);
  });
});
