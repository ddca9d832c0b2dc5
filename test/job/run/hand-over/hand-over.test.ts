// A run that goes on in executions: how it is handed over, the same trigger again, a start by hand meanwhile, processes that
// die. Nothing is done twice, nothing is lost.

import { describe, expect, test } from "vitest";
import { check } from "../../../../lambdas/job/commands/check.ts";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import type { Executions } from "../../../../lambdas/job/run/hand-over/executions.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { saidChecks } from "../../../words/said.ts";
import { Crashed, CrashPoint, type Moment } from "../crash.ts";
import { serviceWith } from "../run-defaults.ts";
import { ACCOUNT } from "../small-world.ts";
import { FIRST, HandOverWorld, RUN, SECOND, SMALL } from "./hand-over-world.ts";
import { withoutStart } from "./memory-executions.ts";

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
  expect(world.lease()).toMatchObject({ run_id: null });
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

test("a run that has no plan yet is not handed over: its next start lists the events", async () => {
  const world = new HandOverWorld(SMALL);
  const stop = new AbortController();
  const stopped = serviceWith(world.ports(), () => ({
    list: async (signal) => {
      stop.abort(new SyncError("INTERRUPTED", "The time is over."));
      signal?.throwIfAborted();
      throw new Error("the signal was not passed on");
    },
  }));

  const { error } = await world.first({ signal: stop.signal, ...stopped });

  expect(error).toMatchObject({ code: "INTERRUPTED" });
  expect(world.executions.names).toEqual([]);
  expect(world.lease()).toMatchObject({ run_id: null });
});

test("a run that nothing can continue waits for its budget itself, however long", async () => {
  const tenPerWindow = { requestsPerMinute: 1, windowMs: 600_000 };
  const world = new HandOverWorld({ events: 12, requestMs: 1, limitSeconds: 86_400, ...tenPerWindow });

  const { row } = await world.byHand({ executions: undefined });

  expect(row).toMatchObject({ outcome: "PUBLISHED", attempt: 1, events: 12 });
  expect(Math.max(...world.sentAtMs) - Math.min(...world.sentAtMs)).toBeGreaterThan(600_000);
});

test("a start that cannot ask for executions leaves the lease of one where it is", async () => {
  const world = new HandOverWorld(SMALL);
  await world.first();
  const lease = world.lease();

  const { row } = await world.byHand({ executions: undefined });

  expect(row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
  expect(world.lease()).toEqual(lease);
});

test("an error that is no interruption is not handed over", async () => {
  const world = new HandOverWorld(SMALL);
  const down = new SyncError("SERVICE_UNAVAILABLE", "The service is down.");

  const { error } = await world.first(
    serviceWith(world.ports(), () => ({ detail: () => Promise.reject(down) })),
  );

  expect(error).toBe(down);
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

async function finished(world: HandOverWorld): Promise<void> {
  await world.play();
  expect(world.small.store.keys("publications/")).toHaveLength(1);
  expect(await world.small.seen()).toEqual(world.small.truth());
  expect(world.small.details).toBe(SMALL.events);
  expect(world.wasted).toBe(0);
  expect(world.lease()).toMatchObject({ run_id: null });
}

describe("while an execution works on the run", () => {
  test("the same trigger again is skipped, and does nothing; after its end it finds the outcome", async () => {
    const world = new HandOverWorld(SMALL);
    await world.first();
    const lease = world.lease();

    const { row, explanation } = await world.first();

    expect(row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN", requests: null });
    expect(explanation).toContain(`handed over to the execution ${FIRST} of the state machine`);
    expect(world.lease()).toEqual(lease);
    await finished(world);
    expect(await world.first()).toMatchObject({ isRepeat: true, row: { outcome: "PUBLISHED" } });
  });

  test("a start by hand is skipped, between two turns too", async () => {
    const world = new HandOverWorld(SMALL);
    await world.first();
    await world.turn(world.executions.arnOf(FIRST), 0);

    const { row } = await world.byHand();

    expect(row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
    await finished(world);
  });

  test("check sends nothing to the service, and names the execution", async () => {
    const world = new HandOverWorld(SMALL);
    await world.first();
    const sent = world.sentAtMs.length;

    const checks = saidChecks(await check(world.ports(), world.small.settings));

    expect(checks.find(({ name }) => name === "lease")).toMatchObject({
      ok: false,
      code: "LEASE_TAKEN",
      remedy: expect.stringContaining(FIRST),
    });
    expect(world.sentAtMs).toHaveLength(sent);
  });
});

describe("the invocation that hands over", () => {
  const killed: readonly { readonly at: string; readonly moment: Moment; readonly starts: number }[] = [
    { at: "start ", moment: "before", starts: 0 },
    { at: "start ", moment: "after", starts: 1 },
    { at: "run-log/", moment: "before", starts: 1 },
    { at: "run-log/", moment: "after", starts: 1 },
  ];

  test.each(killed)(
    "killed $moment $at leaves a run that the next start of the trigger repairs",
    async (one) => {
      const world = new HandOverWorld(SMALL);

      await kill(world, new CrashPoint(one.at, one.moment));
      const started = world.executions.names.length;
      world.small.clock.advance(61_000); // the lease of a process that died expires
      const again = await world.first();

      expect(started).toBe(one.starts);
      expect(again.row.outcome).toBe("SKIPPED");
      expect(world.executions.names).toEqual([FIRST]);
      await finished(world);
    },
  );

  test("killed before the start is repaired by a start of another run, which is skipped", async () => {
    const world = new HandOverWorld(SMALL);
    await kill(world, new CrashPoint("start ", "before"));

    const { row } = await world.byHand();

    expect(row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
    expect(world.executions.running?.input).toEqual({ account: ACCOUNT, runId: RUN, turn: 0 });
    await finished(world);
  });

  async function kill(world: HandOverWorld, point: CrashPoint): Promise<void> {
    const ports = world.ports();
    const executions: Executions = {
      arnOf: (name) => world.executions.arnOf(name),
      describe: (arn) => world.executions.describe(arn),
      start: (name, input) => point.effect(`start ${name}`, () => world.executions.start(name, input)),
    };
    await expect(world.first({ ...point.wrap(ports), executions })).rejects.toThrow(Crashed);
  }
});

describe("an execution that has ended without its run", () => {
  test("loses the lease to the next start, which resumes the run", async () => {
    const world = new HandOverWorld({ ...SMALL, limitSeconds: 900 });
    world.small.clock.advance(30 * 3_600_000);
    await world.first({ timeLeftMs: () => (world.small.details < 4 ? 900_000 : 0) });
    world.executions.end(world.executions.arnOf(FIRST), "FAILED", "States.Timeout");

    const { row } = await world.byHand();

    expect(row).toMatchObject({ outcome: "PUBLISHED", run_id: RUN });
    expect(world.small.log.text).toContain(
      `the execution ${FIRST}, which has the lease, has ended as FAILED`,
    );
    await finished(world);
  });

  test("of another state machine loses it too: nothing can continue the run there", async () => {
    const world = new HandOverWorld(SMALL);
    await world.first();
    const foreign = `arn:aws:states:eu-west-1:123456789012:execution:other:${FIRST}`;
    world.small.store.put(layout(ACCOUNT).lease, JSON.stringify({ ...world.lease(), execution: foreign }));

    const { row } = await world.first();

    expect(row.outcome).toBe("HANDED_OVER");
    expect(world.lease()).toMatchObject({ handed_over: { run_id: RUN, n: 2 } });
  });
});
