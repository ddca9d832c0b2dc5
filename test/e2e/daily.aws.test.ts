// Three days of the deployed function: the bundle behind a Lambda Runtime API, S3, Glue and Secrets Manager on an
// emulator, and the simulated service.

import { GetTableCommand, type GlueClient } from "@aws-sdk/client-glue";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { VIEWS, type ViewName } from "../../lambdas/job/catalog/catalog.ts";
import { formatRunId, type TableName } from "../../lambdas/job/storage/layout.ts";
import { onEmulator } from "../aws/emulator.ts";
import { TRINO_WORDS } from "../job/catalog/views/text-values.ts";
import { makeEvent } from "../simulator/simulated-event.ts";
import type { Simulator } from "../simulator/simulator.ts";
import { DAY_MS, DeployedAccounts } from "./deployed-accounts.ts";
import { jsonLines, metricLines } from "./lambda-function.ts";

const first = Date.now() - 3 * DAY_MS;
const runIds = [0, 1, 2].map((day) => formatRunId(first + day * DAY_MS));
const account = "uk";

onEmulator("the deployed function, day by day", () => {
  let deployed: DeployedAccounts<typeof account>;
  let service: Simulator;

  beforeAll(async () => {
    deployed = await DeployedAccounts.deploy({ uk: {} });
    service = deployed.service(account);
  }, 120_000);

  afterAll(() => deployed?.[Symbol.asyncDispose]());

  test("publishes a first snapshot, in every table", async () => {
    const answer = await deployed.run(account, first);

    const { bucket, database } = deployed.deployment;
    expect(answer).toMatchObject({
      outcome: "PUBLISHED",
      account,
      run_id: runIds[0],
      publication: "0000000001",
      counts: { listed: 100, events: 100, added: 100, changed: 0, removed: 0 },
      sql: [
        `SELECT * FROM "${database}"."events" WHERE account = 'uk' LIMIT 10`,
        `SELECT * FROM "${database}"."event_changes" WHERE account = 'uk' AND publication = '0000000001'`,
      ],
    });
    expect(await deployed.events(account)).toEqual(deployed.truth(account));
    const [pointer] = await deployed.reader.partitions("events", account);
    expect(pointer?.StorageDescriptor?.Location).toBe(`s3://${bucket}/snapshots/uk/${runIds[0]}/`);
    expect(pointer?.Parameters).toMatchObject({ publication: "0000000001" });
    const rows = await deployed.rows("events", account);
    const everyRow = ["uuid", "event_date", "scope", "event", "listing"];
    expect(Object.keys(rows[0] ?? {})).toEqual([...everyRow, "name", "amount"]);
    expect(rows[0]?.["name"]).toBe(JSON.parse(String(rows[0]?.["event"])).name);
    expect(await deployed.rows("event_snapshots", account, runIds[0])).toEqual(rows);
    expect(await deployed.rows("event_changes", account, "0000000001")).toHaveLength(100);
    expect(await deployed.rows("publications", account)).toMatchObject([
      { publication: "0000000001", action: "run", run_id: runIds[0], events: 100 },
    ]);
    expect(await deployed.rows("sync_runs", account)).toMatchObject([
      {
        run_id: runIds[0],
        attempt: 1,
        trigger: "schedule",
        outcome: "PUBLISHED",
        logins: 1,
        requests: 102,
      },
    ]);
  });

  test("publishes the changes on the second day, and typed values and versions in the views", async () => {
    const [gone, changed] = service.listed().map(({ uuid }) => uuid);
    const added = makeEvent(1_000);
    service.archive(gone ?? "");
    service.change(changed ?? "", { source: `{"uuid":"${changed}","name":"new"}` });
    service.add(added);

    const answer = await deployed.run(account, first + DAY_MS);

    expect(answer).toMatchObject({
      outcome: "PUBLISHED",
      publication: "0000000002",
      summary: "100 events; 1 added, 1 changed, 1 removed",
    });
    expect(await deployed.events(account)).toEqual(deployed.truth(account));
    const changes = await deployed.rows("event_changes", account, "0000000002");
    expect(new Map(changes.map(({ change, uuid }) => [change, uuid]))).toEqual(
      new Map([
        ["added", added.uuid],
        ["changed", changed],
        ["removed", gone],
      ]),
    );
    expect(await deployed.rows("event_snapshots", account, runIds[0])).toHaveLength(100);
    const events = new Map((await deployed.rows("events", account)).map((row) => [row["uuid"], row]));
    const typed = await rowsOfView("events_typed");
    expect(typed).toHaveLength(100);
    for (const [, uuid, day, name, amount, misfits] of typed) {
      const event = events.get(uuid);
      expect([day, name, Number(amount)]).toEqual([
        event?.["event_date"],
        event?.["name"],
        Number(event?.["amount"]),
      ]);
      expect([String(amount), misfits]).toEqual([expect.stringMatching(/^(\d+\.\d\d|null)$/), "0"]);
    }
    const history = await rowsOfView("event_history");
    const versionsOf = (uuid: string | undefined) =>
      history
        .filter(([, each]) => each === uuid)
        .map(([, , , , isDeleted, publication]) => `${publication} ${isDeleted}`)
        .toSorted();
    expect(history).toHaveLength(103);
    expect(versionsOf(gone)).toEqual(["0000000001 false", "0000000002 true"]);
    expect(versionsOf(changed)).toEqual(["0000000001 false", "0000000002 false"]);
    expect(versionsOf(added.uuid)).toEqual(["0000000002 false"]);
  });

  test("holds a snapshot that has lost too much, until a person accepts it", async () => {
    const before = await deployed.events(account);
    for (const { uuid } of service.listed().slice(0, 30)) service.archive(uuid);

    const held = await deployed.run(account, first + 2 * DAY_MS);
    const compared = await deployed.invoke(held["diff_event"]);
    const seenWhileHeld = await deployed.events(account);
    const accepted = await deployed.invoke(held["accept_event"]);

    const { added, changed, removed } = compared;
    expect(held).toMatchObject({
      outcome: "HELD",
      reason: "DROPPED",
      snapshot_id: runIds[2],
      preview: { base_snapshot_id: runIds[1], added, changed, removed },
    });
    expect(compared).toMatchObject({ a: runIds[2], b: runIds[1], added: 0, removed: 30 });
    expect(seenWhileHeld).toEqual(before);
    expect(accepted).toMatchObject({
      outcome: "PUBLISHED",
      publication: "0000000003",
      counts: { added, changed, removed },
    });
    expect(await deployed.events(account)).toEqual(deployed.truth(account));
  });

  test("has sent events and metrics, and logged each outcome", () => {
    const { lines } = deployed.deployment.function;

    expect(
      deployed
        .busEvents(account)
        .map(({ DetailType, Source, EventBusName, detail }) => [
          Source,
          EventBusName,
          DetailType,
          detail["publication"] ?? detail["reason"] ?? detail["run_id"],
        ]),
    ).toEqual(
      [
        ["Run Started", runIds[0]],
        ["Snapshot Published", "0000000001"],
        ["Run Started", runIds[1]],
        ["Snapshot Published", "0000000002"],
        ["Run Started", runIds[2]],
        ["Snapshot Held", "DROPPED"],
        ["Snapshot Published", "0000000003"],
      ].map((told) => ["brand-events-sync", "default", ...told]),
    );
    const metrics = metricLines(lines, account);
    for (const { namespace, dimensions } of metrics) {
      expect(namespace).toBe("BrandEventsSync");
      expect(dimensions).toEqual([["account"]]);
    }
    const outcomes = metrics.filter(({ values }) => "Held" in values).map(({ values }) => values);
    expect(outcomes).toMatchObject([
      { Published: 1, Held: 0, Failed: 0, Events: 100, Added: 100, LeftOut: 0 },
      { Published: 1, Added: 1, Changed: 1, Removed: 1, Throttled: 0, LoginRefused: 0 },
      { Held: 1 },
      { Published: 1, Held: 0, Events: 70 },
    ]);
    expect(jsonLines(lines).filter(({ message }) => message === "ended as HELD")).toMatchObject([
      { account, run_id: runIds[2], function_request_id: expect.any(String), level: "INFO" },
    ]);
  });

  async function rowsOfView(name: "events_typed" | "event_history") {
    const { clients, database } = deployed.deployment;
    const sql = await viewSql(clients.glue, database, name);
    return viewRows(name, sql, (table: TableName) => deployed.tableRows(table, account));
  }
});

