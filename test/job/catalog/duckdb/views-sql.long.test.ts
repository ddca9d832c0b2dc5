// views.sql as DuckDB sees it: the columns of the contract, the rows of what is published, texts as they were written; and the
// contract of catalogs.

import { copyFile, mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Views } from "../../../../bin/cli/query/locked-duckdb.ts";
import { query } from "../../../../bin/cli/query/query.ts";
import { createRemoval } from "../../../../lambdas/job/storage/publication-log.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { eventRow, readRows, type Warehouse, warehouse } from "../../../cli/warehouse.ts";
import { catalogContract } from "../catalog-contract.ts";

const ONE = "2026-11-21T06-00-00.000Z";
const TWO = "2026-11-22T06-00-00.000Z";

const rows = async ({ views }: { readonly views: Views }, sql: string): Promise<readonly unknown[]> =>
  (await query(views, sql)).rows;

/** uk with two published snapshots, and their changes; de with a snapshot of no events. */
async function twoAccounts(): Promise<Warehouse> {
  const made = await warehouse();
  await made.snapshot("uk", ONE, [eventRow("a"), eventRow("b")]);
  await made.snapshot("uk", TWO, [eventRow("b", { scope: "changed" })], [eventRow("c")]);
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
  const added = (uuid: string): object => ({
    uuid,
    change: "added",
    fields: null,
    before: null,
    after: null,
  });
  await made.put(`changes/uk/0000000001/${ONE}/part-00000.ndjson.gz`, [added("a"), added("b")]);
  await made.put(`changes/uk/0000000002/${TWO}/part-00000.ndjson.gz`, [
    { ...added("a"), change: "removed" },
    { uuid: "b", change: "changed", fields: '["/scope"]', before: '{"scope":1}', after: '{"scope":2}' },
    added("c"),
  ]);
  return made;
}

const CONTRACT = {
  events: "uuid event_date scope event listing account",
  event_snapshots: "uuid event_date scope event listing account snapshot_id",
  event_changes: "uuid change fields before after account publication",
  publications:
    "publication action snapshot_id base_snapshot_id published_at events:BIGINT added:BIGINT changed:BIGINT removed:BIGINT run_id pinned:BOOLEAN write_id account",
  sync_runs:
    "run_id attempt:BIGINT trigger outcome snapshot_id listed:BIGINT events:BIGINT added:BIGINT changed:BIGINT removed:BIGINT gone:BIGINT forbidden:BIGINT rejected:BIGINT requests:BIGINT retries:BIGINT throttled:BIGINT logins:BIGINT bytes:BIGINT started_at seconds:DOUBLE reason error_code error_message version repeated:BIGINT account",
  events_typed: "account uuid event_day:DATE misfits:INTEGER event",
  event_history: "account uuid valid_from valid_to is_deleted:BOOLEAN publication_from event",
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
    await full.put(`run-log/uk/${ONE}-1.ndjson`, [{ run_id: ONE }]);

    expect(await rows(full, `SELECT column_name, column_type FROM (DESCRIBE ${table})`)).toEqual(expected);
    expect(await rows(full, `FROM ${table}`)).not.toEqual([]);
  });
});

