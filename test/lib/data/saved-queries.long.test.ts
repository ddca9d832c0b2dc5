// The saved queries: Athena's grammar accepts them, and their results on a warehouse on disk, executed by DuckDB, which has
// the same tables and functions.

import { describe, expect, it } from "vitest";
import { query } from "../../../bin/cli/query/query.ts";
import { savedQueries } from "../../../lib/data/workgroup.ts";
import { eventRow, type Warehouse, warehouse } from "../../cli/warehouse.ts";
import { TrinoSQL } from "../trino-grammar.ts";

const A = "00000000-0000-0000-0000-000000000000";
const B = "bbbbbbbb-0000-0000-0000-000000000000";
const C = "cccccccc-0000-0000-0000-000000000000";
const detail = (uuid: string, scope: unknown): string => JSON.stringify({ uuid, scope });
const OF_A = detail(A, { country: "uk" });
const FIRST_OF_B = detail(B, "first");
const SECOND_OF_B = detail(B, "second");
const FIRST_OF_C = detail(C, "first");
const OF_C = detail(C, "uk");
const DATES = { [A]: "2026-10-05", [B]: "2026-10-09", [C]: "2026-12-24" };

/** Of the steps; the saved query for a date has the first instant of 2027. */
const DAYS = ["2026-12-29", "2026-12-30", "2026-12-31", "2027-01-02", "2027-01-03", "2027-01-04"];
const published = (step: number): string => `${DAYS[step - 1]}T06:05:00.000Z`;
const snapshotOf = (step: number): string => `${DAYS[step - 1]}T06-00-00.000Z`;
const change = (kind: string, uuid: string, over: object): object => ({
  uuid,
  change: kind,
  fields: null,
  before: null,
  after: null,
  ...over,
});

interface Step {
  readonly action?: "accept" | "rollback";
  /** The snapshot of an earlier step, if it is rolled back to. */
  readonly snapshot: number;
  readonly events: Readonly<Record<string, string>>;
  readonly changes: readonly object[];
}

/** B is removed, comes back with other details, and is removed again; an empty snapshot is accepted, then rolled back. */
const HISTORY: readonly Step[] = [
  {
    snapshot: 1,
    events: { [A]: OF_A, [B]: FIRST_OF_B, [C]: FIRST_OF_C },
    changes: [
      change("added", A, { after: OF_A }),
      change("added", B, { after: FIRST_OF_B }),
      change("added", C, { after: FIRST_OF_C }),
    ],
  },
  {
    snapshot: 2,
    events: { [A]: OF_A, [C]: FIRST_OF_C },
    changes: [change("removed", B, { before: FIRST_OF_B })],
  },
  {
    snapshot: 3,
    events: { [A]: OF_A, [B]: SECOND_OF_B, [C]: OF_C },
    changes: [
      change("added", B, { after: SECOND_OF_B }),
      change("changed", C, { fields: '["/scope"]', before: FIRST_OF_C, after: OF_C }),
    ],
  },
  {
    snapshot: 4,
    events: { [A]: OF_A, [C]: OF_C },
    changes: [change("removed", B, { before: SECOND_OF_B })],
  },
  {
    action: "accept",
    snapshot: 5,
    events: {},
    changes: [change("removed", A, { before: OF_A }), change("removed", C, { before: OF_C })],
  },
  {
    action: "rollback",
    snapshot: 4,
    events: { [A]: OF_A, [C]: OF_C },
    changes: [change("added", A, { after: OF_A }), change("added", C, { after: OF_C })],
  },
];

const sqlOf = (title: string): string => {
  const sql = savedQueries("uk").find((each) => each.title === title)?.sql;
  if (sql === undefined) throw new Error(`no saved query "${title}"`);
  return sql;
};

/** What the query puts into the table that it makes. */
const selectOf = (title: string): string => {
  const [, select = ""] = sqlOf(title).split("\nWITH (format = 'PARQUET', write_compression = 'ZSTD') AS\n");
  return select;
};

type Rows = readonly (readonly (string | null)[])[];

const ask = async (
  { views }: Warehouse,
  title: string,
  [from, to]: readonly [string, string] = ["", ""],
): Promise<Rows> => (await query(views, sqlOf(title).replace(from, to))).rows;

describe("Athena's grammar", () => {
  const errorsOf = (sql: string): readonly unknown[] => new TrinoSQL().validate(sql);

  it.each(savedQueries("uk").map(({ title, sql }) => [title, sql]))(
    "accepts the saved query %s",
    (_, sql) => {
      expect(errorsOf(sql)).toEqual([]);
    },
  );

  it.each([
    ["an extra comma", "SELECT uuid, FROM events"],
    ["syntax of DuckDB only", "SELECT * EXCLUDE (event) FROM events"],
    ["a clause that Trino lacks", "SELECT uuid FROM events QUALIFY row_number() OVER (ORDER BY uuid) = 1"],
  ])("refuses %s", (_, sql) => {
    expect(errorsOf(sql)).not.toEqual([]);
  });
});

