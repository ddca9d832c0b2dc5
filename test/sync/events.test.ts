import { describe, expect, test } from "vitest";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { refusing } from "../job/run/interposed-store.ts";
import { livingLease } from "../job/run/lease/lease-world.ts";
import { customEvent, makeEvents } from "../simulator/simulated-event.ts";
import { FunctionSandbox, NEXT_DAY, RUN, SCHEDULED_AT } from "./function-sandbox.ts";

const types = ({ events }: FunctionSandbox): readonly string[] => events.map(({ detailType }) => detailType);

describe("the event Run Started", () => {
  test("says which run has begun, and when", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(3) });

    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });

    expect(sandbox.events[0]).toEqual({
      detailType: "Run Started",
      detail: {
        account: "uk",
        run_id: RUN,
        snapshot_id: null,
        trigger: "schedule",
        started_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    });
  });

  const ONCE = ["Run Started", "Run Failed", "Snapshot Published"];
  const retry = (sandbox: FunctionSandbox): Promise<object> => sandbox.retry({ scheduledAt: SCHEDULED_AT });

  test.each<[string, string, (sandbox: FunctionSandbox) => Promise<object>, readonly string[]]>([
    ["not again by the retry of one that failed before it had a plan", "plan.ndjson", retry, ONCE],
    ["not again by the retry of one that failed when all was staged", "_manifest.json", retry, ONCE],
    [
      "not again after one that was killed after its plan, before it could write a line of the run log",
      "/record-",
      async (sandbox) => {
        for (const key of sandbox.store.keys("run-log/")) await sandbox.store.delete(key);
        return retry(sandbox);
      },
      ONCE,
    ],
    ["not by a run that continues it", "_manifest.json", (sandbox) => sandbox.invoke({}), ONCE],
    [
      "by the retry of one that failed before it had begun",
      "lease.json",
      retry,
      ["Run Failed", "Run Started", "Snapshot Published"],
    ],
  ])("is sent of an attempt, and %s", async (_, part, next, expected) => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(3) });
    const store = refusing(sandbox.store, part);
    const failed = sandbox.invoke({ scheduledAt: SCHEDULED_AT }, { store });
    await expect(failed).rejects.toMatchObject({ name: "STORE_FAILED" });

    await next(sandbox);

    expect(types(sandbox)).toEqual(expected);
  });

  test("is not sent by a start that does not work, nor by a dry run", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(3) });
    await sandbox.invoke({ dryRun: true });
    const lease = layout("uk").lease;
    sandbox.store.put(lease, livingLease(sandbox.clock.now()));

    const skipped = await sandbox.invoke({ scheduledAt: SCHEDULED_AT });

    expect(skipped).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
    expect(sandbox.events).toEqual([]);
  });
});

describe("the event Fields Changed", () => {
  const before = [customEvent("a", '"name":"x","spend":1'), customEvent("b", '"name":"y"')];
  const after = [customEvent("a", '"name":5'), customEvent("b", '"name":"y","brand":{"id":7}')];
  const changed = {
    detailType: "Fields Changed",
    detail: {
      account: "uk",
      trigger: "schedule",
      publication: "0000000002",
      base_snapshot_id: RUN,
      new: {
        count: 2,
        fields: [
          { pointer: "/brand", types: ["object"] },
          { pointer: "/brand/id", types: ["number"] },
        ],
      },
      gone: { count: 1, fields: [{ pointer: "/spend", types: ["number"] }] },
      changed_type: {
        count: 1,
        fields: [{ pointer: "/name", before: ["string"], after: ["string", "number"] }],
      },
    },
  };

  test("follows the publication that changed them, and comes again with it", async () => {
    await using sandbox = await FunctionSandbox.start({ events: before });
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    sandbox.simulator.setEvents(after);

    await sandbox.invoke({ scheduledAt: NEXT_DAY });
    await sandbox.invoke({ scheduledAt: NEXT_DAY });

    expect(types(sandbox).slice(2)).toEqual([
      "Run Started",
      "Snapshot Published",
      "Fields Changed",
      "Snapshot Published",
      "Fields Changed",
    ]);
    expect(sandbox.events[4]).toMatchObject(changed);
    expect(sandbox.events[6]).toEqual(sandbox.events[4]);
  });

  test("follows an accept and a rollback, too", async () => {
    await using sandbox = await FunctionSandbox.start({ events: before }, { maxDropPercent: 10 });
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    sandbox.simulator.setEvents([customEvent("a", '"name":5')]);
    const held = await sandbox.invoke({ scheduledAt: NEXT_DAY });
    expect(held).toMatchObject({ outcome: "HELD" });
    const snapshotId = NEXT_DAY.replaceAll(":", "-");

    await sandbox.invoke({ action: "accept", snapshotId });
    await sandbox.invoke({ action: "rollback", snapshotId: RUN });

    const told = sandbox.events.filter(({ detailType }) => detailType === "Fields Changed");
    expect(told.map(({ detail }) => [detail["trigger"], detail["publication"]])).toEqual([
      ["accept", "0000000002"],
      ["rollback", "0000000003"],
    ]);
  });

  test("is not sent where only values and counts have changed, nor for a first publication", async () => {
    await using sandbox = await FunctionSandbox.start({ events: before });
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    sandbox.simulator.setEvents([customEvent("a", '"name":"z","spend":2'), customEvent("c", '"name":"y"')]);

    await sandbox.invoke({ scheduledAt: NEXT_DAY });

    expect(types(sandbox)).not.toContain("Fields Changed");
  });

  test("that cannot be made leaves the run published, and is counted", async () => {
    await using sandbox = await FunctionSandbox.start({ events: before });
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    sandbox.simulator.setEvents(after);
    sandbox.sendEvent = async ({ detailType }) => {
      if (detailType === "Fields Changed") throw new Error("too large");
    };
    sandbox.metrics.length = 0;

    const response = await sandbox.invoke({ scheduledAt: NEXT_DAY });

    expect(response).toMatchObject({ outcome: "PUBLISHED", publication: "0000000002" });
    expect(sandbox.metrics.at(-1)).toEqual({ account: "uk", values: { EventNotSent: 1 } });
  });
});
