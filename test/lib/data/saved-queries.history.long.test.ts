// The saved queries on a history with a comeback, a second removal, an empty snapshot and a rollback, executed by
// DuckDB.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { query } from "../../../bin/cli/query/query.ts";
import { savedQueries } from "../../../lib/data/workgroup.ts";
import { eventRow, Warehouse } from "../../cli/warehouse.ts";

const A = "00000000-0000-0000-0000-000000000000";
const B = "bbbbbbbb-0000-0000-0000-000000000000";
const detail = (uuid: string, scope: unknown): string => JSON.stringify({ uuid, scope });
const OF_A = detail(A, { country: "uk" });
const FIRST_OF_B = detail(B, "first");
const SECOND_OF_B = detail(B, "second");

const day = (n: number): string => `2027-01-0${n}T06:05:00.000Z`;
const snapshotId = (n: number): string => `2027-01-0${n}T06-00-00.000Z`;
const added = (uuid: string, after: string): object => ({
  uuid,
  change: "added",
  fields: null,
  before: null,
  after,
});
const removed = (uuid: string, before: string): object => ({
  uuid,
  change: "removed",
  fields: null,
  before,
  after: null,
});

interface Step {
  readonly action?: "accept" | "rollback";
  readonly snapshot: number;
  readonly events: Readonly<Record<string, string>>;
  readonly changes: readonly object[];
}

/** B is removed, comes back with other details, and is removed again; an empty snapshot is accepted, then rolled back. */
const HISTORY: readonly Step[] = [
  { snapshot: 1, events: { [A]: OF_A, [B]: FIRST_OF_B }, changes: [added(A, OF_A), added(B, FIRST_OF_B)] },
  { snapshot: 2, events: { [A]: OF_A }, changes: [removed(B, FIRST_OF_B)] },
  { snapshot: 3, events: { [A]: OF_A, [B]: SECOND_OF_B }, changes: [added(B, SECOND_OF_B)] },
  { snapshot: 4, events: { [A]: OF_A }, changes: [removed(B, SECOND_OF_B)] },
  { snapshot: 5, events: {}, changes: [removed(A, OF_A)], action: "accept" },
  { snapshot: 4, events: { [A]: OF_A }, changes: [added(A, OF_A)], action: "rollback" },
];

let directory: string;
let withHistory: Warehouse;
let withEmptyHead: Warehouse;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "brand-events-"));
  withHistory = await warehouseOf("history", HISTORY);
  withEmptyHead = await warehouseOf("empty-head", HISTORY.slice(0, 5));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe("on a history with comebacks and a rollback, the saved query", () => {
  it("Events that disappeared has one row for each event, with its last details", async () => {
    expect(await ask(withHistory, "Events that disappeared")).toEqual([[day(4), B, SECOND_OF_B]]);
  });

  it("Latest events returns the snapshot that was rolled back to", async () => {
    expect(await ask(withHistory, "Latest events")).toEqual([[A, "2026-11-01", "uk", OF_A]]);
  });

  it("What am I reading names the rollback and the snapshot", async () => {
    expect(await ask(withHistory, "What am I reading")).toEqual([
      ["uk", "0000000006", "rollback", snapshotId(4), day(6), "1", "true"],
    ]);
  });

  it("What changed returns the changes of the rollback", async () => {
    expect(await ask(withHistory, "What changed in the last publication")).toEqual([
      ["added", A, null, null, OF_A],
    ]);
  });

  it("An event's history has each version, in order", async () => {
    expect(await ask(withHistory, "An event's history")).toEqual([
      [day(1), day(5), "false", "0000000001", OF_A],
      [day(5), day(6), "true", "0000000005", null],
      [day(6), null, "false", "0000000006", OF_A],
    ]);
  });

  it("Events as of a date returns what readers saw last before it", async () => {
    expect(
      await ask(withHistory, "Events as of a date", ["2027-01-01T00:00:00Z", "2027-01-03T12:00:00Z"]),
    ).toEqual([
      [A, "2026-11-01", "uk", OF_A],
      [B, "2026-11-01", "uk", SECOND_OF_B],
    ]);
  });

  it("Events as of a date returns nothing where readers saw the empty snapshot", async () => {
    expect(
      await ask(withHistory, "Events as of a date", ["2027-01-01T00:00:00Z", "2027-01-05T12:00:00Z"]),
    ).toEqual([]);
  });

  it("Events by month counts the head's events once", async () => {
    expect(await ask(withHistory, "Events by month")).toEqual([["2026-11", "1"]]);
  });

  it("One field returns an object as JSON text", async () => {
    expect(await ask(withHistory, "One field of the events")).toEqual([
      [A, "2026-11-01", '{"country":"uk"}'],
    ]);
  });
});

describe("on an empty head, the saved query", () => {
  it.each(["Latest events", "Events by month", "One field of the events"])(
    "%s returns no row",
    async (title) => {
      expect(await ask(withEmptyHead, title)).toEqual([]);
    },
  );

  it("Events that disappeared returns every event once, the latest removal first", async () => {
    expect(await ask(withEmptyHead, "Events that disappeared")).toEqual([
      [day(5), A, OF_A],
      [day(4), B, SECOND_OF_B],
    ]);
  });
});

async function warehouseOf(name: string, steps: readonly Step[]): Promise<Warehouse> {
  const made = new Warehouse(join(directory, name));
  for (const [index, { action = "run", snapshot, events, changes }] of steps.entries()) {
    const publication = `000000000${index + 1}`;
    const before = steps[index - 1];
    const id = snapshotId(snapshot);
    const rows = Object.entries(events).map(([uuid, event]) => eventRow(uuid, { event }));
    if (action !== "rollback" && rows.length > 0) await made.snapshot("uk", id, rows);
    await made.put(`changes/uk/${publication}/${id}/part-00000.ndjson.gz`, changes);
    await made.publish("uk", {
      publication,
      action,
      snapshot_id: id,
      base_snapshot_id: before === undefined ? null : snapshotId(before.snapshot),
      run_id: action === "run" ? id : `2027-01-0${index + 1}T06-05-00.000Z`,
      published_at: day(index + 1),
      events: rows.length,
      added: changes.filter((each) => "change" in each && each.change === "added").length,
      removed: changes.filter((each) => "change" in each && each.change === "removed").length,
      pinned: action === "rollback",
    });
  }
  return made;
}

async function ask(
  { views }: Warehouse,
  title: string,
  [from, to]: readonly [string, string] = ["", ""],
): Promise<readonly (readonly (string | null)[])[]> {
  const sql = savedQueries("uk").find((each) => each.title === title)?.sql;
  if (sql === undefined) throw new Error(`no saved query "${title}"`);
  return (await query(views, sql.replace(from, to))).rows;
}
