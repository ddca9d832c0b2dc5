// What a start of a run does beside its work: whose lease it has, what it closes, and what it says of the clock.

import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { readLease } from "../../../lambdas/job/run/lease/lease-file.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import { settled } from "../../simulator/manual-clock.ts";
import { interposed } from "./interposed-store.ts";
import { serviceWith } from "./run-defaults.ts";
import { SmallWorld } from "./small-world.ts";

describe("a start that continues another run", () => {
  /** A run that was stopped after three of its events. */
  async function unfinished(): Promise<{ readonly world: SmallWorld; readonly runId: string }> {
    const world = new SmallWorld({ concurrency: 1, rangeEvents: 2 });
    world.show(5);
    const stopping = serviceWith(world.ports(), (service) => ({
      detail: (...request) => {
        if (world.details < 3) return service.detail(...request);
        throw new SyncError("INTERRUPTED", "stopped");
      },
    }));
    const { row } = await world.run({}, stopping);
    return { world, runId: row.run_id };
  }

  test("has the lease under that run's id, and says the id again", async () => {
    const { world, runId } = await unfinished();
    const holders: unknown[] = [];
    const said: string[] = [];
    const seeing = serviceWith(world.ports(), (service) => ({
      detail: async (...request) => {
        holders.push((await readLease(world.own))?.lease?.run_id);
        return service.detail(...request);
      },
    }));

    const { row } = await world.run({}, { ...seeing, onRunId: (id) => said.push(id) });

    expect(row).toMatchObject({ outcome: "PUBLISHED", run_id: runId });
    expect(new Set(holders)).toEqual(new Set([runId]));
    expect(said).toEqual([expect.not.stringContaining(runId), runId]);
  });

  test("does not begin where the lease cannot say so", async () => {
    const { world, runId } = await unfinished();
    const replace: Store["replace"] = async (key, bytes, version) => {
      const { run_id } = JSON.parse(Buffer.from(bytes).toString());
      if (run_id === runId) throw new SyncError("STORE_FAILED", "for a moment");
      return world.store.replace(key, bytes, version);
    };
    const before = world.details;

    const { row } = await world.run({}, { store: { ...interposed(world.store), replace } });

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_FAILED" });
    expect(row.run_id).not.toBe(runId);
    expect(world.details).toBe(before);
  });
});

test.each([
  { events: 10, outcome: "PUBLISHED", explanation: /^The clocks differ\.$/ },
  { events: 2, outcome: "HELD", explanation: /^\w.+ The clocks differ\.$/s },
])("a run that ends as $outcome says of the clocks beside what else it says", async (ends) => {
  const world = new SmallWorld();
  await world.publish(10);
  world.show(ends.events, 2);

  const { row, explanation } = await world.run(
    {},
    serviceWith(world.ports(), () => ({ clockWarning: "The clocks differ." })),
  );

  expect(row.outcome).toBe(ends.outcome);
  expect(explanation).toMatch(ends.explanation);
});

test("a run closes the service before it frees the lease, and ends once that is free", async () => {
  const world = new SmallWorld();
  world.show(2);
  const holders: unknown[] = [];
  const close = async (): Promise<void> => {
    await settled();
    holders.push((await readLease(world.own))?.lease?.run_id);
  };
  const replace: Store["replace"] = async (...given) => {
    await setImmediate();
    return world.store.replace(...given);
  };
  const store = { ...interposed(world.store), replace };

  const { row } = await world.run({}, { store, ...serviceWith(world.ports(), () => ({ close })) });
  holders.push((await readLease(world.own))?.lease?.run_id);

  expect(holders).toEqual([row.run_id, null]);
});
