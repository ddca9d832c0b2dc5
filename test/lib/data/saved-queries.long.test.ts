// The results of the saved queries on a warehouse on disk, executed by DuckDB, which has the same tables and functions.
// That Athena's grammar accepts them is tested in athena-sql.test.ts.

import { describe, expect, it } from "vitest";
import { query } from "../../../bin/cli/query/query.ts";
import { savedQueries } from "../../../lib/data/workgroup.ts";
import { eventRow, type Warehouse, warehouse } from "../../cli/warehouse.ts";

const FIRST = "2026-10-01T06-00-00.000Z";
const SECOND = "2026-12-31T06-00-00.000Z";
const THIRD = "2027-01-02T06-00-00.000Z";
const A = "00000000-0000-0000-0000-000000000000";
const B = "bbbbbbbb-0000-0000-0000-000000000000";
const C = "cccccccc-0000-0000-0000-000000000000";

const text = (uuid: string, scope: string): string => JSON.stringify({ uuid, scope });
const change = (uuid: string, over: object): object => ({
  uuid,
  change: "changed",
  fields: null,
  before: null,
  after: null,
  ...over,
});

const ask = async (title: string): Promise<readonly (readonly (string | null)[])[]> => {
  const sql = savedQueries("uk").find((each) => each.title === title)?.sql;
  if (sql === undefined) throw new Error(`no saved query "${title}"`);
  const { views } = await threePublications();
  return (await query(views, sql)).rows;
};

/** One event changes, one disappears, one comes; another account has an event of its own. */
async function threePublications(): Promise<Warehouse> {
  const made = await warehouse();
  const before = eventRow(A, { event_date: "2026-10-05", scope: "old", event: text(A, "old") });
  const after = eventRow(A, { event_date: "2026-10-05", scope: "new", event: text(A, "new") });
  const gone = eventRow(B, { event_date: "2026-10-09", event: text(B, "uk") });
  const late = eventRow(C, { event_date: "2026-12-24", event: text(C, "uk") });
  await made.snapshot("uk", FIRST, [before, gone]);
  await made.snapshot("uk", SECOND, [before, gone, late]);
  await made.snapshot("uk", THIRD, [after, late]);
  await made.snapshot("us", FIRST, [eventRow("us-event")]);
  await made.put(`changes/uk/0000000001/${FIRST}/part-00000.ndjson.gz`, [
    change(A, { change: "added", after: text(A, "old") }),
    change(B, { change: "added", after: text(B, "uk") }),
  ]);
  await made.put(`changes/uk/0000000002/${SECOND}/part-00000.ndjson.gz`, [
    change(C, { change: "added", after: text(C, "uk") }),
  ]);
  await made.put(`changes/uk/0000000003/${THIRD}/part-00000.ndjson.gz`, [
    change(A, { fields: '["/scope"]', before: text(A, "old"), after: text(A, "new") }),
    change(B, { change: "removed", before: text(B, "uk") }),
  ]);
  const publications = [
    [FIRST, "2026-10-01T06:05:00.000Z", { base_snapshot_id: null, events: 2, added: 2 }],
    [SECOND, "2026-12-31T06:05:00.000Z", { base_snapshot_id: FIRST, events: 3, added: 1 }],
    [
      THIRD,
      "2027-01-02T06:05:00.000Z",
      { base_snapshot_id: SECOND, events: 2, added: 0, changed: 1, removed: 1 },
    ],
  ] as const;
  for (const [index, [id, at, counts]] of publications.entries()) {
    const publication = `000000000${index + 1}`;
    await made.publish("uk", { publication, snapshot_id: id, run_id: id, published_at: at, ...counts });
  }
  await made.publish("us", {
    snapshot_id: FIRST,
    run_id: FIRST,
    added: 0,
    published_at: "2026-10-01T06:05:00.000Z",
  });
  const run = { trigger: "schedule", gone: 1, forbidden: 2, rejected: 3, seconds: 1.5 };
  await made.put(`run-log/uk/${FIRST}-1.ndjson`, [
    {
      ...run,
      run_id: FIRST,
      attempt: 1,
      outcome: "FAILED",
      started_at: "2026-10-01T06:00:00.000Z",
      error_code: "STORE_FAILED",
    },
  ]);
  await made.put(`run-log/uk/${FIRST}-2.ndjson`, [
    {
      ...run,
      run_id: FIRST,
      attempt: 2,
      outcome: "PUBLISHED",
      started_at: "2026-10-01T06:02:00.000Z",
      listed: 8,
      events: 2,
    },
  ]);
  await made.put(`run-log/us/${SECOND}-1.ndjson`, [
    {
      ...run,
      run_id: SECOND,
      attempt: 1,
      outcome: "HELD",
      started_at: "2026-12-31T06:00:00.000Z",
      reason: "DROPPED",
    },
  ]);
  return made;
}

