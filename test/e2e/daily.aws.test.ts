// Some days of the deployed function: the bundle behind a Lambda Runtime API, S3, Glue and Secrets Manager on an
// emulator, and the simulated service.

import { afterAll, beforeAll, expect, test } from "vitest";
import { formatRunId, layout, type TableName } from "../../lambdas/job/storage/layout.ts";
import { onEmulator } from "../aws/emulator.ts";
import { TrinoSQL } from "../lib/trino-grammar.ts";
import { makeEvent } from "../simulator/simulated-event.ts";
import { DAY_MS, DeployedAccounts } from "./deployed-accounts.ts";
import { jsonLines, metricLines } from "./payload.ts";
import { viewRows, viewSql } from "./view-rows.ts";

/** Each test works on an account of its own. */
const ACCOUNTS = { check: {}, dry: {}, daily: {}, second: {}, held: {}, state: {}, told: {}, viewed: {} };
type Account = keyof typeof ACCOUNTS;

const first = Date.now() - 3 * DAY_MS;
const runIds = [0, 1, 2].map((day) => formatRunId(first + day * DAY_MS));

onEmulator("the deployed function, day by day", () => {
  let deployed: DeployedAccounts<keyof typeof ACCOUNTS>;

  beforeAll(async () => {
    deployed = await DeployedAccounts.deploy(ACCOUNTS);
  }, 120_000);

  afterAll(() => deployed?.[Symbol.asyncDispose]());

  test("checks everything before the first run", async () => {
    const account = "check";
    const answer = await deployed.invoke({ action: "check", account });

    expect(answer).toMatchObject({ account, ok: true });
    expect(answer["checks"]).toHaveLength(7);
  });

  test("tries everything and writes nothing in a dry run", async () => {
    const account = "dry";
    const answer = await deployed.invoke({ account, dryRun: true, limit: 7 });

    expect(answer).toMatchObject({ outcome: "DRY_RUN", counts: { listed: 100, events: 7 } });
    expect(await Array.fromAsync(deployed.store.list(`snapshots/${account}/`))).toEqual([]);
  });

  test("publishes a first snapshot", async () => {
    const account = "daily";
    const answer = await deployed.run(account, first);

    expect(answer).toMatchObject({
      outcome: "PUBLISHED",
      account,
      run_id: runIds[0],
      publication: "0000000001",
      counts: { listed: 100, events: 100, added: 100, changed: 0, removed: 0 },
      sql: [
        `SELECT * FROM "${deployed.deployment.database}"."events" WHERE account = 'daily' LIMIT 10`,
        `SELECT * FROM "${deployed.deployment.database}"."event_changes" WHERE account = 'daily' AND publication = '0000000001'`,
      ],
    });
    expect(await deployed.events(account)).toEqual(deployed.truth(account));
    const [pointer] = await deployed.reader.partitions("events", account);
    expect(pointer?.StorageDescriptor?.Location).toBe(
      `s3://${deployed.deployment.bucket}/snapshots/daily/${runIds[0]}/`,
    );
    expect(pointer?.Parameters).toMatchObject({ publication: "0000000001" });
    const [row] = await deployed.rows("events", account);
    const everyRow = ["uuid", "event_date", "scope", "event", "listing"];
    expect(Object.keys(row ?? {})).toEqual([...everyRow, "name", "amount"]);
    expect(row?.["name"]).toBe(JSON.parse(String(row?.["event"])).name);
    expect(await deployed.rows("event_snapshots", account, runIds[0])).toEqual(
      await deployed.rows("events", account),
    );
    expect(await deployed.rows("event_changes", account, "0000000001")).toHaveLength(100);
    expect(await deployed.rows("publications", account)).toMatchObject([
      { publication: "0000000001", action: "run", run_id: runIds[0], events: 100 },
    ]);
    const log = await deployed.rows("sync_runs", account);
    expect(log.find(({ run_id }) => run_id === runIds[0])).toMatchObject({
      attempt: 1,
      trigger: "schedule",
      outcome: "PUBLISHED",
      logins: 1,
      requests: 102,
    });
    const manifest = await deployed.store.read(layout(account).manifest(runIds[0] ?? ""));
    expect(JSON.parse(Buffer.from(manifest?.bytes ?? []).toString())).toMatchObject({
      snapshot_id: runIds[0],
      counts: { listed: 100, events: 100 },
    });
  });

  test("publishes the changes on the second day", async () => {
    const account = "second";
    await deployed.run(account, first);

    const { answer, gone, changed } = await secondDay(account);

    expect(answer).toMatchObject({
      outcome: "PUBLISHED",
      publication: "0000000002",
      summary: "100 events; 1 added, 1 changed, 1 removed",
    });
    expect(await deployed.events(account)).toEqual(deployed.truth(account));
    const changes = await deployed.rows("event_changes", account, "0000000002");
    expect(new Map(changes.map(({ change, uuid }) => [change, uuid]))).toEqual(
      new Map([
        ["added", makeEvent(1_000).uuid],
        ["changed", changed.uuid],
        ["removed", gone.uuid],
      ]),
    );
    expect(await deployed.rows("event_snapshots", account, runIds[0])).toHaveLength(100);
  });

  test("shows typed values and versions in the views, whose SQL is Trino's", async () => {
    const account = "viewed";
    await deployed.run(account, first);
    const { gone, changed } = await secondDay(account);
    const { clients, database } = deployed.deployment;
    const [typedSql, historySql] = await Promise.all([
      viewSql(clients.glue, database, "events_typed"),
      viewSql(clients.glue, database, "event_history"),
    ]);

    const rowsOf = (table: TableName) => deployed.tableRows(table, account);
    const typed = await viewRows("events_typed", typedSql, rowsOf);
    const history = await viewRows("event_history", historySql, rowsOf);

    for (const sql of [typedSql, historySql]) expect(new TrinoSQL().validate(sql)).toEqual([]);
    const events = new Map((await rowsOf("events")).map((row) => [row["uuid"], row]));
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
    const versionsOf = (uuid: string) =>
      history
        .filter(([, each]) => each === uuid)
        .map(([, , , , isDeleted, publication]) => `${publication} ${isDeleted}`);
    expect(history).toHaveLength(103);
    expect(versionsOf(gone.uuid).toSorted()).toEqual(["0000000001 false", "0000000002 true"]);
    expect(versionsOf(changed.uuid).toSorted()).toEqual(["0000000001 false", "0000000002 false"]);
    expect(versionsOf(makeEvent(1_000).uuid)).toEqual(["0000000002 false"]);
  });

  test("holds a snapshot that has lost too much, until a person accepts it", async () => {
    const account = "held";
    await deployed.run(account, first);
    await secondDay(account);
    const before = await deployed.events(account);

    const { held, compared, seenWhileHeld, accepted } = await thirdDay(account);

    const { added, changed, removed } = compared;
    expect(held).toMatchObject({
      outcome: "HELD",
      reason: "DROPPED",
      snapshot_id: runIds[2],
      preview: { base_snapshot_id: runIds[1], added, changed, removed },
    });
    expect(compared).toMatchObject({ a: runIds[2], b: runIds[1], added: 0, removed: 30 });
    expect(accepted).toMatchObject({ counts: { added, changed, removed } });
    expect(seenWhileHeld).toEqual(before);
    expect(accepted).toMatchObject({ outcome: "PUBLISHED", publication: "0000000003" });
    expect(await deployed.events(account)).toEqual(deployed.truth(account));
  });

  test("returns the status, the fields of events, and how many of a sample are still the same", async () => {
    const account = "state";
    await threeDays(account);

    const status = await deployed.invoke({ action: "status", account });
    const found = await deployed.invoke({ action: "discover", account, limit: 5 });
    const verified = await deployed.invoke({ action: "verify", account, sample: 5 });

    expect(status).toMatchObject({ account, lease: null, held: [], head: { publication: "0000000003" } });
    expect(found).toMatchObject({ account, listed: 70, events: 5 });
    expect(verified).toMatchObject({ account, same: 5, changed: 0, gone: 0 });
  });

  test("sends events and metrics, and logs each outcome", async () => {
    const account = "told";
    await threeDays(account);

    expect(
      deployed
        .busEvents(account)
        .map(({ DetailType, Source, EventBusName, detail }) => [
          Source,
          EventBusName,
          DetailType,
          detail["publication"] ?? detail["reason"] ?? detail["run_id"],
        ]),
    ).toEqual([
      ["brand-events-sync", "default", "Run Started", runIds[0]],
      ["brand-events-sync", "default", "Snapshot Published", "0000000001"],
      ["brand-events-sync", "default", "Run Started", runIds[1]],
      ["brand-events-sync", "default", "Snapshot Published", "0000000002"],
      ["brand-events-sync", "default", "Run Started", runIds[2]],
      ["brand-events-sync", "default", "Snapshot Held", "DROPPED"],
      ["brand-events-sync", "default", "Snapshot Published", "0000000003"],
    ]);
    const metrics = metricLines(deployed.deployment.function.lines, account);
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
    const ended = jsonLines(deployed.deployment.function.lines).filter(
      (line) => line["account"] === account && line["message"] === "ended as HELD",
    );
    expect(ended).toMatchObject([
      { account, run_id: runIds[2], function_request_id: expect.any(String), level: "INFO" },
    ]);
  });

  /** One event archived, one changed, one added. */
  async function secondDay(account: Account) {
    const simulator = deployed.service(account);
    const [gone, changed] = simulator.listed();
    if (!gone || !changed) throw new Error("too few events");
    simulator.archive(gone.uuid);
    simulator.change(changed.uuid, { source: `{"uuid":"${changed.uuid}","name":"new"}` });
    simulator.add(makeEvent(1_000));
    return { gone, changed, answer: await deployed.run(account, first + DAY_MS) };
  }

  /** 30 of 100 events archived: held, then accepted. */
  async function thirdDay(account: Account) {
    const simulator = deployed.service(account);
    for (const { uuid } of simulator.listed().slice(0, 30)) simulator.archive(uuid);
    const held = await deployed.run(account, first + 2 * DAY_MS);
    const compared = await deployed.invoke(held["diff_event"]);
    const seenWhileHeld = await deployed.events(account);
    return { held, compared, seenWhileHeld, accepted: await deployed.invoke(held["accept_event"]) };
  }

  async function threeDays(account: Account): Promise<void> {
    await deployed.run(account, first);
    await secondDay(account);
    await thirdDay(account);
  }
});