describe("a saved query", () => {
  it("keeps its title and description as comments in the first lines", () => {
    for (const { title, description, sql } of savedQueries("uk")) {
      const [, statement = ""] = sql.split(`-- ${title}\n-- ${description}\n`);
      expect(statement).toMatch(/^(-- .+\n)*(SELECT|CREATE TABLE) /);
      expect(sql).not.toContain(";");
    }
  });
});

describe("the saved query", () => {
  /** What, after how many steps, and the rows. */
  it.each<readonly [string, string, number, Rows]>([
    [
      "Latest events",
      "returns the snapshot that was rolled back to, the latest date first",
      6,
      [
        [C, DATES[C], "uk", OF_C],
        [A, DATES[A], "uk", OF_A],
      ],
    ],
    ["Latest events", "returns no row on an empty head", 5, []],
    [
      "What am I reading",
      "names each account's publication and its snapshot",
      6,
      [
        ["uk", "0000000006", "rollback", snapshotOf(4), published(6), "2", "true"],
        ["us", "0000000001", "run", snapshotOf(1), published(1), "1", "false"],
      ],
    ],
    [
      "What changed in the last publication",
      "returns its changes, with the fields",
      3,
      [
        ["added", B, null, null, SECOND_OF_B],
        ["changed", C, '["/scope"]', FIRST_OF_C, OF_C],
      ],
    ],
    [
      "What changed in the last publication",
      "returns those of a rollback",
      6,
      [
        ["added", A, null, null, OF_A],
        ["added", C, null, null, OF_C],
      ],
    ],
    [
      "Events that disappeared",
      "has one row for each event, with its last details",
      6,
      [[published(4), B, SECOND_OF_B]],
    ],
    [
      "Events that disappeared",
      "has every event on an empty head, the latest removal first",
      5,
      [
        [published(5), A, OF_A],
        [published(5), C, OF_C],
        [published(4), B, SECOND_OF_B],
      ],
    ],
    [
      "An event's history",
      "has each version, in order",
      6,
      [
        [published(1), published(5), "false", "0000000001", OF_A],
        [published(5), published(6), "true", "0000000005", null],
        [published(6), null, "false", "0000000006", OF_A],
      ],
    ],
    [
      "Events as of a date",
      "returns what readers saw last before it",
      6,
      [
        [A, DATES[A], "uk", OF_A],
        [B, DATES[B], "uk", SECOND_OF_B],
        [C, DATES[C], "uk", OF_C],
      ],
    ],
    [
      "Events by month",
      "counts the head's events once",
      6,
      [
        ["2026-12", "1"],
        ["2026-10", "1"],
      ],
    ],
    ["Events by month", "returns no row on an empty head", 5, []],
    [
      "One field of the events",
      "returns a text as it is, and an object as JSON text",
      6,
      [
        [A, DATES[A], '{"country":"uk"}'],
        [C, DATES[C], "uk"],
      ],
    ],
    ["One field of the events", "returns no row on an empty head", 5, []],
    ["Texts that do not fit", "returns no event whose date is one", 6, []],
  ])("%s %s", async (title, _, steps, rows) => {
    const made = await warehouseOf(HISTORY.slice(0, steps));

    expect(await ask(made, title)).toEqual(rows);
  });

  it("Events as of a date returns nothing where readers saw the empty snapshot", async () => {
    const made = await warehouseOf(HISTORY);

    const instants = ["2027-01-01T00:00:00Z", "2027-01-03T12:00:00Z"] as const;
    expect(sqlOf("Events as of a date")).toContain(instants[0]);
    expect(await ask(made, "Events as of a date", instants)).toEqual([]);
  });

  it("One field tells JSON's null from the text null", async () => {
    const made = await warehouse();
    const rows = ['"null"', "null", "[null]"].map((scope, index) =>
      eventRow(`e${index}`, { event: `{"scope":${scope}}` }),
    );
    await made.snapshot("uk", snapshotOf(1), rows);
    await made.publish("uk", { snapshot_id: snapshotOf(1), events: 3, added: 0 });

    const fields = (await ask(made, "One field of the events")).map(([, , field]) => field);
    expect(fields).toEqual(["null", null, "[null]"]);
  });

  it("Changes of the last 7 days returns those of publications that are younger", async () => {
    const made = await warehouse();
    const [old, young] = [8, 6].map((days) => new Date(Date.now() - days * 86_400_000).toISOString());
    for (const [snapshotId, published_at, publication] of [
      [snapshotOf(1), old, "0000000001"],
      [snapshotOf(2), young, "0000000002"],
    ] as const) {
      await made.snapshot("uk", snapshotId, [eventRow(publication)]);
      await made.put(`changes/uk/${publication}/${snapshotId}/part-00000.ndjson.gz`, [
        change("added", publication, { after: "{}" }),
      ]);
      await made.publish("uk", { publication, snapshot_id: snapshotId, published_at, events: 1, added: 1 });
    }

    expect(await ask(made, "Changes of the last 7 days")).toEqual([[young, "added", "0000000002", null]]);
  });

  it("All changes as Parquet makes a table of the changes of all publications, with their instants", async () => {
    const { views } = await warehouseOf(HISTORY);

    const { columns, rows } = await query(views, `${selectOf("All changes as Parquet")}\nORDER BY 1, 3`);

    expect(columns).toEqual(["publication", "published_at", "uuid", "change", "fields", "before", "after"]);
    expect(rows.map(([publication, , uuid, kind]) => [Number(publication), uuid, kind])).toEqual([
      [1, A, "added"],
      [1, B, "added"],
      [1, C, "added"],
      [2, B, "removed"],
      [3, B, "added"],
      [3, C, "changed"],
      [4, B, "removed"],
      [5, A, "removed"],
      [5, C, "removed"],
      [6, A, "added"],
      [6, C, "added"],
    ]);
    expect(rows[0]?.[1]).toBe(published(1));
  });

  it("Events as Parquet makes a table of the typed events", async () => {
    const { views } = await warehouseOf(HISTORY);
    const select = selectOf("Events as Parquet");

    const { columns, rows } = await query(views, select);

    expect(columns).toEqual(["account", "uuid", "event_day", "misfits", "event"]);
    expect(rows.map(([, uuid, day]) => [uuid, day])).toEqual([
      [A, DATES[A]],
      [C, DATES[C]],
    ]);
  });

  it("Run history returns the account's attempts, the latest first, with the number of events left out", async () => {
    const rows = await ask(await withRuns(), "Run history");

    expect(rows.map((row) => [row[2], row[4], row[10]])).toEqual([
      ["2", "PUBLISHED", "6"],
      ["1", "FAILED", "6"],
    ]);
  });

  it("Failed and held runs returns the runs of all accounts, with the reason", async () => {
    const rows = await ask(await withRuns(), "Failed and held runs");

    expect(rows.map(([, account, , , outcome, reason, code]) => [account, outcome, reason, code])).toEqual([
      ["us", "HELD", "DROPPED", null],
      ["uk", "FAILED", null, "STORE_FAILED"],
    ]);
  });
});

