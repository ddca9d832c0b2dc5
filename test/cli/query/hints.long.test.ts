// What `query` says beside DuckDB's words: how to read a field that is no column, and why there are no events.

import { expect, it, test } from "vitest";
import { query } from "../../../bin/cli/query/query.ts";
import type { Field } from "../../../lambdas/job/snapshot/fields/field-profile.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { aManifest } from "../../job/snapshot/files/manifests.ts";
import { sync } from "../command-line.ts";
import { eventRow, type Warehouse, warehouse } from "../warehouse.ts";

const ONE = "2026-11-21T06-00-00.000Z";

const field = (pointer: string, type: "string" | "object" | "number" = "string"): Field => ({
  pointer,
  count: 1,
  types: { [type]: 1 },
});

async function withFields(...fields: readonly Field[]): Promise<Warehouse> {
  const made = await warehouse();
  await made.snapshot("uk", ONE, [eventRow("a", { event: '{"name":"x"}' })]);
  await made.manifest({ ...aManifest({ snapshot_id: ONE }), fields: [...fields] });
  await made.publish("uk", { snapshot_id: ONE, events: 1, added: 0 });
  return made;
}

const ask = ({ directory }: Warehouse, sql: string) =>
  sync(["query", sql, "--warehouse", directory], { cwd: directory });

it.each([
  [
    "SELECT name FROM events",
    "json_extract_scalar(event, '$.name'), or json_extract_scalar(event, '$.sector.name')",
  ],
  ["SELECT e.NAME FROM events e", "json_extract_scalar(event, '$.name'), or "],
  ["SELECT 1 FROM events WHERE sector = 'x'", "json_extract(well_formed(event), '$.sector')"],
  [`SELECT "it's a" FROM events`, `json_extract_scalar(event, '$["it''s a"]')`],
])("%s is answered with the expression that works", async (sql, expected) => {
  const made = await withFields(
    ...[
      field("/it's a"),
      field("/name"),
      field("/names/*/name"),
      field("/sector", "object"),
      field("/sector/name"),
    ],
  );

  const { exitCode, stderr } = await ask(made, sql);

  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(`is a field of the details, and no column: ${expected}`),
  ]);
  const [, expression = ""] = /no column: (.*?)(?:, or |\n)/.exec(stderr) ?? [];
  expect((await query(made.views, `SELECT ${expression} FROM events`)).rows).toHaveLength(1);
});

it.each(["SELECT other FROM events", "SELECT x FROM events", "SELEC name"])(
  "%s has no such answer",
  async (sql) => {
    const made = await withFields(field("/name"), field("/a/x\u001b"), field('/"x"'));

    expect((await ask(made, sql)).stderr).not.toContain("is a field");
  },
);

it.each([
  ["SELECT event.name FROM events", "event", "$.name", "name=/name"],
  ["SELECT e.EVENT.sector.NAME FROM events e", "event", "$.sector.name", "name=/sector/name"],
  ["SELECT 1 FROM events WHERE event.name = 'x'", "event", "$.name", "name=/name"],
  ["SELECT event.NAME FROM events", "event", "$.NAME", "name=/NAME"],
  [`SELECT event."it's a" FROM events_typed`, "event", `$["it''s a"]`, `'it_s_a=/it'\\''s a'`],
  ["SELECT event.brand.name FROM events", "event", "$.brand.name", undefined],
  ["SELECT listing.name FROM events", "listing", "$.name", undefined],
  ["SELECT before.name, after.name FROM event_changes", "before", "$.name", undefined],
])(
  "%s, a field behind a dot, is answered with the expression that works, and with --lift",
  async (...row) => {
    const [sql, column, path, lift] = row;
    const made = await withFields(field("/it's a"), field("/name"), field("/NAME"), field("/sector/name"));

    const { exitCode, stderr } = await ask(made, sql);

    const makes = lift === undefined ? "" : `, and run with --lift ${lift} makes a column of it`;
    const hint = `${column} is JSON text: json_extract_scalar(${column}, '${path}') reads the field${makes}.`;
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`\n  ${hint}\n`)]);
    const [, expression] = /: (.*) reads the field/.exec(stderr) ?? [];
    const table = column === "before" ? "event_changes" : "events";
    await expect(query(made.views, `SELECT ${expression} FROM ${table}`)).resolves.toBeDefined();
  },
);

