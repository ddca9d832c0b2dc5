// The view `events_typed` on a laptop: typed values of the head's events.

import { expect, it } from "vitest";
import { query } from "../../bin/cli/query/query.ts";
import type { ColumnType } from "../../lambdas/job/snapshot/rows/lifted-column.ts";
import { HOSTILE_VALUES } from "../job/catalog/views/text-values.ts";
import { aManifest } from "../job/snapshot/files/manifests.ts";
import { eventRow, type Warehouse, warehouse } from "./warehouse.ts";

const ONE = "2026-11-21T06-00-00.000Z";

const rows = async ({ views }: Warehouse, sql: string): Promise<readonly (readonly unknown[])[]> =>
  (await query(views, sql)).rows;

/** A snapshot of uk with these lifted columns and rows. */
async function typed(
  types: Readonly<Record<string, ColumnType | undefined>>,
  ...values: readonly object[]
): Promise<Warehouse> {
  const made = await warehouse();
  const manifest = aManifest({ snapshot_id: ONE });
  const lifted = Object.entries(types).map(([name, type]) => ({
    name,
    pointer: `/${name}`,
    type,
    typed_by: ONE,
  }));
  await made.manifest({ ...manifest, columns: [...manifest.columns, ...Object.keys(types)], lifted });
  await made.snapshot(
    "uk",
    ONE,
    values.map((each, index) => eventRow(`e${index}`, each)),
  );
  await made.publish("uk", { snapshot_id: ONE, events: values.length, added: 0 });
  return made;
}

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
  const types = [
    "BIGINT",
    "DOUBLE",
    "DECIMAL(18,2)",
    "BOOLEAN",
    "DATE",
    "TIMESTAMP",
    "VARCHAR",
    "VARCHAR[]",
  ] as const;
  const columns = types.map((type, index) => [`c${index}`, type] as const);
  const hostile = [...HOSTILE_VALUES, "\u2028", "\u0085", '"', "\\", "'; DROP VIEW events; --"];
  const made = await typed(
    Object.fromEntries(columns),
    ...hostile.map((text) => ({
      event_date: text,
      ...Object.fromEntries(columns.map(([name]) => [name, text])),
    })),
  );
  const values = ["event_day", ...columns.map(([name]) => name)].map((name) => `(${name} IS NULL)::INT`);

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
