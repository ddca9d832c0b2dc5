import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import { type RunResult, readRunResult } from "../../../../../lambdas/job/run/record/run-result.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { readLog } from "../../../../../lambdas/job/storage/publication-log.ts";
import { realClock } from "../../../../simulator/clocks.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { interposedOnce } from "../../interposed-store.ts";
import { livingLease } from "../../lease/lease-world.ts";
import { Sandbox } from "../../sandbox.ts";
import { ACCOUNT, type PortChanges, SmallWorld } from "../../small-world.ts";

const RUN = "2026-11-21T06-00-00.000Z";

describe("two runs of one account", () => {
  test("the same trigger delivered again later: the outcome, and no request [D22]", async () => {
    await using sandbox = await Sandbox.start();

    const first = await sandbox.run({ runId: RUN });
    sandbox.simulator.reset();
    const second = await sandbox.run({ runId: RUN });

    expect(second).toEqual({ ...first, isRepeat: true });
    expect(sandbox.simulator.counts.requests).toBe(0);
  });

  test("two processes on one run, the lease lost in mid-run: the files agree and there is one publication [D25]", async () => {
    await using sandbox = await Sandbox.start(
      { events: makeEvents(40), latencyMs: 300 },
      { rangeEvents: 5, concurrency: 2 },
    );
    const middle = Promise.withResolvers<void>();
    const first = sandbox.run(
      { runId: RUN },
      {
        onProgress: ({ done }) => {
          if (done === 12) middle.resolve();
        },
      },
    );

    await middle.promise;
    await sandbox.store.delete([layout(ACCOUNT).lease]);
    const second = await sandbox.run({ runId: RUN });

    const outcomes = [(await first).row.outcome, second.row.outcome];
    expect(outcomes).toContain("PUBLISHED");
    expect(outcomes.filter((outcome) => outcome !== "PUBLISHED" && outcome !== "SKIPPED")).toEqual([]);
    expect(await sandbox.events()).toEqual(sandbox.truth());
    expect(await readLog(sandbox.own)).toHaveLength(1);
  });

  test("a run overtaken by a later snapshot before it starts makes no request [D16]", async () => {
    await using sandbox = await Sandbox.start();
    await sandbox.run();
    sandbox.simulator.reset();

    const { row, explanation } = await sandbox.run({ runId: RUN });

    expect(row).toMatchObject({ outcome: "SUPERSEDED", reason: "LATER_HEAD", snapshot_id: null });
    expect(explanation).toContain("later than this run");
    expect(sandbox.simulator.counts.requests).toBe(0);
  });

  test.each([
    { when: "before its changes are computed", at: "_manifest.json" },
    { when: "just before its commit", at: "publications/" },
  ])("a run overtaken $when publishes nothing", async ({ at }) => {
    await using sandbox = await Sandbox.start({}, {}, realClock());
    let quick: RunResult | undefined;
    const store = interposedOnce(sandbox.store, at, async () => {
      await sandbox.store.delete([layout(ACCOUNT).lease]);
      quick = await sandbox.run({ fresh: true });
    });

    const { row } = await sandbox.run({ runId: RUN }, { store });

    expect(quick?.row.outcome).toBe("PUBLISHED");
    expect(row).toMatchObject({ outcome: "SUPERSEDED", added: null });
    const log = await readLog(sandbox.own);
    expect(log.map(({ run_id }) => run_id)).toEqual([quick?.row.run_id]);
    expect(await sandbox.events()).toEqual(sandbox.truth());
  });

  test("a lost race for the next publication is computed again against the new head [D25]", async () => {
    await using sandbox = await Sandbox.start({}, {}, realClock());
    const LATER = "2099-01-01T00-00-00.000Z";
    const store = interposedOnce(sandbox.store, "publications/", async () => {
      await sandbox.store.delete([layout(ACCOUNT).lease]);
      await sandbox.run({ fresh: true });
      sandbox.simulator.reset();
    });

    const { row } = await sandbox.run({ runId: LATER }, { store });

    expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0, changed: 0, removed: 0 });
    const log = await readLog(sandbox.own);
    expect(log.map(({ publication, added }) => [publication, added])).toEqual([
      ["0000000001", 100],
      ["0000000002", 0],
    ]);
    expect(sandbox.simulator.counts.requests).toBe(0);
  });
});

test("a published run has one line in the run log, and the second start frees the lease again", async () => {
  await using sandbox = await Sandbox.start();
  let published: object = {};
  // The first start does all of its work between the second one's first look and its lease.
  const store = interposedOnce(sandbox.store, layout(ACCOUNT).lease, async () => {
    published = await sandbox.run({ runId: RUN });
  });

  const second = await sandbox.run({ runId: RUN }, { store });

  expect(second).toEqual({ ...published, isRepeat: true });
  expect(sandbox.simulator.counts.logins).toBe(1);
  expect(sandbox.store.keys("run-log/")).toEqual([layout(ACCOUNT).runLog(RUN, 1)]);
  expect(JSON.parse(sandbox.store.text(layout(ACCOUNT).lease) ?? "")).toMatchObject({ run_id: null });
});

/** Starts the run; at its first creation of such a file the process stops, and another one makes the run to its end. */
async function stoppedAt(world: SmallWorld, prefix: string, changes: PortChanges = {}): Promise<RunResult> {
  const ports = world.ports();
  const store = interposedOnce(world.store, prefix, async () => {
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

test.each([
  ["its own run, whose process may have died, and makes it", RUN, "PUBLISHED"],
  ["another run, and waits for nothing", "2026-11-22T06-00-00.000Z", "SKIPPED"],
])("a start of a trigger meets the lease of %s", async (_, runId, outcome) => {
  const world = new SmallWorld();
  world.show(3);
  world.store.put(layout(ACCOUNT).lease, livingLease(world.clock.now(), { run_id: runId }));

  const running = world.run({ runId: RUN });
  for (let turns = 0; turns < 100; turns += 1) {
    await nextTurn();
    world.clock.advance(1_000);
  }

  expect((await running).row).toMatchObject({ run_id: RUN, outcome });
});

test("a process that failed and was stopped before it recorded that leaves the run to the one that has published", async () => {
  const world = new SmallWorld();
  world.show(10, 1);

  const { row } = await stoppedAt(world, "run-log/", failing);

  expect((await readRunResult(world.own, RUN))?.row.outcome).toBe("PUBLISHED");
  expect(row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_LOST" });
});

test("a failure that is recorded after another process has taken the lease ends the run for that one too", async () => {
  const failed = new SmallWorld();
  await failed.run({ runId: RUN }, failing);
  const world = new SmallWorld();
  world.show(10, 1);
  const { outcome, manifest } = layout(ACCOUNT);
  const store = interposedOnce(world.store, manifest(RUN), async () =>
    world.store.put(outcome(RUN), failed.store.text(outcome(RUN)) ?? ""),
  );

  const { row } = await world.run({ runId: RUN }, { store });

  expect(row).toMatchObject({ outcome: "FAILED", error_code: "UNEXPECTED_RESPONSE" });
  expect(world.store.keys("publications/")).toEqual([]);
});

test("a process that was stopped before its last write returns the result that another one has written", async () => {
  const world = new SmallWorld();
  world.show(10, 1);

  const late = await stoppedAt(world, layout(ACCOUNT).outcome(RUN));

  expect(late.row).toEqual((await readRunResult(world.own, RUN))?.row);
  expect(late.isRepeat).toBe(true);
});
