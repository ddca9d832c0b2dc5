// The bundle that is deployed, behind a Lambda Runtime API, with S3, Glue and Secrets Manager on an emulator and the
// simulated service. Its permissions are those of the template.

import { randomBytes } from "node:crypto";
import { ListMultipartUploadsCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemRandom } from "../../lambdas/job/runtime/system-random.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { formatRunId } from "../../lambdas/job/storage/run-id.ts";
import { S3Store } from "../../lambdas/job/storage/s3/s3-store.ts";
import type { TableName } from "../../lambdas/job/storage/tables.ts";
import { onEmulator } from "../aws/emulator.ts";
import { GlueReader, type GlueRow } from "../aws/glue-reader.ts";
import { makeEvent, makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { ACCOUNT_ID } from "./aws-call.ts";
import { type Deployment, deploy } from "./deployment.ts";
import { jsonLines, metricLines, payload } from "./payload.ts";
import { isAllowed, unused } from "./policy.ts";

const ACCOUNTS = ["daily", "refused", "slow", "twice", "glue", "large", "old"] as const;
type Account = (typeof ACCOUNTS)[number];

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Lambda's own two retries, without their delays. */
const AT_ONCE = { retryDelaysMs: [1, 1] };

onEmulator("the deployed function", () => {
  const simulators = new Map<Account, Simulator>();
  let deployment: Deployment;
  let reader: GlueReader;
  let store: S3Store;

  const service = (account: Account): Simulator => {
    const simulator = simulators.get(account);
    if (simulator === undefined) throw new Error(`${account} has no simulator`);
    return simulator;
  };
  const rows = async (
    table: TableName,
    account: Account,
    value: string = account,
  ): Promise<readonly GlueRow[]> => (await reader.rows(table, account)).get(value) ?? [];
  /** The table `events`: uuid and detail text, in order. */
  const events = async (account: Account): Promise<ReadonlyMap<unknown, unknown>> =>
    new Map((await rows("events", account)).map(({ uuid, event }) => [uuid, event]));
  /** The publication in the parameters of the partition of `events`. */
  const shown = async (account: Account): Promise<string | undefined> =>
    (await reader.partitions("events", account))[0]?.Parameters?.["publication"];
  const truth = (account: Account): ReadonlyMap<unknown, unknown> => {
    const listed = service(account)
      .listed()
      .toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1));
    return new Map(listed.map(({ uuid }) => [uuid, service(account).detailSource(uuid)]));
  };
  const busEvents = (account: Account) =>
    deployment.front.events.filter(({ detail }) => detail["account"] === account);
  const run = async (account: Account, scheduledAtMs: number) =>
    payload(
      await deployment.function.invoke({ account, scheduledAt: new Date(scheduledAtMs).toISOString() }),
    );

  beforeAll(async () => {
    for (const account of ACCOUNTS) simulators.set(account, await Simulator.start());
    const settings = ACCOUNTS.map((account) => [
      account,
      {
        schedule: "cron(0 6 * * ? *)",
        baseUrl: service(account).url,
        requestsPerMinute: "unlimited",
        bytesPerMinute: "unlimited",
        ...(account === "old" ? { retainDays: 1 } : {}),
      },
    ]);
    deployment = await deploy({
      accounts: Object.fromEntries(settings),
      lifted: [{ name: "name", pointer: "/name" }],
    });
    for (const account of ACCOUNTS) {
      await deployment.fillSecret(account, { method: "session", ...service(account).credentials });
    }
    reader = new GlueReader(deployment.clients, deployment.database);
    store = new S3Store({
      client: deployment.clients.s3,
      bucket: deployment.bucket,
      prefix: "",
      random: systemRandom,
    });
  }, 120_000);

  afterAll(async () => {
    await deployment?.[Symbol.asyncDispose]();
    for (const simulator of simulators.values()) await simulator.stop();
  });

  describe("day by day", () => {
    const account = "daily";
    const first = Date.now() - 3 * DAY_MS;
    const runIds = [0, 1, 2].map((day) => formatRunId(first + day * DAY_MS));

    test("checks everything before the first run", async () => {
      const answer = payload(await deployment.function.invoke({ action: "check", account }));

      expect(answer).toMatchObject({ account, ok: true });
      expect(answer["checks"]).toHaveLength(7);
    });

    test("tries everything and writes nothing in a dry run", async () => {
      const answer = payload(await deployment.function.invoke({ account, dryRun: true, limit: 7 }));

      expect(answer).toMatchObject({ outcome: "DRY_RUN", counts: { listed: 100, events: 7 } });
      expect(await Array.fromAsync(store.list("snapshots/"))).toEqual([]);
    });

    test("publishes a first snapshot", async () => {
      const answer = await run(account, first);

      expect(answer).toMatchObject({
        outcome: "PUBLISHED",
        account,
        run_id: runIds[0],
        publication: "0000000001",
        counts: { listed: 100, events: 100, added: 100, changed: 0, removed: 0 },
        sql: [
          `SELECT * FROM "${deployment.database}"."events" WHERE account = 'daily' LIMIT 10`,
          `SELECT * FROM "${deployment.database}"."event_changes" WHERE account = 'daily' AND publication = '0000000001'`,
        ],
      });
      expect(await events(account)).toEqual(truth(account));
      const [pointer] = await reader.partitions("events", account);
      expect(pointer?.StorageDescriptor?.Location).toBe(
        `s3://${deployment.bucket}/snapshots/daily/${runIds[0]}/`,
      );
      expect(pointer?.Parameters).toMatchObject({ publication: "0000000001" });
      const [row] = await rows("events", account);
      expect(Object.keys(row ?? {})).toEqual(["uuid", "event_date", "scope", "event", "listing", "name"]);
      expect(row?.["name"]).toBe(JSON.parse(String(row?.["event"])).name);
      expect(await rows("event_snapshots", account, runIds[0])).toEqual(await rows("events", account));
      expect(await rows("event_changes", account, "0000000001")).toHaveLength(100);
      expect(await rows("publications", account)).toMatchObject([
        { publication: "0000000001", action: "run", run_id: runIds[0], events: 100 },
      ]);
      const log = await rows("sync_runs", account);
      expect(log.find(({ run_id }) => run_id === runIds[0])).toMatchObject({
        attempt: 1,
        trigger: "schedule",
        outcome: "PUBLISHED",
        logins: 1,
        requests: 102,
      });
      const manifest = await store.read(layout.manifest(account, runIds[0] ?? ""));
      expect(JSON.parse(Buffer.from(manifest?.bytes ?? []).toString())).toMatchObject({
        snapshot_id: runIds[0],
        counts: { listed: 100, events: 100 },
      });
    });

    test("publishes the changes on the second day", async () => {
      const simulator = service(account);
      const [gone, changed] = simulator.listed();
      if (!gone || !changed) throw new Error("too few events");
      simulator.archive(gone.uuid);
      simulator.change(changed.uuid, { source: `{"uuid":"${changed.uuid}","name":"new"}` });
      simulator.add(makeEvent(1_000));

      const answer = await run(account, first + DAY_MS);

      expect(answer).toMatchObject({
        outcome: "PUBLISHED",
        publication: "0000000002",
        summary: "100 events; 1 added, 1 changed, 1 removed",
      });
      expect(await events(account)).toEqual(truth(account));
      const changes = await rows("event_changes", account, "0000000002");
      expect(new Map(changes.map(({ change, uuid }) => [change, uuid]))).toEqual(
        new Map([
          ["added", makeEvent(1_000).uuid],
          ["changed", changed.uuid],
          ["removed", gone.uuid],
        ]),
      );
      expect(await rows("event_snapshots", account, runIds[0])).toHaveLength(100);
    });

    test("holds a snapshot that has lost too much, until a person accepts it", async () => {
      const simulator = service(account);
      const before = await events(account);
      for (const { uuid } of simulator.listed().slice(0, 30)) simulator.archive(uuid);

      const held = await run(account, first + 2 * DAY_MS);
      const seenWhileHeld = await events(account);
      const accepted = payload(await deployment.function.invoke(held["accept_event"]));

      expect(held).toMatchObject({ outcome: "HELD", reason: "DROPPED", snapshot_id: runIds[2] });
      expect(seenWhileHeld).toEqual(before);
      expect(accepted).toMatchObject({ outcome: "PUBLISHED", publication: "0000000003" });
      expect(await events(account)).toEqual(truth(account));
    });

    test("returns the status, and the fields of events", async () => {
      const status = payload(await deployment.function.invoke({ action: "status", account }));
      const found = payload(await deployment.function.invoke({ action: "discover", account, limit: 5 }));

      expect(status).toMatchObject({ account, lease: null, held: [], head: { publication: "0000000003" } });
      expect(found).toMatchObject({ account, listed: 70, events: 5 });
    });

    test("sends events and metrics, and logs each outcome", () => {
      expect(
        busEvents(account).map(({ DetailType, Source, EventBusName, detail }) => [
          Source,
          EventBusName,
          DetailType,
          detail["publication"] ?? detail["reason"],
        ]),
      ).toEqual([
        ["brand-events-sync", "default", "Snapshot Published", "0000000001"],
        ["brand-events-sync", "default", "Snapshot Published", "0000000002"],
        ["brand-events-sync", "default", "Snapshot Held", "DROPPED"],
        ["brand-events-sync", "default", "Snapshot Published", "0000000003"],
      ]);
      const metrics = metricLines(deployment.function.lines, account);
      for (const { namespace, dimensions } of metrics) {
        expect(namespace).toBe("BrandEventsSync");
        expect(dimensions).toEqual([["account"]]);
      }
      const outcomes = metrics.filter(({ values }) => "Published" in values).map(({ values }) => values);
      expect(outcomes).toMatchObject([
        { Published: 1, Held: 0, Failed: 0, Events: 100, Added: 100, LeftOut: 0, Requests: 102 },
        { Published: 1, Added: 1, Changed: 1, Removed: 1, Retries: 0, Throttled: 0, LoginRefused: 0 },
        { Published: 0, Held: 1 },
        { Published: 1, Held: 0, Events: 70 },
      ]);
      const ended = jsonLines(deployment.function.lines).filter(({ message }) => message === "ended as HELD");
      expect(ended).toMatchObject([
        { account, run_id: runIds[2], function_request_id: expect.any(String), level: "INFO" },
      ]);
    });
  });

  test("a refused login is sent once, and raises one alarm: Lambda's retry is skipped", async () => {
    const account = "refused";
    const { email } = service(account).credentials;
    await deployment.fillSecret(account, { method: "session", email, password: "wrong-password" });

    const results = await deployment.function.deliver(
      { account, scheduledAt: "2026-01-01T06:00:00Z" },
      AT_ONCE,
    );

    expect(results.map((result) => (result.ok ? "ok" : result.errorType))).toEqual(["LOGIN_REFUSED", "ok"]);
    const [failed] = results;
    const message = failed?.ok === false ? failed.errorMessage : "";
    expect(message).toContain("wrong password or unknown e-mail address");
    expect(message).toContain("(account refused, run 2026-01-01T06-00-00.000Z)");
    expect(service(account).counts).toMatchObject({ requests: 1, logins: 1 });
    expect(await rows("sync_runs", account)).toHaveLength(1);
    expect(busEvents(account)[0]).toMatchObject({
      DetailType: "Run Failed",
      detail: { error_code: "LOGIN_REFUSED", finished: true },
    });
    const metrics = metricLines(deployment.function.lines, account);
    expect(metrics.map(({ values }) => [values["LoginRefused"], values["Failed"]])).toEqual([[1, undefined]]);
  });

  test("a login that was refused is not sent by the next start of the schedule", async () => {
    const account = "refused";

    const next = await run(account, Date.UTC(2026, 0, 1, 7));

    expect(next).toMatchObject({ outcome: "SKIPPED", reason: "LOGIN_REFUSED" });
    expect(service(account).counts).toMatchObject({ requests: 1, logins: 1 });
    expect((await rows("sync_runs", account)).map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ["FAILED", null],
      ["SKIPPED", "LOGIN_REFUSED"],
    ]);
    const metrics = metricLines(deployment.function.lines, account);
    expect(metrics.map(({ values }) => values["LoginRefused"])).toEqual([1, undefined]);
  });

  test("a changed secret needs no new deployment", async () => {
    const account = "refused";
    await deployment.fillSecret(account, { method: "session", ...service(account).credentials });

    expect(await run(account, Date.UTC(2026, 0, 2, 6))).toMatchObject({ outcome: "PUBLISHED" });
  });

  test("the time limit stops a run at a shard's edge; the retry finishes it and fetches nothing twice", async () => {
    const account = "slow";
    const simulator = service(account);
    simulator.setEvents(makeEvents(1_200));
    const startedAtMs = Date.now();
    let details = 0;
    simulator.configure({
      // The first shard takes so long that less than the reserve is left when it ends.
      onRequest: async ({ endpoint }) => {
        if (endpoint === "detail" && ++details === 500) await sleepUntil(startedAtMs + 5_500);
      },
    });

    const results = await deployment.function.deliver(
      { account, scheduledAt: "2026-01-01T06:00:00Z" },
      { ...AT_ONCE, timeoutsMs: [35_000, 900_000] },
    );

    const [stopped, finished] = results;
    expect(stopped).toMatchObject({
      ok: false,
      errorType: "INTERRUPTED",
      errorMessage: expect.stringContaining("1000 of 1200 events are staged"),
    });
    expect(payload(finished ?? { ok: true, payload: {} })).toMatchObject({ outcome: "PUBLISHED" });
    expect(simulator.counts).toMatchObject({ details: 1_200, list: 1, logins: 2 });
    expect(Math.max(...simulator.counts.detailsByUuid.values())).toBe(1);
    expect(await events(account)).toEqual(truth(account));
    const outcomes = metricLines(deployment.function.lines, account).map(({ values }) => values);
    expect(outcomes).toMatchObject([{ Published: 0 }, { Published: 1 }]);
    expect(outcomes[0]).not.toHaveProperty("Failed");
  });

  describe("a second start", () => {
    const account = "twice";
    const scheduledAt = "2026-01-01T06:00:00Z";

    test("of the same trigger waits for the first and makes no second snapshot", async () => {
      const simulator = service(account);
      const underWay = Promise.withResolvers<void>();
      simulator.configure({
        onRequest: async ({ endpoint }) => {
          if (endpoint !== "list") return;
          underWay.resolve();
          await sleepUntil(Date.now() + 1_000);
        },
      });

      const first = deployment.function.invoke({ account, scheduledAt });
      await underWay.promise;
      const second = deployment.function.invoke({ account, scheduledAt });

      expect(payload(await first)).toMatchObject({ outcome: "PUBLISHED", publication: "0000000001" });
      expect(payload(await second)).toMatchObject({ outcome: "PUBLISHED", publication: "0000000001" });
      expect(simulator.counts).toMatchObject({ logins: 1, list: 1, details: 100 });
    });

    test("of a finished trigger sends no request and returns the same response", async () => {
      const simulator = service(account);
      simulator.reset();

      const counted = metricLines(deployment.function.lines, account).length;
      const again = payload(await deployment.function.invoke({ account, scheduledAt }));

      expect(again).toMatchObject({ outcome: "PUBLISHED", publication: "0000000001" });
      expect(again["note"]).toBe("This run was finished before; this start did nothing.");
      expect(simulator.counts.requests).toBe(0);
      expect(metricLines(deployment.function.lines, account)).toHaveLength(counted);
      expect(busEvents(account).at(-1)).toMatchObject({ detail: { publication: "0000000001" } });
    });

    test("beside another run is skipped", async () => {
      const simulator = service(account);
      const underWay = Promise.withResolvers<void>();
      const skipped = Promise.withResolvers<void>();
      simulator.configure({
        onRequest: async ({ endpoint }) => {
          if (endpoint !== "list") return;
          underWay.resolve();
          await skipped.promise;
        },
      });

      const first = deployment.function.invoke({ account, scheduledAt: "2026-01-02T06:00:00Z" });
      await underWay.promise;
      const second = payload(await deployment.function.invoke({ account }));
      skipped.resolve();

      expect(second).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
      expect(payload(await first)).toMatchObject({ outcome: "PUBLISHED", publication: "0000000002" });
    });
  });

  test("a catalog that fails after the publication is repaired by the next start before it logs in", async () => {
    const account = "glue";
    const { front } = deployment;
    const simulator = service(account);
    const pointerAtLogin: unknown[] = [];
    front.refuse(
      ({ action, resources }) =>
        /^glue:.*(Create|Update)Partition$/.test(action) && resources.some((arn) => arn.endsWith("/events")),
    );

    const failed = await deployment.function.invoke({ account, scheduledAt: "2026-01-01T06:00:00Z" });
    front.refuse(() => false);
    const seen = await shown(account);
    simulator.configure({
      onRequest: async ({ endpoint }) => {
        if (endpoint !== "login") return;
        pointerAtLogin.push(await shown(account));
      },
    });
    const next = await run(account, Date.UTC(2026, 0, 2, 6));

    expect(failed).toMatchObject({ ok: false, errorType: "CATALOG_FAILED" });
    expect(seen).toBeUndefined();
    expect(pointerAtLogin).toEqual(["0000000001"]);
    expect(next).toMatchObject({ outcome: "PUBLISHED", publication: "0000000002" });
  });

  test("a write that is refused at its end leaves nothing behind, and a retry writes it again", async () => {
    const account = "large";
    const { front } = deployment;
    const blob = (): string => `"blob":"${randomBytes(750_000).toString("base64")}"`;
    service(account).setEvents(Array.from({ length: 12 }, (_, n) => makeEvent(n + 1, { extra: blob() })));
    const refused = new Set<string>();
    front.refuse(({ resources: [resource = ""] }, { method, url }) => {
      const [, prefix = ""] = /^arn:aws:s3:::[^/]+\/([^/]+)/.exec(resource) ?? [];
      const isCompletion = method === "POST" && url.includes("uploadId=");
      const isCommit = method === "PUT" && prefix === "publications";
      if (!(isCompletion || isCommit) || refused.has(prefix)) return false;
      refused.add(prefix);
      return true;
    });

    const results = await deployment.function.deliver(
      { account, scheduledAt: "2026-01-01T06:00:00Z" },
      { retryDelaysMs: [1, 1, 1, 1] },
    );
    front.refuse(() => false);

    expect(results.map((result) => (result.ok ? "ok" : result.errorType))).toEqual([
      "STORE_FAILED",
      "STORE_FAILED",
      "STORE_FAILED",
      "STORE_FAILED",
      "ok",
    ]);
    expect([...refused]).toEqual(["runs", "snapshots", "changes", "publications"]);
    expect(await events(account)).toEqual(truth(account));
    const unfinished = await deployment.clients.s3.send(
      new ListMultipartUploadsCommand({ Bucket: deployment.bucket }),
    );
    expect(unfinished.Uploads ?? []).toEqual([]);
  });

  test("an old snapshot is removed from the tables, and a day later its files are deleted", async () => {
    const account = "old";
    const now = Date.now();
    const oldest = formatRunId(now - 10 * DAY_MS);
    const files = async (): Promise<readonly string[]> =>
      (await Array.fromAsync(store.list(layout.snapshot(account, oldest)))).map(({ key }) => key);
    await run(account, now - 10 * DAY_MS);
    await run(account, now - 5 * DAY_MS);
    await backdate(layout.publication(account, "0000000002"), "published_at", now - 5 * DAY_MS);

    const before = await rows("event_snapshots", account, oldest);
    await run(account, now - 3 * MINUTE_MS);
    const retired = await rows("event_snapshots", account, oldest);
    const filesOfRetired = await files();
    await backdate(layout.retired(account, oldest), "retired_at", now - 2 * DAY_MS);
    await run(account, now - 2 * MINUTE_MS);

    expect(before).toHaveLength(100);
    expect(retired).toEqual([]);
    expect(filesOfRetired).toContain(layout.part(account, oldest, 0));
    expect(await files()).toEqual([layout.retired(account, oldest)]);
    expect(await events(account)).toEqual(truth(account));
  });

  test("no secret and no e-mail address is in any file, log line or response", () => {
    const { email, password } = service("daily").credentials;
    const said = [...deployment.function.lines, JSON.stringify(deployment.front.events)].join("\n");

    for (const secret of [email, password, "wrong-password"]) expect(said).not.toContain(secret);
  });

  test("the role's policies allow every call to AWS, and no permission is unused", () => {
    const { front, statements } = deployment;
    const refused = front.calls.filter((call) => !isAllowed(statements, call));
    const ours = statements.filter(({ Action }) => !Action.every((action) => /^(logs|sqs):/.test(action)));

    expect(refused).toEqual([]);
    expect(unused(ours, front.calls)).toEqual([]);
  });

  test("every call to S3 names the expected owner of the bucket", () => {
    const calls = deployment.front.calls.filter(({ action }) => action.startsWith("s3:"));

    expect(new Set(calls.map(({ expectedOwner }) => expectedOwner))).toEqual(new Set([ACCOUNT_ID]));
  });

  /** As if that much time had passed. */
  async function backdate(key: string, field: string, toMs: number): Promise<void> {
    const stored = await store.read(key);
    if (stored === undefined) throw new Error(`${key} is not there`);
    const value = {
      ...JSON.parse(Buffer.from(stored.bytes).toString()),
      [field]: new Date(toMs).toISOString(),
    };
    await store.replace(key, Buffer.from(`${JSON.stringify(value)}\n`), stored.version);
  }
});

async function sleepUntil(atMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - Date.now())));
}
