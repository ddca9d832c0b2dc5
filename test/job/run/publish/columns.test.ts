// Columns are only ever appended: a run that would move or lose one is refused before any request.

import { describe, expect, test } from "vitest";
import type { Catalog } from "../../../../lambdas/job/catalog/catalog.ts";
import {
  checkColumns,
  columnsOfRun,
  recordColumnsOf,
  type WarehouseColumn,
} from "../../../../lambdas/job/run/publish/columns.ts";
import type { LiftedColumn } from "../../../../lambdas/job/settings/lifted-column.ts";
import { parseLiftedColumns } from "../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { COLUMNS_FILE, layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { toldBy } from "../../../words/said.ts";
import { MemoryCatalog } from "../../catalog/memory-catalog.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { liftedManifest } from "../../snapshot/files/manifests.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { aPublication } from "../../storage/publications.ts";
import { worldWith } from "../run-defaults.ts";

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
    [["a"], [], "The tables have the columns a, and this run has none."],
    [["a", "b"], ["b"], "The tables have the columns a, b, and this run has b."],
    [["a"], ["b"], "The tables have the columns a, and this run has b."],
    [["a"], ["b", "a"], "The tables have the columns a, and this run has b, a."],
    [["a", "b"], ["a", "c", "b"], "The tables have the columns a, b, and this run has a, c, b."],
    [["a", "b"], ["b", "a"], "The tables have the columns a, b, and this run has b, a."],
  ])("%j, then %j, are refused: %s", (tables, own, why) => {
    const check = (): void => checkColumns(tablesWith(...tables), lift(...own));

    expect(check).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(why) }),
    );
  });

  test("are refused with the options to give instead, as far as their pointers are known", async () => {
    const tables = [{ name: "a", pointers: ["/old/a"], isOwn: true }, ...tablesWith("b", "c")];

    expect(await toldBy(() => checkColumns(tables, lift("c", "a")))).toHaveProperty(
      "message",
      expect.stringContaining(
        "Give --lift a=/old/a --lift b=POINTER --lift c=/c first, in this order, and new ones at the end.",
      ),
    );
  });
});

describe("a start", () => {
  /** A head of uk with a column that comes from /name. */
  async function headWith(name: string, account = "uk") {
    const store = new MemoryStore();
    const manifest = liftedManifest([name]);
    store.put(layout("uk").manifest(manifest.snapshot_id), JSON.stringify(manifest));
    store.put(layout("uk").publication("0000000001"), `${JSON.stringify(aPublication())}\n`);
    const catalog: Catalog = new MemoryCatalog(store);
    return { ...worldWith({ logger: new LogLines() }), store: accountStore(store, account), catalog };
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

    await expect(started).rejects.toThrow("The tables have the columns brand, and this run has other.");
  });

  test("is refused where a deployment put another column in the place of one, with the setting that helps", async () => {
    const ports = await headWith("brand");
    const catalog = { ...ports.catalog, columns: async () => ["uuid", "event", "region", "brand"] };

    const started = columnsOfRun({ ...ports, catalog }, { lifted: lift("brand") });

    expect(await toldBy(started)).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("Begin --lift with brand, in this order"),
    });
  });

  test.each([
    ["new", [], ["brand", "current_date"], "current_date"],
    ["new, and deployed", ["uuid", "event", "brand", "_col0"], ["brand", "_col0"], "_col0"],
  ])("is refused where a column is %s under a name that readers take for something else", async (...row) => {
    const [, deployed, names, refused] = row;
    const ports = await headWith("brand");
    const catalog = { ...ports.catalog, columns: async () => deployed };

    await expect(columnsOfRun({ ...ports, catalog }, { lifted: lift(...names) })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`The new column has the name ${refused}, which without quotes`),
    });
  });

  test("keeps a column that was published under such a name", async () => {
    const ports = await headWith("current_date");

    const { columns } = await columnsOfRun(ports, { lifted: lift("current_date", "more") });

    expect(columns.map(({ name }) => name)).toEqual(["current_date", "more"]);
  });

  test("has all columns of the warehouse where a deployment has not brought them to the tables yet", async () => {
    const ports = await headWith("brand");
    const catalog = { ...ports.catalog, columns: async () => ["uuid", "event"] };

    const { columns } = await columnsOfRun({ ...ports, catalog }, { lifted: [] });

    expect(columns).toEqual([{ name: "brand", pointer: "/brand" }]);
  });
});

