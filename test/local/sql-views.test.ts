// The five tables as DuckDB sees them: what is published and nothing else, as it was written, from anywhere.

import { readFile, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { query } from "../../bin/local/query.ts";
import { SqlViews } from "../../bin/local/sql-views.ts";
import { publish } from "../../lambdas/storage/publication-log.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { aPublication } from "../storage/publications.ts";
import { eventRow, type Warehouse, warehouse } from "./warehouse.ts";

const ONE = "2026-11-21T06-00-00.000Z";
const TWO = "2026-11-22T06-00-00.000Z";
const HELD = "2026-11-23T06-00-00.000Z";

const rows = async ({ views }: Pick<Warehouse, "views">, sql: string): Promise<readonly unknown[]> =>
  (await query(views, sql)).rows;

/** Two accounts: uk with two published snapshots and a held one, de with one of no events. */
async function twoAccounts(): Promise<Warehouse> {
  const made = await warehouse();
  await made.snapshot("uk", ONE, [eventRow("a"), eventRow("b")]);
  await made.snapshot("uk", TWO, [eventRow("b", { scope: "changed" })], [eventRow("c")]);
  await made.snapshot("uk", HELD, [eventRow("d")]);
  await made.publish("uk", { snapshot_id: ONE, run_id: ONE, events: 2, added: 2 });
  await made.publish("uk", {
    publication: "0000000002",
    snapshot_id: TWO,
    base_snapshot_id: ONE,
    run_id: TWO,
    events: 2,
    added: 1,
    changed: 1,
    removed: 1,
  });
  await made.publish("de", { snapshot_id: ONE, run_id: ONE, events: 0, added: 0 });
  return made;
}

const CONTRACT = {
  events: "uuid event_date scope event listing account",
  event_snapshots: "uuid event_date scope event listing account snapshot_id",
  event_changes: "uuid change fields before after account publication",
  publications:
    "publication action snapshot_id base_snapshot_id published_at events:BIGINT added:BIGINT changed:BIGINT removed:BIGINT run_id pinned:BOOLEAN write_id account",
  sync_runs:
    "run_id attempt:BIGINT trigger outcome snapshot_id listed:BIGINT events:BIGINT added:BIGINT changed:BIGINT removed:BIGINT gone:BIGINT forbidden:BIGINT rejected:BIGINT requests:BIGINT retries:BIGINT throttled:BIGINT logins:BIGINT bytes:BIGINT started_at seconds:DOUBLE reason error_code error_message version account",
} as const;

describe.each(Object.entries(CONTRACT))("the table %s", (table, contract) => {
  const expected = contract.split(" ").map((column) => {
    const [name = "", type = "VARCHAR"] = column.split(":");
    return [name, type];
  });

  it("is empty in an empty warehouse, with the columns of the contract", async () => {
    const empty = await warehouse();

    expect(await rows(empty, `SELECT column_name, column_type FROM (DESCRIBE ${table})`)).toEqual(expected);
    expect(await rows(empty, `FROM ${table}`)).toEqual([]);
  });

  it("has the same columns over files", async () => {
    const full = await twoAccounts();
    await full.put(`changes/uk/0000000001/${ONE}/part-00000.ndjson.gz`, [{ uuid: "a", change: "added" }]);
    await full.put(`changes/uk/0000000002/${TWO}/part-00000.ndjson.gz`, [{ uuid: "b", change: "changed" }]);
    await full.put(`run-log/uk/${ONE}-1.ndjson`, [{ run_id: ONE }]);

    expect(await rows(full, `SELECT column_name, column_type FROM (DESCRIBE ${table})`)).toEqual(expected);
    expect(await rows(full, `FROM ${table}`)).not.toEqual([]);
  });
});

describe("the rows", () => {
  // The changes that twoAccounts promises and leaves out; each test that reads the views needs them on disk.
  async function withChanges(): Promise<Warehouse> {
    const made = await twoAccounts();
    const change = (uuid: string, kind: string): object => ({
      uuid,
      change: kind,
      fields: null,
      before: null,
      after: null,
    });
    await made.put(`changes/uk/0000000001/${ONE}/part-00000.ndjson.gz`, [
      change("a", "added"),
      change("b", "added"),
    ]);
    await made.put(`changes/uk/0000000002/${TWO}/part-00000.ndjson.gz`, [
      change("a", "removed"),
      { uuid: "b", change: "changed", fields: '["/scope"]', before: '{"scope":1}', after: '{"scope":2}' },
      change("c", "added"),
    ]);
    // Left behind by a run that lost the race for number 2.
    await made.put(`changes/uk/0000000002/${HELD}/part-00000.ndjson.gz`, [change("orphan", "added")]);
    return made;
  }

  it("of events are those of each account's head, in all its parts", async () => {
    const made = await withChanges();

    expect(await rows(made, "SELECT account, uuid, scope FROM events ORDER BY ALL")).toEqual([
      ["uk", "b", "changed"],
      ["uk", "c", "uk"],
    ]);
  });

  it("of events follow the head of every account", async () => {
    const made = await withChanges();
    await made.snapshot("de", TWO, [eventRow("e")]);
    await made.put(`changes/de/0000000002/${TWO}/part-00000.ndjson.gz`, [{ uuid: "e", change: "added" }]);
    await made.publish("de", {
      publication: "0000000002",
      snapshot_id: TWO,
      run_id: TWO,
      events: 1,
      added: 1,
    });

    expect(await rows(made, "SELECT account, uuid FROM events ORDER BY ALL")).toEqual([
      ["de", "e"],
      ["uk", "b"],
      ["uk", "c"],
    ]);
  });

  it("of event_snapshots are those of all published snapshots, and of no held one", async () => {
    const made = await withChanges();

    expect(await rows(made, "SELECT snapshot_id, account, uuid FROM event_snapshots ORDER BY ALL")).toEqual([
      [ONE, "uk", "a"],
      [ONE, "uk", "b"],
      [TWO, "uk", "b"],
      [TWO, "uk", "c"],
    ]);
  });

  it("of event_snapshots come once from a snapshot that was published twice", async () => {
    const made = await withChanges();
    await made.publish("uk", {
      publication: "0000000003",
      action: "rollback",
      snapshot_id: ONE,
      events: 2,
      added: 0,
    });

    expect(await rows(made, "SELECT count(*) FROM event_snapshots")).toEqual([["4"]]);
    expect(await rows(made, "SELECT uuid FROM events ORDER BY uuid")).toEqual([["a"], ["b"]]);
  });

  it("of event_changes are those of the publications, and of no lost race", async () => {
    const made = await withChanges();

    expect(
      await rows(
        made,
        "SELECT account, publication, uuid, change, fields, before, after FROM event_changes ORDER BY ALL",
      ),
    ).toEqual([
      ["uk", "0000000001", "a", "added", null, null, null],
      ["uk", "0000000001", "b", "added", null, null, null],
      ["uk", "0000000002", "a", "removed", null, null, null],
      ["uk", "0000000002", "b", "changed", '["/scope"]', '{"scope":1}', '{"scope":2}'],
      ["uk", "0000000002", "c", "added", null, null, null],
    ]);
  });

  it("of publications are those of the logs", async () => {
    const made = await withChanges();

    expect(
      await rows(
        made,
        "SELECT account, publication, base_snapshot_id, events + 1, pinned FROM publications ORDER BY ALL",
      ),
    ).toEqual([
      ["de", "0000000001", null, "1", "false"],
      ["uk", "0000000001", null, "3", "false"],
      ["uk", "0000000002", ONE, "3", "false"],
    ]);
  });

  it("of sync_runs are those of the run logs, also before the first publication", async () => {
    const made = await warehouse();
    await made.put(`run-log/uk/${ONE}-1.ndjson`, [{ run_id: ONE, attempt: 1, listed: null, seconds: 1.5 }]);

    expect(await rows(made, "SELECT account, run_id, attempt, listed, seconds FROM sync_runs")).toEqual([
      ["uk", ONE, "1", null, "1.5"],
    ]);
    expect(await rows(made, "FROM publications")).toEqual([]);
  });

  it("of a snapshot are found without opening the files of another", async () => {
    const made = await withChanges();
    await writeFile(join(made.directory, `snapshots/uk/${ONE}/part-00000.ndjson.gz`), "not gzip");

    expect(
      await rows(made, `SELECT uuid FROM event_snapshots WHERE snapshot_id = '${TWO}' ORDER BY uuid`),
    ).toEqual([["b"], ["c"]]);
    await expect(rows(made, "FROM event_snapshots")).rejects.toMatchObject({ code: "QUERY_FAILED" });
  });
});

describe("the text of a row", () => {
  const TEXTS: readonly string[] = [
    "",
    "null",
    "1.10",
    "9007199254740993",
    '{"n":1e400,"a":1,"a":2,"10":0,"b":"\\u0000\\ud800\\u2028"}',
    "a\u2028b\u2029c\u0085d",
    "nul \u0000 in the middle",
    "\ufeffbyte order mark",
    "quotes ' \" ` and \\ backslashes \\\\",
    "line\nbreaks\r\nand\ttabs",
    "😀 é e\u0301 日本",
    `{"deep":${"[".repeat(300)}${"]".repeat(300)}}`,
    `"${"x".repeat(1_000_000)}"`,
  ];

  it("comes back byte for byte, whatever it is", async () => {
    const made = await warehouse();
    const hostile = TEXTS.map((text, index) =>
      eventRow(String(index).padStart(2, "0"), { event_date: text, scope: text, event: text, listing: text }),
    );
    await made.snapshot("uk", ONE, hostile);
    await made.publish("uk", { snapshot_id: ONE, events: TEXTS.length, added: 0 });

    const columns = ["event_date", "scope", "event", "listing"].map((name) => `to_base64(encode(${name}))`);
    const found = await rows(made, `SELECT ${columns} FROM events ORDER BY uuid`);

    const base64 = TEXTS.map((text) => Buffer.from(text).toString("base64"));
    expect(found).toEqual(base64.map((text) => [text, text, text, text]));
  });

  it("may be as long as two details of 4 MiB, each three times as long with its escapes", async () => {
    const made = await warehouse();
    const detail = `"${"\u0085".repeat(2 * 1024 * 1024)}"`;
    await made.put(`changes/uk/0000000001/${ONE}/part-00000.ndjson.gz`, [
      { uuid: "a", change: "changed", fields: "[]", before: detail, after: detail },
    ]);
    await made.publish("uk", { events: 0, added: 0, changed: 1 });

    expect(await rows(made, "SELECT length(before), after = before FROM event_changes")).toEqual([
      ["2097154", "true"],
    ]);
  });
});

describe("views.sql", () => {
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
    await made.views.follow();
    const file = await readFile(join(made.directory, "views.sql"), "utf8");
    const asWritten = { render: async () => file };

    expect((await query(asWritten, "SELECT event, account FROM events")).rows).toEqual([
      ['{"uuid":"a"}', "uk"],
    ]);
    expect((await query(asWritten, "SELECT publication FROM publications")).rows).toEqual([["0000000001"]]);
  });

  it("names its files absolutely, so it can be read from any directory", async () => {
    const made = await warehouse();
    await made.publish("uk", { snapshot_id: ONE, events: 1, added: 0 });
    const views = new SqlViews({ store: made.store, directory: relative(process.cwd(), made.directory) });

    expect(await views.render()).toContain(`'${made.directory}/snapshots/uk/${ONE}/part-*.ndjson.gz'`);
  });

  it("shows run logs that are written after it", async () => {
    const made = await warehouse();
    await made.publish("uk", { events: 0, added: 0 });
    await made.views.follow();
    const file = await readFile(join(made.directory, "views.sql"), "utf8");
    await made.put(`run-log/uk/${ONE}-1.ndjson`, [{ run_id: ONE }]);

    expect((await query({ render: async () => file }, "SELECT run_id, account FROM sync_runs")).rows).toEqual(
      [[ONE, "uk"]],
    );
  });

  it("can be read twice into the same database", async () => {
    const text = await (await warehouse()).views.render();

    expect((await query({ render: async () => text + text }, "FROM events")).rows).toEqual([]);
  });

  it("is not written again when nothing has changed", async () => {
    const made = await warehouse();
    await made.publish("uk", { events: 0, added: 0 });
    await made.views.follow();
    const before = await stat(join(made.directory, "views.sql"));

    await made.views.follow();

    expect((await stat(join(made.directory, "views.sql"))).ino).toBe(before.ino);
  });

  it("is replaced after a publication", async () => {
    const made = await warehouse();
    await made.views.follow();
    await made.publish("uk", { snapshot_id: TWO, events: 1, added: 0 });

    await made.views.follow();

    expect(await readFile(join(made.directory, "views.sql"), "utf8")).toContain(TWO);
  });

  it("is rendered afresh when another process replaces it meanwhile", async () => {
    class RacingStore extends MemoryStore {
      override async replace(key: string, bytes: Uint8Array, version: string): Promise<string | undefined> {
        if (this.text(key) === "old") {
          await publish(this, "de", aPublication({ snapshot_id: TWO }));
          this.put(key, "by the other process");
        }
        return super.replace(key, bytes, version);
      }
    }
    const store = new RacingStore();
    await publish(store, "uk", aPublication({ snapshot_id: ONE }));
    store.put("views.sql", "old");

    await new SqlViews({ store, directory: "/warehouse" }).follow();

    expect(store.text("views.sql")).toContain(`/warehouse/snapshots/uk/${ONE}/`);
    expect(store.text("views.sql")).toContain(`/warehouse/snapshots/de/${TWO}/`);
  });

  it("is CATALOG_FAILED when other processes replace it every time", async () => {
    let tries = 0;
    class BusyStore extends MemoryStore {
      override async create(): Promise<undefined> {
        tries++;
      }
    }
    const views = new SqlViews({ store: new BusyStore(), directory: "/warehouse" });

    await expect(views.follow()).rejects.toMatchObject({ code: "CATALOG_FAILED" });
    expect(tries).toBe(10);
  });

  it("stays as it is when a log is damaged", async () => {
    const store = new MemoryStore();
    store.put("publications/uk/0000000001.ndjson", "damaged");
    store.put("views.sql", "as it was");

    await expect(new SqlViews({ store, directory: "/warehouse" }).follow()).rejects.toMatchObject({
      code: "STORE_CORRUPT",
    });
    expect(store.text("views.sql")).toBe("as it was");
  });

  it.skipIf(process.platform === "win32")("is refused for a directory that DuckDB cannot name", () => {
    expect(() => new SqlViews({ store: new MemoryStore(), directory: "/ware\\house" })).toThrow(
      /backslash.*--warehouse/,
    );
  });
});
