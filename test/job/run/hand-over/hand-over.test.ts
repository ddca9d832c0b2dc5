import { expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { ACCOUNT } from "../small-world.ts";
import { FIRST, HandOverWorld, RUN } from "./hand-over-world.ts";
import { withoutStart } from "./memory-executions.ts";

/** A second for each request, time for some of the events in an invocation. */
const SMALL = { events: 12, rangeEvents: 4, requestMs: 1_000, limitSeconds: 14 };
const SECOND = FIRST.replace("Z-1", "Z-2");

test("the first invocation stages what it can, passes the lease on, and starts the execution", async () => {
  const world = new HandOverWorld(SMALL);
  const arn = world.executions.arnOf(FIRST);

  const { row, handedOver, error } = await world.first();

  expect(row).toMatchObject({
    outcome: "HANDED_OVER",
    reason: "TIME_LIMIT",
    trigger: "schedule",
    attempt: 1,
    listed: 12,
    events: null,
    snapshot_id: null,
    error_code: null,
  });
  expect(row.requests).toBe(7);
  expect(error).toBeUndefined();
  expect(handedOver).toEqual({ execution: arn, waitMs: 0 });
  expect(world.executions.running).toEqual({ arn, input: { account: "uk", runId: RUN, turn: 0 } });
  expect(world.lease()).toMatchObject({
    run_id: RUN,
    holder: null,
    execution: arn,
    expires_at: null,
    handed_over: { run_id: RUN, n: 1 },
  });
  expect(world.small.store.text(layout(ACCOUNT).outcome(RUN))).toBeUndefined();
});

test("every invocation that stops early has its line in the run log, with its own counts and the run's trigger", async () => {
  const world = new HandOverWorld(SMALL);

  await world.first();
  await world.play();

  const lines = world
    .log()
    .map(({ outcome, trigger, requests, attempt }) => [attempt, outcome, trigger, requests]);
  expect(lines).toEqual([
    [1, "HANDED_OVER", "schedule", 7],
    [2, "HANDED_OVER", "schedule", 8],
    [3, "PUBLISHED", "schedule", null],
  ]);
  expect(world.lease()).toMatchObject({ run_id: null, holder: null });
  expect(world.lease()).not.toHaveProperty("execution");
});

test("a run that a person started stays one, whichever execution works on it", async () => {
  const world = new HandOverWorld({ ...SMALL, maxTurns: 1 });

  await world.byHand();
  await world.play();

  expect(world.log().map(({ outcome, trigger }) => `${outcome} ${trigger}`)).toEqual([
    "HANDED_OVER manual",
    "HANDED_OVER manual",
    "PUBLISHED manual",
  ]);
});

test("without a state machine a run that stops early fails as INTERRUPTED, and frees the lease", async () => {
  const world = new HandOverWorld(SMALL);

  const { row, error } = await world.first({ executions: undefined });

  expect(row).toMatchObject({ outcome: "FAILED", error_code: "INTERRUPTED" });
  expect(error?.message).toContain("5 of 12 events are staged");
  expect(world.lease()).toMatchObject({ run_id: null });
});

test("a run that has no plan yet is not handed over: its next start lists the events", async () => {
  const world = new HandOverWorld(SMALL);
  const stop = new AbortController();
  const { openService } = world.ports();

  const { error } = await world.first({
    signal: stop.signal,
    openService: async (limiter) => ({
      ...(await openService(limiter)),
      list: async (signal) => {
        stop.abort(new SyncError("INTERRUPTED", "The time is over."));
        signal?.throwIfAborted();
        throw new Error("the signal was not passed on");
      },
    }),
  });

  expect(error).toMatchObject({ code: "INTERRUPTED" });
  expect(world.executions.names).toEqual([]);
  expect(world.lease()).toMatchObject({ run_id: null });
});

test("an error that is no interruption is not handed over", async () => {
  const world = new HandOverWorld(SMALL);
  const { openService } = world.ports();
  const failing = new SyncError("SERVICE_UNAVAILABLE", "The service is down.");

  const { error } = await world.first({
    openService: async (limiter) => ({
      ...(await openService(limiter)),
      detail: () => Promise.reject(failing),
    }),
  });

  expect(error).toBe(failing);
  expect(world.executions.names).toEqual([]);
});

test("a run whose execution ended takes the next number", async () => {
  const world = new HandOverWorld(SMALL);
  await world.first();
  world.executions.end(world.executions.arnOf(FIRST), "ABORTED");
  await world.abandon(world.executions.arnOf(FIRST));

  await world.first();

  expect(world.executions.names).toEqual([FIRST, SECOND]);
  expect(world.lease()).toMatchObject({ handed_over: { run_id: RUN, n: 2 } });
});

test("a name that is taken, because a damaged lease has forgotten it, is passed over", async () => {
  const world = new HandOverWorld(SMALL);
  await world.first();
  world.executions.end(world.executions.arnOf(FIRST), "ABORTED");
  world.small.store.put(layout(ACCOUNT).lease, "damaged");

  const { handedOver } = await world.first();

  expect(handedOver?.execution).toBe(world.executions.arnOf(SECOND));
  expect(world.lease()).toMatchObject({ execution: world.executions.arnOf(SECOND) });
});

test("where the execution cannot be started the attempt fails, and the next start of the run starts it", async () => {
  const world = new HandOverWorld(SMALL);
  const down = new SyncError("INTERRUPTED", "Step Functions does not respond.");

  const { error } = await world.first({ executions: withoutStart(world.executions, down) });
  const again = await world.first();

  expect(error).toBe(down);
  expect(again.row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
  expect(world.executions.names).toEqual([FIRST]);
  expect((await world.play()).at(-1)?.row.outcome).toBe("PUBLISHED");
  expect(world.small.details).toBe(12);
});