describe("a start in a warehouse with columns", () => {
  const SINCE = { since: "2026-01-05T06-00-05.000Z" };

  function portsWith(columns: readonly object[], deployed?: readonly string[]) {
    const store = new MemoryStore();
    store.put(COLUMNS_FILE, JSON.stringify({ version: 1, columns }));
    const catalog: Catalog = new MemoryCatalog(store);
    return {
      ...worldWith({ logger: new LogLines() }),
      store: accountStore(store, "uk"),
      catalog: { ...catalog, ...(deployed && { columns: async () => deployed }) },
      file: () => JSON.parse(store.text(COLUMNS_FILE) ?? "").columns,
    };
  }

  test("that names none has those of the tables, and may have fewer, but all that its account has had", async () => {
    const ports = portsWith([
      { name: "a", pointers: { de: "/a" }, ...SINCE },
      { name: "b", pointers: { de: "/other", uk: "/b" }, type: "BIGINT", typed_by: "x", ...SINCE },
      { name: "c", pointers: { de: "/c" }, ...SINCE },
      { name: "d", pointers: { de: "/d", fr: "/d" }, ...SINCE },
    ]);
    const [a, b, c, d] = [
      { name: "a", pointer: "/a" },
      { name: "b", pointer: "/b", type: "BIGINT", typedBy: "x" },
      { name: "c", pointer: "/c" },
      { name: "d", pointer: "/d" },
    ];

    const found = await columnsOfRun(ports, { lifted: [] });

    expect(found).toEqual({
      columns: [a, b, c, d],
      earlier: [
        [a, b, c],
        [a, b],
      ],
    });
    expect(ports.logger.lines).toEqual([
      "info uses the lifted columns of the warehouse: a (/a), b (/b, BIGINT), c (/c), d (/d) {}",
    ]);
  });

  test("that names none is refused where accounts differ, or nothing says where a column comes from", async () => {
    const ports = portsWith(
      [
        { name: "a", pointers: { uk: "/a" }, ...SINCE },
        { name: "b", pointers: { de: "/b", fr: "/other" }, ...SINCE },
      ],
      ["uuid", "event", "a", "b", "c"],
    );

    expect(await toldBy(columnsOfRun(ports, { lifted: [] }))).toMatchObject({
      code: "CONFIG_INVALID",
      fields: { columns: "a,b,c" },
      message: expect.stringMatching(
        /; but the column b comes from \/b and from \/other in different accounts, and no snapshot says where the column c comes from\. Name them once, in this order: --lift a=\/a --lift b=POINTER --lift c=POINTER\. /,
      ),
    });
  });

  test.each<[string, Record<string, string>]>([
    ["two accounts differ about a column", { de: "/a", fr: "/b" }],
    ["no account has a column", {}],
  ])("that names none is refused where %s", async (_, pointers) => {
    const started = columnsOfRun(portsWith([{ name: "a", pointers, ...SINCE }]), { lifted: [] });

    await expect(started).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  test("that names them says nothing where they are those that are there", async () => {
    const ports = portsWith([{ name: "a", pointers: { uk: "/a" }, ...SINCE }], ["uuid", "event", "a"]);
    const lifted = lift("a");

    expect(await columnsOfRun(ports, { lifted })).toEqual({ columns: lifted, earlier: [] });
    expect(ports.logger.lines).toEqual([]);
  });

  test.each<[string, LiftedColumn, LiftedColumn, readonly string[]]>([
    [
      "keeps the type that it does not name",
      { name: "a", pointer: "/a" },
      { name: "a", pointer: "/a", type: "BIGINT", typedBy: "x" },
      [],
    ],
    [
      "keeps the type that it names once more",
      { name: "a", pointer: "/a", type: "BIGINT" },
      { name: "a", pointer: "/a", type: "BIGINT" },
      [],
    ],
    [
      "changes the type, and says so",
      { name: "a", pointer: "/a", type: "DATE" },
      { name: "a", pointer: "/a", type: "DATE" },
      ["info the column a now has the type DATE, and no longer BIGINT; its text stays as it is"],
    ],
    [
      "is warned of a pointer that looks like a type",
      { name: "a", pointer: "/a:bigint" },
      { name: "a", pointer: "/a:bigint", type: "BIGINT", typedBy: "x" },
      [
        "warn the column a now comes from /a:bigint and no longer from /a; older snapshots keep what they have",
        "warn the column a comes from the field /a:bigint, and has no type. A type is, in capital letters and without spaces, BIGINT, DOUBLE,",
      ],
    ],
  ])("%s", async (_, column, expected, lines) => {
    const there = { name: "a", pointers: { uk: "/a" }, type: "BIGINT", typed_by: "x", ...SINCE };
    const ports = portsWith([there]);

    const { columns } = await columnsOfRun(ports, { lifted: [column] });

    expect(columns).toEqual([expected]);
    expect(ports.logger.lines).toEqual(lines.map((line) => expect.stringContaining(line)));
  });

  test("says nothing of a new column that has a type, also where its pointer looks like one", async () => {
    const ports = portsWith([]);

    await columnsOfRun(ports, { lifted: [{ name: "a", pointer: "/a:bigint", type: "BIGINT" }] });

    expect(ports.logger.lines).toEqual([expect.stringContaining("info new columns: a. ")]);
  });

  describe("and its publication", () => {
    const THERE = { name: "a", pointers: { de: "/a" }, ...SINCE };

    test("records its columns, also where another account has appended one since", async () => {
      const ports = portsWith([THERE, { ...THERE, name: "b" }]);

      await recordColumnsOf(ports, liftedManifest(["a"]), true);

      expect(ports.file()).toMatchObject([{ name: "a", pointers: { de: "/a", uk: "/a" } }, { name: "b" }]);
      expect(ports.logger.lines).toEqual([]);
    });

    test("is refused where one stands in the place of another, unless a person accepts what is there", async () => {
      const ports = portsWith([THERE]);

      await expect(recordColumnsOf(ports, liftedManifest(["b"]), true)).rejects.toMatchObject({
        code: "CONFIG_INVALID",
      });
      expect(ports.file()).toEqual([THERE]);

      await recordColumnsOf(ports, liftedManifest(["b"]), false);
      expect(ports.file()).toMatchObject([{ name: "a" }, { name: "b" }]);
      expect(ports.logger.lines).toEqual([
        expect.stringMatching(
          /^info the tables have new columns: b\. They are null in older snapshots, and /,
        ),
      ]);
    });
  });
});
