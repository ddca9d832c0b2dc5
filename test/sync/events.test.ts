import { describe, expect, test } from "vitest";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { refusing } from "../job/run/interposed-store.ts";
import { livingLease } from "../job/run/lease/lease-world.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { FunctionSandbox, RUN, SCHEDULED_AT } from "./function-sandbox.ts";

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
        for (const key of sandbox.store.keys("run-log/")) await sandbox.store.delete([key]);
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
