// After whatever call of S3 or Glue a process crashes, Athena sees one whole snapshot, and the retry finishes the same run.

import { afterAll, expect, test } from "vitest";
import { GlueCatalog } from "../../../../../lambdas/job/catalog/glue/glue-catalog.ts";
import { systemClock, systemRandom } from "../../../../../lambdas/job/runtime/clock.ts";
import { readLog } from "../../../../../lambdas/job/storage/publication-log.ts";
import { S3Store } from "../../../../../lambdas/job/storage/s3/s3-store.ts";
import { accountStore } from "../../../../../lambdas/job/storage/store.ts";
import { type AwsWarehouse, awsWarehouse, crashingClients, PREFIX } from "../../../../aws/aws-warehouse.ts";
import { isEmulated, newAwsClients, onEmulator } from "../../../../aws/emulator.ts";
import { AwsRecorder } from "../../../../e2e/aws-recorder.ts";
import { callsBeyondTheRole } from "../../../../e2e/role-statements.ts";
import { realClock } from "../../../../simulator/clocks.ts";
import { makeEvent, makeEvents } from "../../../../simulator/simulated-event.ts";
import { Crashed, CrashPoint } from "../../crash.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

const EVENTS = 5;
const SCHEDULED = "2099-01-01T00-00-00.000Z";

interface World extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly warehouse: AwsWarehouse;
  /** The table `events`, as Athena reads it. */
  seen(): Promise<ReadonlyMap<string, string>>;
  /** The scheduled run, in a process that crashes there. */
  runUntil(point: CrashPoint): Promise<void>;
}

/** Notes every call to AWS, also those of processes that crash. */
const recorder = isEmulated ? await AwsRecorder.start() : undefined;
afterAll(async () => recorder?.[Symbol.asyncDispose]());

/** A first snapshot is published, then the service changes. */
async function secondSnapshotDue(): Promise<World> {
  const warehouse = await awsWarehouse([], newAwsClients(recorder?.url));
  const { store, catalog, database, bucket, location, reader } = warehouse;
  const sandbox = await Sandbox.start({ events: makeEvents(EVENTS) }, { rangeEvents: 3 }, realClock());
  await sandbox.run({}, { store, catalog });
  const [first, second] = sandbox.simulator.listed();
  if (!first || !second) throw new Error("too few events");
  sandbox.simulator.archive(first.uuid);
  sandbox.simulator.change(second.uuid, { source: `{"uuid":"${second.uuid}","date":"2026-01-01"}` });
  sandbox.simulator.add(makeEvent(100));
  return {
    sandbox,
    warehouse,
    seen: async () => {
      const rows = (await reader.rows("events", ACCOUNT)).get(ACCOUNT) ?? [];
      return new Map(rows.map(({ uuid, event }) => [String(uuid), String(event)]));
    },
    runUntil: async (point) => {
      const { s3, glue } = crashingClients(newAwsClients(recorder?.url), point, PREFIX);
      const crashingStore = new S3Store({ client: s3, bucket, prefix: PREFIX, random: systemRandom });
      const crashingCatalog = new GlueCatalog({
        client: glue,
        store: crashingStore,
        database,
        location,
        clock: systemClock,
      });
      const ports = sandbox.ports({ store: crashingStore, catalog: crashingCatalog });
      await sandbox.run({ runId: SCHEDULED }, ports).catch((error: unknown) => {
        if (!(error instanceof Crashed)) throw error;
      });
      sandbox.dead.add(ports.process.pid ?? 0);
    },
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

async function effectsOfSecondRun(): Promise<readonly string[]> {
  await using world = await secondSnapshotDue();
  const point = new CrashPoint(Number.POSITIVE_INFINITY);
  await world.runUntil(point);
  return point.effects;
}

const effects = isEmulated ? await effectsOfSecondRun() : [];
/** Before an effect S3 and Glue are as they are after the one before it. */
const boundaries = effects.map((effect, index) => ({ at: index + 1, effect }));

onEmulator("a process on AWS that crashes", () => {
  test("has effects at every stage of a run, in S3 and in Glue", () => {
    const stages = [
      "PutObject accounts/uk/lease.json",
      `PutObject runs/uk/${SCHEDULED}/plan.ndjson.gz`,
      `PutObject runs/uk/${SCHEDULED}/record-00000003.json`,
      `PutObject snapshots/uk/${SCHEDULED}/part-00000.ndjson.gz`,
      `PutObject snapshots/uk/${SCHEDULED}/_manifest.json`,
      `PutObject changes/uk/0000000002/${SCHEDULED}/part-00000.ndjson.gz`,
      "PutObject publications/uk/0000000002.ndjson",
      "BatchCreatePartition event_changes",
      "BatchCreatePartition event_snapshots",
      "UpdatePartition events",
      `PutObject run-log/uk/${SCHEDULED}-1.ndjson`,
      `PutObject runs/uk/${SCHEDULED}/outcome.json`,
    ];

    expect(effects.filter((effect) => stages.includes(effect) && effect !== stages[0])).toEqual(
      stages.slice(1),
    );
    // Taken, confirmed before each record, and freed.
    const records = effects.filter((effect) => effect.includes("/record-"));
    expect(effects.filter((effect) => effect === stages[0])).toHaveLength(2 + records.length);
  });

  test.each(boundaries)(
    "after $effect leaves one whole snapshot, and the retry finishes the run",
    async ({ at }) => {
      await using world = await secondSnapshotDue();
      const { sandbox, warehouse, seen } = world;
      const { store, catalog, reader } = warehouse;
      const before = await seen();
      const after = sandbox.truth();
      const point = new CrashPoint(at, "after");

      await world.runUntil(point);
      const left = await seen();
      const result = await sandbox.run({ runId: SCHEDULED }, { store, catalog });

      expect(point.crashed).toBe(true);
      expect([before, after]).toContainEqual(left);
      expect(result.row).toMatchObject({
        outcome: "PUBLISHED",
        snapshot_id: SCHEDULED,
        added: 1,
        removed: 1,
      });
      expect(await seen()).toEqual(after);
      const log = await readLog(accountStore(store, ACCOUNT));
      expect(log.map(({ publication }) => publication)).toEqual(["0000000001", "0000000002"]);
      expect([...(await reader.rows("event_changes", ACCOUNT)).values()].map((rows) => rows.length)).toEqual([
        5, 3,
      ]);
      expect((await reader.rows("event_snapshots", ACCOUNT)).size).toBe(2);
    },
  );

  test("has made no call that the role of the deployed function does not allow", async () => {
    const own = { bucket: /test-[0-9a-f-]{36}/, database: /test_[0-9a-f_]{36}/, prefix: PREFIX };

    const refused = await callsBeyondTheRole(recorder?.calls ?? [], own);

    expect(recorder?.calls.length).toBeGreaterThan(boundaries.length);
    expect(refused).toEqual([]);
  });
});