// Which rows are shown is the contract of catalogs: here is what they hold.
describe("the rows", () => {
  it("of events are in all parts of the head", async () => {
    const made = await twoAccounts();

    expect(await rows(made, "SELECT account, uuid, scope FROM events ORDER BY ALL")).toEqual([
      ["uk", "b", "changed"],
      ["uk", "c", "uk"],
    ]);
  });

  it("of event_changes have the values of the files", async () => {
    const made = await twoAccounts();

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
    const made = await twoAccounts();

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

  it.each([
    "SELECT account, max(publication), count(*) FROM publications GROUP BY 1 ORDER BY 1",
    "SELECT account, max(publication), 2 FROM event_changes GROUP BY 1",
    "SELECT account, max(publication_from), count(*) FILTER (valid_to IS NULL) - 1 FROM event_history GROUP BY 1",
  ])("of one session are those of one state, whatever was published since: %s", async (sql) => {
    const made = await twoAccounts();
    const began = await made.views.read();
    const later = { snapshot_id: "2026-11-23T06-00-00.000Z", base_snapshot_id: null, events: 0, added: 1 };
    await made.publish("uk", { publication: "0000000003", ...later });
    await made.publish("fr", { ...later, added: 0 });

    const found = await rows({ views: { directory: made.directory, read: async () => began } }, sql);

    expect(found).toContainEqual(["uk", "0000000002", "2"]);
    expect(found).not.toContainEqual(expect.arrayContaining(["fr"]));
  });

  it("of publications do not come back where the account is removed", async () => {
    const made = await twoAccounts();
    await createRemoval(accountStore(made.store, "uk"), { runId: TWO, atMs: 0, writeId: "w" });
    await made.publish("uk", { publication: "0000000004", snapshot_id: TWO, events: 2, added: 0 });

    expect(await rows(made, "SELECT publication FROM publications WHERE account = 'uk'")).toEqual([
      ["0000000004"],
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
    const made = await twoAccounts();
    const file = join(made.directory, `snapshots/uk/${ONE}/part-00000.ndjson.gz`);
    // Of another size it would be left out.
    await writeFile(file, "not gzip".padEnd((await stat(file)).size));

    expect(
      await rows(made, `SELECT uuid FROM event_snapshots WHERE snapshot_id = '${TWO}' ORDER BY uuid`),
    ).toEqual([["b"], ["c"]]);
    await expect(rows(made, "FROM event_snapshots")).rejects.toMatchObject({ code: "QUERY_FAILED" });
  });
});

it("copies of files, and files of others, are in no table", async () => {
  const made = await warehouse();
  await made.snapshot("uk", ONE, [eventRow("a"), eventRow("b")]);
  await made.publish("uk", { snapshot_id: ONE, run_id: ONE, events: 2, added: 0 });
  const [parts, log] = [join("snapshots", "uk", ONE), join("publications", "uk")];
  const copies = [
    [join(parts, "part-00000.ndjson.gz"), join(parts, "part-00000 (1).ndjson.gz")],
    [join(parts, "part-00000.ndjson.gz"), join(parts, "part-old.ndjson.gz")],
    [join(log, "0000000001.ndjson"), join(log, "0000000001 (1).ndjson")],
    [join(log, "0000000001.ndjson"), join("publications", "UK", "0000000001.ndjson")],
    [join(log, "0000000001.ndjson"), join("run-log", "uk", "notes.ndjson")],
  ] as const;
  for (const [of, copy] of copies) {
    await mkdir(dirname(join(made.directory, copy)), { recursive: true });
    await copyFile(join(made.directory, of), join(made.directory, copy));
  }
  await writeFile(join(made.directory, log, "broken.ndjson"), "no JSON");

  const counts = ["events", "event_snapshots", "publications", "sync_runs"].map(
    (table) => `(SELECT count(*) FROM ${table})`,
  );
  expect(await rows(made, `SELECT ${counts.join(", ")}`)).toEqual([["2", "2", "1", "0"]]);
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
    const { rows } = await query(made.views, `SELECT ${columns} FROM events ORDER BY uuid`);

    const base64 = TEXTS.map((text) => Buffer.from(text).toString("base64"));
    expect(rows).toEqual(base64.map((text) => [text, text, text, text]));
  });

  it("may be as long as two details of 4 MiB, each three times as long with its escapes", async () => {
    const made = await warehouse();
    const detail = `"${"\u0085".repeat(2 * 1024 * 1024)}"`;
    const change = { uuid: "a", change: "changed", fields: "[]", before: detail, after: detail };
    await made.put(`changes/uk/0000000001/${ONE}/part-00000.ndjson.gz`, [change, change, change]);
    await made.publish("uk", { events: 0, added: 0, changed: 3 });

    const { rows } = await query(
      made.views,
      "SELECT count(*), min(length(before)), bool_and(after = before) FROM event_changes",
    );

    expect(rows).toEqual([["3", "2097154", "true"]]);
  });
});

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
