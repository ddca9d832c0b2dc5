// The same trigger again, a start by hand meanwhile, processes that die: nothing is done twice, nothing is lost.

import { describe, expect, test } from "vitest";
import { check } from "../../../../lambdas/job/commands/check.ts";
import type { Executions } from "../../../../lambdas/job/run/hand-over/executions.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { Crashed, CrashPoint, type Moment } from "../crash.ts";
import { ACCOUNT } from "../small-world.ts";
import { FIRST, HandOverWorld, RUN } from "./hand-over-world.ts";

const EVENTS = 12;
const SMALL = { events: EVENTS, rangeEvents: 4, requestMs: 1_000, limitSeconds: 14 };

async function finished(world: HandOverWorld): Promise<void> {
  await world.play();
  expect(world.small.store.keys("publications/")).toHaveLength(1);
  expect(await world.small.seen()).toEqual(world.small.truth());
  expect(world.small.details).toBe(EVENTS);
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

  test("a command line, which cannot ask the state machine, is skipped too", async () => {
    const world = new HandOverWorld(SMALL);
    await world.first();
    world.executions.end(world.executions.arnOf(FIRST), "FAILED");

    const { row, explanation } = await world.byHand({ executions: undefined, isGone: () => true });

    expect(row).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
    expect(explanation).toContain(FIRST);
  });

  test("check sends nothing to the service, and names the execution", async () => {
    const world = new HandOverWorld(SMALL);
    await world.first();
    const sent = world.sentAtMs.length;

    const checks = await check(world.ports(), world.small.settings);

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

  test("killed around the change of the lease leaves a run that the next start repairs", async () => {
    for (const moment of ["before", "after"] as const) {
      const world = new HandOverWorld(SMALL);
      const lease = layout(ACCOUNT).lease;
      let isNext = false;
      const ports = world.ports();
      const dying = {
        ...ports.store,
        replace: async (...args: Parameters<Store["replace"]>) => {
          isNext ||= `${Buffer.from(args[1])}`.includes(FIRST);
          if (!isNext || args[0] !== lease) return ports.store.replace(...args);
          if (moment === "after") await ports.store.replace(...args);
          throw new Crashed("the process died");
        },
      };
      await world.first({ store: dying }).catch(() => undefined);
      world.small.clock.advance(61_000);

      await world.first();

      expect(world.executions.names).toEqual([FIRST]);
      await finished(world);
    }
  });

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