test("a field behind a dot that holds more than a value is read as JSON, and --lift is not named", async () => {
  const made = await withFields(field("/sector", "object"), field("/sector/name"));

  const { stderr } = await ask(made, "SELECT event.sector FROM events");

  expect(stderr).toContain(
    "event is JSON text: json_extract(well_formed(event), '$.sector') reads the field.\n",
  );
});

it.each([
  "SELECT published_at FROM event_changes",
  "SELECT c.Published_At FROM event_changes c",
  "SELECT snapshot_id FROM event_changes ORDER BY 1",
  "SELECT uuid FROM event_changes JOIN publications USING (snapshot_id)",
])("%s is answered with the join that has the column, and with diff --since", async (sql) => {
  const made = await warehouse();
  const change = { uuid: "a", change: "added", fields: null, before: null, after: "{}" };
  await made.snapshot("uk", ONE, [eventRow("a")]);
  await made.put(`changes/uk/0000000001/${ONE}/part-00000.ndjson.gz`, [change]);
  await made.publish("uk", { snapshot_id: ONE, events: 1, added: 1 });
  await made.publish("uk", { publication: "0000000002", snapshot_id: ONE, events: 1, added: 0 });
  await made.publish("us", { snapshot_id: ONE, events: 0, added: 0, published_at: "1999-01-01T00:00:00Z" });

  const { exitCode, stderr } = await ask(made, sql);

  const [, column = "", join = ""] =
    / (\w+) is a column of publications: (SELECT .*)\. Without/.exec(stderr) ?? [];
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Without SQL, diff --since <instant> compares");
  const { rows } = await query(made.views, join);
  const [[expected] = []] = (
    await query(made.views, `SELECT ${column} FROM publications WHERE account = 'uk' LIMIT 1`)
  ).rows;
  expect(rows).toEqual([[expected, "a", "added", null]]);
});

it.each(["SELECT published_at FROM events", "SELECT other FROM event_changes"])(
  "%s has no such join",
  async (sql) => {
    expect((await ask(await withFields(), sql)).stderr).not.toContain("is a column of");
  },
);

test.each(["event_day > now()", "published_at > current_timestamp", "published_at - INTERVAL 7 DAY"])(
  "an instant that is text is answered with the expression that makes one: %s",
  async (condition) => {
    const sql = `SELECT ${condition} FROM (SELECT event_date AS event_day, published_at FROM events, publications)`;

    expect((await ask(await withFields(), sql)).stderr).toContain("from_iso8601_timestamp(published_at)");
  },
);

test("events without a row say why: nothing is published, or a first snapshot is held", async () => {
  const made = await warehouse();
  await made.put("run-log/us/2026-11-21T06-00-00.000Z-1.ndjson", [{ run_id: ONE, attempt: 1 }]);
  await made.snapshot("uk", ONE, [eventRow("a")]);
  await made.put(layout("uk").held(ONE), [
    { reason: "MISSING", explanation: "Too many are missing.", held_at: "2026-11-21T06:00:00Z" },
  ]);
  await made.put("run-log/uk/2026-11-21T06-00-00.000Z-1.ndjson", [{ run_id: ONE, attempt: 1 }]);

  const { exitCode, stdout, stderr } = await ask(made, "SELECT count(*) AS n FROM events_typed");
  const other = await ask(made, "SELECT count(*) FROM sync_runs");

  expect([exitCode, stdout]).toEqual([0, "n\n─\n0\n(1 row)\n"]);
  const at = `npm run sync -- status --account`;
  expect(stderr).toMatch(
    new RegExp(
      `^The account uk has no events: nothing is published yet; a first snapshot is held: Too many are missing. See ${at} uk --warehouse .*\nThe account us has no events: nothing is published yet. See ${at} us`,
    ),
  );
  expect(other.stderr).toBe("");
});

test("a published snapshot without events says so, and one with events nothing", async () => {
  const made = await warehouse();
  await made.publish("uk", { snapshot_id: ONE, events: 0, added: 0 });

  expect((await ask(made, "FROM events")).stderr).toBe(
    "The account uk has no events: what is published has none.\n",
  );
  expect((await ask(await withFields(), "SELECT 1 FROM events LIMIT 0")).stderr).not.toContain("no events");
});
