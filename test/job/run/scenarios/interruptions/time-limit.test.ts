// A start whose time runs out sends no more requests, and the next one resumes there.

import { describe, expect, test } from "vitest";
import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import type { RunPorts } from "../../../../../lambdas/job/run/run-ports.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../../lambdas/job/storage/store.ts";
import { interposed } from "../../interposed-store.ts";
import { ACCOUNT, type PortChanges, SmallWorld } from "../../small-world.ts";

const RUN = "2026-01-02T06-00-00.000Z";
const SECOND_MS = 1000;

/** Twelve events, ranges of four, each detail takes a second, one at a time. */
function slowWorld(): SmallWorld {
  const world = new SmallWorld({ rangeEvents: 4, concurrency: 1 });
  world.show(12);
  return world;
}

function slowService(world: SmallWorld): RunPorts["openService"] {
  return async (rateLimiter) => {
    const service = await world.ports().openService(rateLimiter);
    return {
      ...service,
      detail: async (requestAs, signal) => {
        world.clock.advance(SECOND_MS);
        return service.detail(requestAs, signal);
      },
    };
  };
}

/** What a start is given that has so many seconds. */
function within(world: SmallWorld, seconds: number): PortChanges {
  const endMs = world.clock.now() + seconds * SECOND_MS;
  return { openService: slowService(world), timeLeftMs: () => endMs - world.clock.now() };
}

function staged(world: SmallWorld): number {
  return world.store.keys(layout(ACCOUNT).run(RUN)).filter((key) => key.includes("/record-")).length;
}

function lease(world: SmallWorld): unknown {
  return JSON.parse(world.store.text(layout(ACCOUNT).lease) ?? "");
}

describe("collecting", () => {
  test.each([
    { seconds: 30 + 4, events: 4, ranges: 1 },
    { seconds: 30 + 6, events: 6, ranges: 2 },
  ])("stops after $events events where the limit is $seconds s", async ({ seconds, events, ranges }) => {
    const world = slowWorld();

    const { row, error } = await world.run({ runId: RUN }, within(world, seconds));

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "INTERRUPTED", listed: 12 });
    expect(error?.message).toContain(`${events} of 12 events are staged`);
    expect(staged(world)).toBe(ranges);
    expect(world.details).toBe(events);
    expect(lease(world)).toMatchObject({ run_id: null, holder: null });
    expect(world.store.text(layout(ACCOUNT).outcome(RUN))).toBeUndefined();
  });
});

describe("publishing", () => {
  test("does not begin without time; the next start publishes without one request", async () => {
    const world = slowWorld();

    const timeLeftMs = (): number => (staged(world) === 3 ? 0 : 900 * SECOND_MS);

    const first = await world.run({ runId: RUN }, { timeLeftMs });
    const next = await world.run({ runId: RUN }, { openService: refuseService });

    expect(first.error?.message).toContain("all 12 events are staged");
    expect(first.row.snapshot_id).toBeNull();
    expect(next.row.outcome).toBe("PUBLISHED");
  });

  test.each([
    ["its publication", [], { outcome: "PUBLISHED", added: 12 }],
    ["its comparison, where it is to be held", ["/nothing"], { outcome: "HELD", reason: "REQUIRED" }],
  ])("stops between the snapshot and %s; the next start goes on", async (_, require, ends) => {
    const world = slowWorld();
    world.settings = { ...world.settings, require };
    const endMs = world.clock.now() + 100 * SECOND_MS;
    const store = interposed(world.store, async (key) => {
      if (key.endsWith("_manifest.json")) world.clock.advance(75 * SECOND_MS);
    });

    const first = await world.run({ runId: RUN }, { store, timeLeftMs: () => endMs - world.clock.now() });
    const made = world.store.keys().filter((key) => /^publications|_held/.test(key));
    const next = await world.run({ runId: RUN }, { openService: refuseService });

    expect(first.error?.message).toContain("the snapshot of 12 events is made");
    expect(first.row.snapshot_id).toBe(RUN);
    expect(made).toEqual([]);
    expect(next.row).toMatchObject(ends);
  });

  test("is stopped by the signal while it compares rows that have not changed, and frees the lease", async () => {
    const world = slowWorld();
    const head = (await world.run()).row.snapshot_id ?? "";
    const stop = new AbortController();
    const stopped = new SyncError("INTERRUPTED", "the time is up");
    let compared = 0;
    const store: Store = {
      ...world.own,
      open: (key) => {
        // The rows of the head are read for nothing but the comparison.
        if (key === layout(ACCOUNT).part(head, 0) && ++compared > 0) stop.abort(stopped);
        return world.store.open(key);
      },
    };

    const { error } = await world.run({ runId: RUN }, { store, signal: stop.signal });

    expect(compared).toBe(1);
    expect(error).toBe(stopped);
    expect(world.store.keys(layout(ACCOUNT).publications)).toHaveLength(1);
    expect(lease(world)).toMatchObject({ run_id: null, holder: null });
  });
});

const refuseService: RunPorts["openService"] = async () => {
  throw new Error("no request is expected");
};