/** Another account has an event of its own. */
async function warehouseOf(steps: readonly Step[]): Promise<Warehouse> {
  const made = await warehouse();
  for (const [index, { action = "run", snapshot, events, changes }] of steps.entries()) {
    const publication = `000000000${index + 1}`;
    const before = steps[index - 1];
    const id = snapshotOf(snapshot);
    const rows = Object.entries(events).map(([uuid, event]) =>
      eventRow(uuid, { event_date: Object(DATES)[uuid], event }),
    );
    if (action !== "rollback" && rows.length > 0) await made.snapshot("uk", id, rows);
    await made.put(`changes/uk/${publication}/${id}/part-00000.ndjson.gz`, changes);
    await made.publish("uk", {
      publication,
      action,
      snapshot_id: id,
      base_snapshot_id: before === undefined ? null : snapshotOf(before.snapshot),
      run_id: action === "run" ? id : `2027-01-0${index}T06-05-00.000Z`,
      published_at: published(index + 1),
      events: rows.length,
      added: changes.filter((each) => "change" in each && each.change === "added").length,
      removed: changes.filter((each) => "change" in each && each.change === "removed").length,
      pinned: action === "rollback",
    });
  }
  const id = snapshotOf(1);
  await made.snapshot("us", id, [eventRow("us-event")]);
  await made.publish("us", {
    snapshot_id: id,
    run_id: id,
    events: 1,
    added: 0,
    published_at: published(1),
  });
  return made;
}

async function withRuns(): Promise<Warehouse> {
  const made = await warehouse();
  for (const [account, attempt, over] of [
    ["uk", 1, { outcome: "FAILED", started_at: published(1), error_code: "STORE_FAILED" }],
    ["uk", 2, { outcome: "PUBLISHED", started_at: published(2), listed: 8, events: 2 }],
    ["us", 1, { outcome: "HELD", started_at: published(3), reason: "DROPPED" }],
  ] as const) {
    const run = { trigger: "schedule", gone: 1, forbidden: 2, rejected: 3, seconds: 1.5 };
    await made.put(`run-log/${account}/${snapshotOf(1)}-${attempt}.ndjson`, [
      { ...run, run_id: snapshotOf(1), attempt, ...over },
    ]);
  }
  return made;
}