const definition = z.object({ originalSql: z.string(), schema: z.string() });

/** The SQL of the view in the catalog. */
async function viewSql(glue: GlueClient, database: string, name: ViewName): Promise<string> {
  const { Table } = await glue.send(new GetTableCommand({ DatabaseName: database, Name: name }));
  const [, base64 = ""] = /^\/\* Presto View: (.+) \*\/$/.exec(Table?.ViewOriginalText ?? "") ?? [];
  const { originalSql, schema } = definition.parse(JSON.parse(Buffer.from(base64, "base64").toString()));
  if (schema !== database) throw new Error(`${name} reads the database ${schema}`);
  return originalSql;
}

/**
 * The rows of a view in Glue, as text or null, in the order of its columns: its definition as Athena would find it, run over the
 * rows that Athena would find. DuckDB runs it, with macros for the words of Trino that it lacks.
 */
async function viewRows(
  name: ViewName,
  sql: string,
  rowsOf: (table: TableName) => Promise<readonly object[]>,
): Promise<readonly (readonly unknown[])[]> {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  try {
    await connection.run(TRINO_WORDS);
    for (const table of VIEWS[name]) {
      const rows = await rowsOf(table);
      const columns = Object.keys(rows[0] ?? {}).map((column) => `"${column}": "VARCHAR"`);
      await connection.run(
        `CREATE TABLE ${table} AS SELECT unnest(from_json($1, '[{${columns.join(", ")}}]'), recursive := true)`,
        [JSON.stringify(rows)],
      );
    }
    return (
      await connection.runAndReadAll(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (${sql}) ORDER BY ALL`)
    ).getRowsJson();
  } finally {
    connection.closeSync();
  }
}
