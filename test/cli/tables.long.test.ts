// What a reader of the tables on a laptop finds: hostile content byte for byte as the service sent it, columns of one's own, and
// the view `events_typed`.

import { describe, expect, it, test } from "vitest";
import { query } from "../../bin/cli/query/query.ts";
import { COLUMNS_FILE } from "../../lambdas/job/storage/layout.ts";
import { COLUMNS, HOSTILE_VALUES } from "../job/catalog/views/text-values.ts";
import { liftedManifest } from "../job/snapshot/files/manifests.ts";
import { hostileEvents } from "../simulator/hostile-events.ts";
import { laptop, lastJson } from "./command-line.ts";
import { type ColumnTypes, eventRow, readRows, type Warehouse, warehouse } from "./warehouse.ts";

/** Independent of the scanner: character by character, with a flag for being inside a string. */
function withoutWhiteSpace(json: string): string {
  let kept = "";
  let inString = false;
  for (let i = 0; i < json.length; i += 1) {
    const character = json.charAt(i);
    if (inString && character === "\\") {
      kept += character + json.charAt(i + 1);
      i += 1;
      continue;
    }
    if (character === '"') inString = !inString;
    if (inString || !" \t\r\n".includes(character)) kept += character;
  }
  return kept;
}

test.each(["data", "data-event", "bare"] as const)(
  "hostile content in the shape %s arrives as it was sent",
  async (shape) => {
    const events = hostileEvents();
    const world = await laptop({ events, detail: { shape }, encoding: "gzip" });

    const run = await world.ask("run", "--json");

    expect(lastJson(run)).toMatchObject({ outcome: "PUBLISHED", events: events.length });
    const rows = await readRows(world.warehouse, "SELECT uuid, event, listing FROM events");
    const read = new Map(rows.map(([uuid, event, listing]) => [uuid, { event, listing }]));
    for (const { name, uuid, source, listing } of events) {
      const expected = { event: withoutWhiteSpace(source), listing: withoutWhiteSpace(listing) };
      expect(read.get(uuid.toLowerCase()), name).toEqual(expected);
    }
  },
);

// Of which text: `test/job/service/events/read-detail.test.ts`.
test("event_date and scope are those of the event", async () => {
  const world = await laptop({ events: hostileEvents() });
  await world.ask("run");

  const rows = await readRows(world.warehouse, "SELECT uuid, event_date, scope FROM events");

  const of = (name: string): readonly unknown[] | undefined => {
    const event = hostileEvents().find((one) => one.name === name);
    return rows.find(([uuid]) => uuid === event?.uuid)?.slice(1);
  };
  expect(of("no date and no scope")).toEqual([null, null]);
  expect(of("an object as date")).toEqual(['{"from":"2026-01-01","to":"2026-02-01"}', "national"]);
  expect(of("a number as date")).toEqual(["20260101.10", "false"]);
});

const ONE = "2026-11-21T06-00-00.000Z";
const TWO = "2026-11-22T06-00-00.000Z";

const rows = async ({ views }: Warehouse, sql: string): Promise<readonly unknown[]> =>
  (await query(views, sql)).rows;

const columnsOf = (made: Warehouse, table: string): Promise<readonly unknown[]> =>
  rows(made, `SELECT column_name FROM (DESCRIBE ${table}) WHERE column_type = 'VARCHAR'`);

/** A snapshot of uk with columns of these types and these rows. */
async function typed(types: ColumnTypes, ...values: readonly object[]): Promise<Warehouse> {
  const made = await warehouse();
  await made.publishTyped(ONE, types, values);
  return made;
}

/** Two snapshots of uk, the second one with these lifted columns. */
async function withLifted(names: readonly string[], values: object): Promise<Warehouse> {
  const made = await warehouse();
  await made.snapshot("uk", ONE, [eventRow("a")]);
  await made.publish("uk", { snapshot_id: ONE, events: 1, added: 0 });
  await made.snapshot("uk", TWO, [eventRow("a", values)]);
  await made.manifest(liftedManifest(names, { snapshot_id: TWO }));
  await made.publish("uk", { publication: "0000000002", snapshot_id: TWO, events: 1, added: 0 });
  return made;
}

