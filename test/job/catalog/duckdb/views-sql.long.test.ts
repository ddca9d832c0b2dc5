// The five tables as DuckDB sees them: the columns of the contract, and the rows of what is published.

import { copyFile, mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { query } from "../../../../bin/cli/query/query.ts";
import { eventRow, type Warehouse, warehouse } from "../../../cli/warehouse.ts";

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