describe("the saved query", () => {
  it("Latest events returns the events of the head, the latest date first", async () => {
    expect(await ask("Latest events")).toEqual([
      [C, "2026-12-24", "uk", text(C, "uk")],
      [A, "2026-10-05", "new", text(A, "new")],
    ]);
  });

  it("What am I reading returns each account's head", async () => {
    expect(await ask("What am I reading")).toEqual([
      ["uk", "0000000003", "run", THIRD, "2027-01-02T06:05:00.000Z", "2", "false"],
      ["us", "0000000001", "run", FIRST, "2026-10-01T06:05:00.000Z", "3", "false"],
    ]);
  });

  it("Events as of a date returns what readers saw then", async () => {
    const rows = await ask("Events as of a date");

    expect(rows.map(([uuid, , scope]) => [uuid, scope])).toEqual([
      [A, "old"],
      [B, "uk"],
      [C, "uk"],
    ]);
  });

  it("What changed returns the last publication's changes", async () => {
    expect(await ask("What changed in the last publication")).toEqual([
      ["changed", A, '["/scope"]', text(A, "old"), text(A, "new")],
      ["removed", B, null, text(B, "uk"), null],
    ]);
  });

  it("Events that disappeared returns each removed event and when it was removed", async () => {
    expect(await ask("Events that disappeared")).toEqual([["2027-01-02T06:05:00.000Z", B, text(B, "uk")]]);
  });

  it("Events by month counts them", async () => {
    expect(await ask("Events by month")).toEqual([
      ["2026-12", "1"],
      ["2026-10", "1"],
    ]);
  });

  it("One field reads it from the JSON text", async () => {
    expect(await ask("One field of the events")).toEqual([
      [A, "2026-10-05", "new"],
      [C, "2026-12-24", "uk"],
    ]);
  });

  it("One field tells JSON's null from the text null", async () => {
    const sql = savedQueries("uk").find(({ title }) => title === "One field of the events")?.sql ?? "";
    const made = await warehouse();
    const rows = ['"null"', "null", "[null]"].map((scope, index) =>
      eventRow(`e${index}`, { event: `{"scope":${scope}}` }),
    );
    await made.snapshot("uk", FIRST, rows);
    await made.publish("uk", { snapshot_id: FIRST, events: 3, added: 0 });

    expect((await query(made.views, sql)).rows.map(([, , field]) => field)).toEqual(["null", null, "[null]"]);
  });

  it("Changes of the last 7 days returns those of publications that are younger", async () => {
    const sql = savedQueries("uk").find(({ title }) => title === "Changes of the last 7 days")?.sql ?? "";
    const made = await warehouse();
    const [old, young] = [8, 6].map((days) => new Date(Date.now() - days * 86_400_000).toISOString());
    for (const [snapshotId, published_at, publication] of [
      [FIRST, old, "0000000001"],
      [SECOND, young, "0000000002"],
    ] as const) {
      await made.snapshot("uk", snapshotId, [eventRow(publication)]);
      await made.put(`changes/uk/${publication}/${snapshotId}/part-00000.ndjson.gz`, [
        change(publication, { change: "added", after: "{}" }),
      ]);
      await made.publish("uk", { publication, snapshot_id: snapshotId, published_at, events: 1, added: 1 });
    }

    expect((await query(made.views, sql)).rows).toEqual([[young, "added", "0000000002", null]]);
  });

  it("An event's history returns its versions in order", async () => {
    const [first, second] = ["2026-10-01T06:05:00.000Z", "2027-01-02T06:05:00.000Z"];

    expect(await ask("An event's history")).toEqual([
      [first, second, "false", "0000000001", text(A, "old")],
      [second, null, "false", "0000000003", text(A, "new")],
    ]);
  });

  it("Texts that do not fit returns no event whose date is one", async () => {
    expect(await ask("Texts that do not fit")).toEqual([]);
  });

  it("Events as Parquet makes a table of the typed events", async () => {
    const { views } = await threePublications();
    const sql = savedQueries("uk").find(({ title }) => title === "Events as Parquet")?.sql ?? "";
    const [, select = ""] = sql.split("\nWITH (format = 'PARQUET', write_compression = 'ZSTD') AS\n");

    const { columns, rows } = await query(views, select);

    expect(columns).toEqual(["account", "uuid", "event_day", "misfits", "event"]);
    expect(rows.map(([, uuid, day]) => [uuid, day])).toEqual([
      [A, "2026-10-05"],
      [C, "2026-12-24"],
    ]);
  });

  it("Run history returns the account's attempts, the latest first, with the number of events left out", async () => {
    const rows = await ask("Run history");

    expect(rows.map((row) => [row[2], row[4], row[10]])).toEqual([
      ["2", "PUBLISHED", "6"],
      ["1", "FAILED", "6"],
    ]);
  });

  it("Failed and held runs returns the runs of all accounts, with the reason", async () => {
    const rows = await ask("Failed and held runs");

    expect(rows.map(([, account, , , outcome, reason, code]) => [account, outcome, reason, code])).toEqual([
      ["us", "HELD", "DROPPED", null],
      ["uk", "FAILED", null, "STORE_FAILED"],
    ]);
  });
});
