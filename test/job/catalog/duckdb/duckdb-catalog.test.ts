// views.sql follows the publication logs, works in any directory and from anywhere, and is never half new.

import { readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { query } from "../../../../bin/cli/query/query.ts";
import { DuckdbCatalog } from "../../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { COLUMNS_FILE, layout } from "../../../../lambdas/job/storage/layout.ts";
import { publish } from "../../../../lambdas/job/storage/publication-log.ts";
import { accountStore, type Store, type StoredKey } from "../../../../lambdas/job/storage/store.ts";
import { eventRow, type Warehouse, warehouse } from "../../../cli/warehouse.ts";
import { aManifest } from "../../snapshot/files/manifests.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { aPublication, uk } from "../../storage/publications.ts";
import { Publisher, snapshotOfDay } from "../publisher.ts";

const ONE = "2026-11-21T06-00-00.000Z";
const TWO = "2026-11-22T06-00-00.000Z";

const PART = layout("uk").part(snapshotOfDay(1), 0);
const CHANGES = layout("uk").changesPart("0000000001", snapshotOfDay(1), 0);
const SNAPSHOT_LACKS = "LEFT OUT: the snapshot 2026-11-01";
const CHANGES_LACK = "LEFT OUT: the changes of publication 0000000001";

const viewsOf = (store: Store): DuckdbCatalog => new DuckdbCatalog({ store, directory: "/warehouse" });

/** Three days of an account, which `views.sql` shows. */
const threeDays = async () => {
  const store = new MemoryStore();
  const uk = new Publisher(store, "uk");
  for (const day of [1, 2, 3]) await uk.day(day, ["a"]);
  const damaged: string[] = [];
  const onDamage = ({ account }: { account: string }): void => void damaged.push(account);
  const views = new DuckdbCatalog({ store, directory: "/warehouse", onDamage });
  await views.refresh();
  const sql = (): string => store.text("views.sql") ?? "";
  return { store, uk, views, damaged, sql };
};

describe("what is damaged after it was shown", () => {
  it.each([
    ["event_snapshots", true],
    ["event_changes", true],
    ["event_history", true],
    ["events", false],
    ["publications", false],
  ])("is named in tables for a query of %s: %s", async (table, isNamed) => {
    const { store, views } = await threeDays();
    await store.delete([PART, CHANGES]);

    const { sql } = await views.read(new Set([table]));

    expect([SNAPSHOT_LACKS, CHANGES_LACK].map((each) => sql.includes(each))).toEqual([isNamed, isNamed]);
  });

  it("is named until it is restored by a refresh, unless that looks at what is new alone", async () => {
    const { store, views, sql } = await threeDays();
    const { bytes = "" } = (await store.read(PART)) ?? {};
    await store.delete([PART]);

    const named: boolean[] = [];
    for (const what of ["new", undefined, undefined] as const) {
      await views.refresh("uk", what);
      named.push(sql().includes(SNAPSHOT_LACKS));
    }
    store.put(PART, bytes);
    await views.refresh("uk");

    expect([...named, sql().includes(SNAPSHOT_LACKS)]).toEqual([false, true, true, false]);
  });

  it("is named until it is restored where it is the head's, also if only what is new is looked at", async () => {
    const { store, views, sql } = await threeDays();
    const part = layout("uk").part(snapshotOfDay(3), 0);
    const { bytes = "" } = (await store.read(part)) ?? {};
    await store.delete([part]);

    await views.refresh("uk", "new");
    const before = sql();
    store.put(part, bytes);
    await views.refresh("uk", "new");

    expect([before, sql()].map((each) => each.includes("LEFT OUT"))).toEqual([true, false]);
  });

  it("is not read by a refresh for one account as long as it is an earlier publication; then that fails", async () => {
    const { store, views, damaged, sql } = await threeDays();
    store.put(layout("uk").publication("0000000001"), "damaged");

    await views.refresh("uk");
    expect(damaged).toEqual([]);
    await views.refresh();
    await views.refresh();

    expect(damaged).toEqual(["uk"]);
    expect(sql()).toContain("NOT READ: the account uk;");
    await expect(views.refresh("uk", "new")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  it("is an account whose run logs the store refuses", async () => {
    const { store, views, damaged } = await threeDays();
    const list = store.list.bind(store);
    store.list = async function* (prefix, after) {
      if (prefix === layout("uk").runLogs) throw new SyncError("STORE_FAILED", "It is a link.");
      yield* list(prefix, after);
    };

    await views.refresh();

    expect(damaged).toEqual(["uk"]);
  });
});

const manifestText = (account: string, snapshot_id: string): string => {
  const counts = { ...aManifest().counts, listed: 5, events: 0 };
  return JSON.stringify(aManifest({ account, snapshot_id, parts: [], stored: [], counts }));
};

/** The tables of `views.sql` as it is on disk. */
async function written({ directory }: Warehouse) {
  const sql = await readFile(join(directory, "views.sql"), "utf8");
  return { directory, read: async () => ({ sql, accounts: [] }) };
}

describe("views.sql", () => {
  let store: MemoryStore;

  beforeEach(() => {
    store = new MemoryStore();
  });

  it.each([
    "it's a warehouse",
    'say "hello"; -- DROP',
    "[a] *b? {c} !d ~",
    "**",
    "[!a]",
    "event=2026",
    ".hidden",
    "日本",
    "line\nbreak",
  ])("works for a warehouse called %j", async (name) => {
    const made = await warehouse(name);
    await made.snapshot("uk", ONE, [eventRow("a")]);
    await made.publish("uk", { snapshot_id: ONE, events: 1, added: 0 });
    await made.views.refresh("uk");
    const asWritten = await written(made);

    expect((await query(asWritten, "SELECT event, account FROM events")).rows).toEqual([
      ['{"uuid":"a"}', "uk"],
    ]);
    expect((await query(asWritten, "SELECT publication FROM publications")).rows).toEqual([["0000000001"]]);
  });

  it("leaves out changes that lack a part, by name, until it is back, whatever an earlier version said of them", async () => {
    const made = await warehouse();
    await made.publish("uk", { snapshot_id: ONE, events: 1, added: 1 });
    const folder = layout("uk").changes("0000000001", ONE);
    await made.store.create(`${folder}_lost.json`, Buffer.from("{}\n"));

    const missing = (await made.views.read()).sql;
    await made.store.create(layout("uk").changesPart("0000000001", ONE, 0), gzipSync("{}\n"));
    const back = (await made.views.read()).sql;

    const name = "LEFT OUT: the changes of publication 0000000001";
    expect([missing, back].map((sql) => sql.includes(name))).toEqual([true, false]);
    expect([missing, back].map((sql) => sql.includes(`${folder}part-[0-9]`))).toEqual([false, true]);
  });

  it("names its files absolutely, so it can be read from any directory", async () => {
    const made = await warehouse();
    await made.publish("uk", { snapshot_id: ONE, events: 1, added: 0 });
    const views = new DuckdbCatalog({
      store: made.store,
      directory: relative(process.cwd(), made.directory),
    });

    const parts = `part-${"[0-9]".repeat(5)}.ndjson.gz`;
    expect((await views.read()).sql).toContain(`'${made.directory}/snapshots/uk/${ONE}/${parts}'`);
  });

  it("is made of logs, columns and run logs that are read at the same time", async () => {
    await publish(uk(store), aPublication({ snapshot_id: ONE }));
    store.put(layout("uk").manifest(ONE), manifestText("uk", ONE));
    const open = new Set<string>();
    let most = 0;
    const list = async function* (prefix: string): AsyncGenerator<StoredKey> {
      open.add(prefix);
      most = Math.max(most, open.size);
      await new Promise((resolve) => setImmediate(resolve));
      yield* store.list(prefix);
      open.delete(prefix);
    };
    await viewsOf({ ...uk(store), list }).refresh("uk");

    expect(most).toBe(2);
  });

  it("shows run logs that are written after it", async () => {
    const made = await warehouse();
    await made.publish("uk", { events: 0, added: 0 });
    await made.views.refresh("uk");
    const asWritten = await written(made);
    await made.put(`run-log/uk/${ONE}-1.ndjson`, [{ run_id: ONE }]);

    expect((await query(asWritten, "SELECT run_id, account FROM sync_runs")).rows).toEqual([[ONE, "uk"]]);
  });

  it("can be read twice into the same database", async () => {
    const { directory, views } = await warehouse();
    const { sql } = await views.read();
    const twice = { directory, read: async () => ({ sql: sql + sql, accounts: [] }) };

    expect((await query(twice, "FROM events")).rows).toEqual([]);
  });

  it("is not written again when nothing has changed", async () => {
    const made = await warehouse();
    await made.publish("uk", { events: 0, added: 0 });
    await made.views.refresh("uk");
    const before = await stat(join(made.directory, "views.sql"));

    await made.views.refresh("uk");

    expect((await stat(join(made.directory, "views.sql"))).ino).toBe(before.ino);
  });

  it("is rendered afresh when another process replaces it meanwhile", async () => {
    const race = async (): Promise<void> => {
      if (store.text("views.sql") !== "old") return;
      store.put("views.sql", "by the other process");
      store.put(layout("de").manifest(TWO), manifestText("de", TWO));
      await publish(accountStore(store, "de"), aPublication({ snapshot_id: TWO }));
    };
    let reads = 0;
    const raced: Store = {
      ...uk(store),
      read: async (key) => {
        if (key === "views.sql") reads += 1;
        // Between the reading that the lists come from and any later one.
        if (reads > 1) await race();
        return store.read(key);
      },
      replace: async (key, bytes, version) => {
        if (key === "views.sql") await race();
        return store.replace(key, bytes, version);
      },
    };
    store.put(layout("uk").manifest(ONE), manifestText("uk", ONE));
    await publish(uk(store), aPublication({ snapshot_id: ONE }));
    store.put("views.sql", "old");

    await viewsOf(raced).refresh("uk");

    expect(store.text("views.sql")).toContain(`/warehouse/snapshots/uk/${ONE}/`);
    expect(store.text("views.sql")).toContain(`/warehouse/snapshots/de/${TWO}/`);
  });

  it("is CATALOG_FAILED when other processes replace it every time", async () => {
    let tries = 0;
    store.create = async () => {
      tries += 1;
      return undefined;
    };

    await expect(viewsOf(store).refresh("uk")).rejects.toMatchObject({ code: "CATALOG_FAILED" });
    expect(tries).toBe(10);
  });

  it.each([
    { what: "the own log is damaged", key: "publications/uk/0000000001.ndjson" },
    { what: "the columns are damaged", key: "columns.json" },
  ])("stays as it is when $what", async ({ key }) => {
    store.put(key, "damaged");
    store.put("views.sql", "as it was");

    await expect(viewsOf(store).refresh("uk")).rejects.toMatchObject({
      code: "STORE_CORRUPT",
    });
    expect(store.text("views.sql")).toBe("as it was");
  });

  it("stays as it is when the columns cannot be read", async () => {
    const failure = new Error("the disk does not answer");
    store.put("views.sql", "as it was");
    const failing: Store = {
      ...uk(store),
      read: (key) => (key === COLUMNS_FILE ? Promise.reject(failure) : store.read(key)),
    };

    await expect(viewsOf(failing).refresh("uk")).rejects.toBe(failure);
    expect(store.text("views.sql")).toBe("as it was");
  });

  it("is no other SQL, whatever the name of a file is", async () => {
    store.put("publications/uk/x\nSELECT 1;\u0085\u2028--.ndjson", "x");

    await viewsOf(store).refresh("de");

    expect(store.text("views.sql")).not.toMatch(/SELECT 1;|NOT READ/);
  });

  it("leaves out a head whose manifest is gone, and names it", async () => {
    await publish(uk(store), aPublication({ snapshot_id: ONE, added: 0 }));

    await viewsOf(store).refresh("uk");

    expect(store.text("views.sql")).toContain(
      `\n-- LEFT OUT: the snapshot ${ONE} of the account uk. The file ${layout("uk").manifest(ONE)} is damaged: it is missing.\n`,
    );
    expect(store.text("views.sql")).not.toContain("part-[0-9]");
  });

  it("shows no snapshot that was retired before it was in the tables", async () => {
    const publisher = new Publisher(store, "uk");
    await publisher.day(1, ["a"]);
    const views = viewsOf(store);
    await views.refresh();
    await publisher.day(2, ["b"]);
    await publisher.retire(snapshotOfDay(2));
    await publisher.day(3, ["c"]);

    await views.refresh("uk", "new");

    const patterns = store.text("views.sql")?.match(/snapshots\/uk\/[^/]+/g);
    expect(new Set(patterns)).toEqual(new Set([1, 3].map((day) => `snapshots/uk/${snapshotOfDay(day)}`)));
  });

  it("says after the run of another account what it said of one that cannot be read", async () => {
    const [uk, de] = [new Publisher(store, "uk"), new Publisher(store, "de")];
    await uk.day(1, ["a"]);
    await de.day(1, ["b"]);
    const views = viewsOf(store);
    await views.refresh();
    store.put(layout("uk").publication("0000000001"), "damaged");
    await views.refresh();
    const before = store.text("views.sql");

    await views.refresh("de", "new");

    expect(before).toContain("-- NOT READ: the account uk; its tables stay as they were.");
    expect(store.text("views.sql")).toBe(before);
  });

  it.each([
    ["no file", undefined, false],
    ["a run log", `run-log/uk/${ONE}-1.ndjson`, true],
    ["another file", "run-log/uk/notes.ndjson", false],
  ])(
    "looks for lines of runs where nothing is published and %s lies among them: %s, %s",
    async (_, key, looks) => {
      if (key !== undefined) store.put(key, "{}");

      const { sql } = await viewsOf(store).read();

      expect(sql.includes("/*/*/*.ndjson'")).toBe(looks);
    },
  );

  it.skipIf(process.platform === "win32")("is refused for a directory that DuckDB cannot name", () => {
    expect(() => new DuckdbCatalog({ store: new MemoryStore(), directory: "/ware\\house" })).toThrow(
      "has a backslash in its path",
    );
  });
});
