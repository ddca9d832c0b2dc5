// A process that was stopped for a while, such as on a computer that slept, and goes on after another has taken its run.

import { describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { type RunResult, readRunResult } from "../../../../lambdas/job/run/record/run-result.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { interposed } from "../interposed-store.ts";
import { ACCOUNT, type PortChanges, SmallWorld } from "../small-world.ts";

const RUN = "2026-01-05T06-00-00.000Z";
/** Starts the run; at its first creation of such a file the process stops, and another one makes the run to its end. */
async function stoppedAt(world: SmallWorld, prefix: string, changes: PortChanges = {}): Promise<RunResult> {
  const ports = world.ports();
  let isStopped = false;
  const store = interposed(world.store, async (key) => {
    if (isStopped || !key.startsWith(prefix)) return;
    isStopped = true;
    // So the other process takes its lease over.
    world.dead.add(ports.process.pid ?? 0);
    await world.run({ runId: RUN });
  });
  return world.run({ runId: RUN }, { ...ports, store, ...changes });
}

const failing = {
  openService: () => {
    throw new SyncError("UNEXPECTED_RESPONSE", "The list is no JSON.");
  },
};

describe("a process that failed and was stopped before it recorded that", () => {
  test("leaves the run to the process that has taken its lease and published", async () => {
    const world = new SmallWorld();
    world.show(10, 1);

    const { row } = await stoppedAt(world, "run-log/", failing);

    expect((await readRunResult(world.own, RUN))?.row.outcome).toBe("PUBLISHED");
    expect(row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_LOST" });
  });

  test("finishes the run where it still has the lease", async () => {
    const world = new SmallWorld();

    const { row } = await world.run({ runId: RUN }, failing);

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "UNEXPECTED_RESPONSE" });
    expect((await readRunResult(world.own, RUN))?.row).toEqual(row);
  });
});

describe("a failure that is recorded after another process has taken the lease", () => {
  test("ends the run for that process too, and nothing is published", async () => {
    const failed = new SmallWorld();
    await failed.run({ runId: RUN }, failing);
    const world = new SmallWorld();
    world.show(10, 1);
    const { outcome, manifest } = layout(ACCOUNT);
    const store = interposed(world.store, async (key) => {
      if (key === manifest(RUN)) world.store.put(outcome(RUN), failed.store.text(outcome(RUN)) ?? "");
    });

    const { row } = await world.run({ runId: RUN }, { store });

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "UNEXPECTED_RESPONSE" });
    expect(world.store.keys("publications/")).toEqual([]);
  });
});

describe("a process that was stopped before its last write", () => {
  test("returns the result that another process has written", async () => {
    const world = new SmallWorld();
    world.show(10, 1);

    const late = await stoppedAt(world, layout(ACCOUNT).outcome(RUN));

    expect(late.row).toEqual((await readRunResult(world.own, RUN))?.row);
    expect(late.isRepeat).toBe(true);
  });
});