describe("lifted columns", () => {
  it("stand after the listing and before the partitions, in order", async () => {
    const made = await withLifted(["brand", "amount"], { brand: "x", amount: "1.10" });

    const shared = ["uuid", "event_date", "scope", "event", "listing", "brand", "amount", "account"];
    expect(await columnsOf(made, "events")).toEqual(shared.map((name) => [name]));
    expect(await columnsOf(made, "event_snapshots")).toEqual(
      [...shared, "snapshot_id"].map((name) => [name]),
    );
  });

  it("are null in a snapshot from before they were lifted", async () => {
    const made = await withLifted(["brand"], { brand: "x" });

    expect(await rows(made, "SELECT snapshot_id, brand FROM event_snapshots ORDER BY ALL")).toEqual([
      [ONE, null],
      [TWO, "x"],
    ]);
    expect(await rows(made, "SELECT brand FROM events")).toEqual([["x"]]);
  });

  it("are those of the account that has the most, and null for the others", async () => {
    const made = await withLifted(["brand"], { brand: "x" });
    await made.snapshot("de", ONE, [eventRow("b", { brand: "y", amount: "2" })]);
    await made.manifest(liftedManifest(["brand", "amount"], { account: "de", snapshot_id: ONE }));
    await made.publish("de", { snapshot_id: ONE, events: 1, added: 0 });

    expect(await rows(made, "SELECT account, brand, amount FROM events ORDER BY ALL")).toEqual([
      ["de", "y", "2"],
      ["uk", "x", null],
    ]);
  });

  it("are those of columns.json, with their types, also one that has no row yet", async () => {
    const made = await withLifted(["brand"], { brand: "x" });
    const columns = [
      { name: "brand", pointers: { uk: "/brand" }, since: TWO },
      { name: "amount", type: "BIGINT", typed_by: TWO, pointers: { de: "/amount" }, since: TWO },
    ];
    await made.put(COLUMNS_FILE, [{ version: 1, columns }]);

    expect(await rows(made, "SELECT brand, amount FROM events")).toEqual([["x", null]]);
    expect(
      await rows(made, "SELECT column_type FROM (DESCRIBE events_typed) WHERE column_name = 'amount'"),
    ).toEqual([["BIGINT"]]);
  });

  it("may have any name, that of a keyword or of DuckDB's own columns too", async () => {
    const names = ["select", "filename", "__proto__", "rowid", "file_row_number", "order", "_"];
    const made = await withLifted(names, JSON.parse(`{${names.map((name) => `"${name}":"${name}!"`)}}`));
    const quoted = names.map((name) => `"${name}"`);

    expect(await rows(made, `SELECT ${quoted} FROM events`)).toEqual([names.map((name) => `${name}!`)]);
    expect(await rows(made, `SELECT ${quoted} FROM event_snapshots WHERE snapshot_id = '${ONE}'`)).toEqual([
      names.map(() => null),
    ]);
  });

  it("are there, though the head has no events", async () => {
    const made = await warehouse();
    await made.manifest(liftedManifest(["brand"], { snapshot_id: ONE }));
    await made.publish("uk", { snapshot_id: ONE, events: 0, added: 0 });

    expect(await rows(made, "SELECT brand FROM events")).toEqual([]);
  });
});

it("events_typed has the columns of the account's day, the lifted ones and the misfits, in order", async () => {
  const made = await typed(
    { amount: "DECIMAL(18,2)", sector: undefined, seen: "TIMESTAMP", n: "BIGINT" },
    {},
  );

  expect(await rows(made, "SELECT column_name, column_type FROM (DESCRIBE events_typed)")).toEqual([
    ["account", "VARCHAR"],
    ["uuid", "VARCHAR"],
    ["event_day", "DATE"],
    ["amount", "DECIMAL(18,2)"],
    ["sector", "VARCHAR"],
    ["seen", "TIMESTAMP"],
    ["n", "BIGINT"],
    ["misfits", "INTEGER"],
    ["event", "VARCHAR"],
  ]);
});

it("misfits counts the texts that did not fit their type; null is no text", async () => {
  const made = await typed(
    { amount: "DECIMAL(18,2)", n: "BIGINT", sector: "VARCHAR" },
    { event_date: "2026-11-21T10:00:00Z", amount: "1.005", n: "7", sector: "x" },
    { event_date: "2026-02-30", amount: "much", n: "1e400", sector: "y" },
    { event_date: null, amount: null, n: "", sector: null },
  );

  expect(
    await rows(made, "SELECT event_day, amount, n, sector, misfits FROM events_typed ORDER BY uuid"),
  ).toEqual([
    ["2026-11-21", "1.01", "7", "x", "0"],
    [null, null, null, "y", "3"],
    [null, null, null, null, "1"],
  ]);
});

it("hostile texts in a file fail no query, and each is a value or a misfit", async () => {
  const hostile = [...HOSTILE_VALUES, "\u2028", "\u0085", '"', "\\", "'; DROP VIEW events; --"];
  const made = await typed(
    Object.fromEntries(COLUMNS),
    ...hostile.map((text) => ({
      event_date: text,
      ...Object.fromEntries(COLUMNS.map(([name]) => [name, text])),
    })),
  );
  const values = ["event_day", ...COLUMNS.map(([name]) => name)].map((name) => `(${name} IS NULL)::INT`);

  const [counted] = await rows(
    made,
    `SELECT count(*), count(*) FILTER (misfits = ${values.join(" + ")}), count(c6) FROM events_typed`,
  );

  const all = String(hostile.length);
  expect(counted).toEqual([all, all, all]);
});

it("a list of texts is a value as long as its text is an array of strings, and counts in both dialects", async () => {
  const countries = ['["DE","AT"]', '["DE",null]', "[]", "[1.10]", '["\\ud800"]', "DE", null];
  const made = await typed({ countries: "VARCHAR[]" }, ...countries.map((each) => ({ countries: each })));

  expect(await rows(made, "SELECT countries, misfits FROM events_typed ORDER BY uuid")).toEqual([
    ['["DE","AT"]', "0"],
    ['["DE",null]', "0"],
    ["[]", "0"],
    [null, "1"],
    [null, "1"],
    [null, "1"],
    [null, "0"],
  ]);
  expect(
    await rows(
      made,
      "SELECT c, count(*) FROM events_typed CROSS JOIN UNNEST(countries) AS t(c) GROUP BY 1 ORDER BY 1",
    ),
  ).toEqual([
    ["AT", "1"],
    ["DE", "2"],
    [null, "1"],
  ]);
});

it("a lifted column that is called like one of the view's own is in events only", async () => {
  const made = await typed(
    { event_day: "DATE", misfits: "BIGINT" },
    { event_day: "2020-01-01", misfits: "9" },
  );

  expect(await rows(made, "SELECT * EXCLUDE (event) FROM events_typed")).toEqual([
    ["uk", "e0", "2026-11-01", "0"],
  ]);
  expect(await rows(made, "SELECT event_day, misfits FROM events")).toEqual([["2020-01-01", "9"]]);
});
