// Columns are only ever appended: a run that would move or lose one is refused before any request.

import { describe, expect, test } from "vitest";
import type { Catalog } from "../../../../lambdas/job/catalog/catalog.ts";
import { checkAgainstBase, checkColumns } from "../../../../lambdas/job/run/publish/columns.ts";
import {
  eventColumns,
  type LiftedColumn,
  parseLiftedColumns,
} from "../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { MemoryCatalog } from "../../catalog/memory-catalog.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { liftedManifest } from "../../snapshot/files/manifests.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { aPublication } from "../../storage/publications.ts";

const lift = (...names: readonly string[]): readonly LiftedColumn[] =>
  parseLiftedColumns(names.map((name) => `${name}=/${name}`));

const tablesWith = (...names: readonly string[]): Catalog => ({
  refresh: async () => undefined,
  columns: async () => eventColumns(lift(...names)),
});

describe("columns that begin with those of the tables", () => {
  test.each<[readonly string[], readonly string[]]>([
    [[], []],
    [[], ["a"]],
    [["a"], ["a"]],
    [
      ["a", "b"],
      ["a", "b", "c", "d"],
    ],
  ])("%j, then %j, are accepted", async (tables, own) => {
    await expect(checkColumns(tablesWith(...tables), lift(...own))).resolves.toBeUndefined();
  });

  test("are those of any run where there are no tables yet", async () => {
    const none: Catalog = { refresh: async () => undefined, columns: async () => [] };

    await expect(checkColumns(none, lift("a"))).resolves.toBeUndefined();
  });
});

describe("columns that do not", () => {
  test.each<[readonly string[], readonly string[], string]>([
    [["a"], [], "lacks the column a, which is in the tables."],
    [["a", "b"], ["b"], "lacks the column a, which is in the tables."],
    [["a", "b", "c"], ["b"], "lacks the columns a, c, which are in the tables."],
    [["a"], ["b"], "lacks the column a, which is in the tables, and b is in the way."],
    [["a"], ["b", "a"], "The new column b is in the way: a stands there in the tables."],
    [["a", "b"], ["a", "c", "b"], "The new column c is in the way: b stands there in the tables."],
    [
      ["a", "b"],
      ["b", "a"],
      "The column a has moved: it is number 6 in the tables and number 7 of this run.",
    ],
  ])("%j, then %j, are refused: %s", async (tables, own, why) => {
    const checked = checkColumns(tablesWith(...tables), lift(...own));

    await expect(checked).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(why),
    });
  });

  test("are refused with the options to give instead, as far as their pointers are known", async () => {
    const known = [{ name: "a", pointer: "/old/a" }];

    const checked = checkColumns(tablesWith("a", "b", "c"), lift("c", "a"), async () => known);

    await expect(checked).rejects.toThrow(
      "Give --lift a=/old/a --lift b=POINTER --lift c=/c first, in this order, and new ones at the end.",
    );
  });
});

describe("a start", () => {
  /** A head of uk with a column that comes from /name. */
  async function headWith(name: string): Promise<{ store: MemoryStore; catalog: Catalog; logger: LogLines }> {
    const store = new MemoryStore();
    const manifest = liftedManifest([name]);
    store.put(layout.manifest("uk", manifest.snapshot_id), JSON.stringify(manifest));
    store.put(layout.publication("uk", "0000000001"), `${JSON.stringify(aPublication())}\n`);
    return { store, catalog: new MemoryCatalog(store), logger: new LogLines() };
  }

  test("with another pointer under the same name is accepted with a warning", async () => {
    const ports = await headWith("brand");
    const lifted = [{ name: "brand", pointer: "/brand/name" }];

    await checkAgainstBase(ports, { account: "uk", lifted }, aPublication().snapshot_id);

    expect(ports.logger.text).toMatch(
      /warn .*brand now comes from \/brand\/name and no longer from \/brand;/,
    );
  });

  test("with the same pointer says nothing", async () => {
    const ports = await headWith("brand");

    await checkAgainstBase(
      ports,
      { account: "uk", lifted: lift("brand", "more") },
      aPublication().snapshot_id,
    );

    expect(ports.logger.lines).toEqual([]);
  });

  test("without a head of its own is held to the columns of another account", async () => {
    const ports = await headWith("brand");

    const started = checkAgainstBase(ports, { account: "de", lifted: lift("other") }, null);

    await expect(started).rejects.toThrow(/lacks the column brand.*and other is in the way/);
  });
});
