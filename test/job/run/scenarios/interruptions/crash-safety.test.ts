// Before or after whatever effect a process crashes: readers see one whole snapshot, and a new start finishes.

import { describe, expect, test } from "vitest";
import { readLog } from "../../../../../lambdas/job/storage/publication-log.ts";
import { acceleratedClock } from "../../../../simulator/clocks.ts";
import { makeEvent, makeEvents } from "../../../../simulator/simulated-event.ts";
import { Crashed, CrashPoint, type Moment } from "../../crash.ts";
import { serviceWith } from "../../run-defaults.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

const EVENTS = 11;
const RANGE_EVENTS = 6;
const SCHEDULED = "2099-01-01T00-00-00.000Z";

/** A first snapshot is published, then the service changes. */
async function secondSnapshotDue(): Promise<Sandbox> {
  // In real time no run lasts until the lease is renewed, which would be one more effect. Nothing waits here.
  const clock = acceleratedClock(1);
  const sandbox = await Sandbox.start({ events: makeEvents(EVENTS) }, { rangeEvents: RANGE_EVENTS }, clock);
  await sandbox.run();
  const [first, second] = sandbox.simulator.listed();
  if (!first || !second) throw new Error("too few events");
  sandbox.simulator.archive(first.uuid);
  sandbox.simulator.change(second.uuid, {
    source: `{"uuid":"${second.uuid}","date":"2026-01-01","scope":null}`,
  });
  sandbox.simulator.add(makeEvent(100));
  sandbox.simulator.reset();
  return sandbox;
}

async function effectsOfSecondRun(runId?: string): Promise<readonly string[]> {
  await using sandbox = await secondSnapshotDue();
  const point = new CrashPoint(Number.POSITIVE_INFINITY);
  await sandbox.run(runId === undefined ? {} : { runId }, point.wrap(sandbox));
  return point.effects;
}

/** Runs until the process crashes at this effect. Other processes then know that it no longer exists. */
async function crash(sandbox: Sandbox, at: number, moment: Moment, runId?: string): Promise<void> {
  const point = new CrashPoint(at, moment);
  const ports = sandbox.ports();
  const start = runId === undefined ? {} : { runId };
  // A death while the lease is released goes unnoticed: the run has ended, and the lease expires by itself.
  await sandbox.run(start, { ...ports, ...point.wrap(ports) }).catch((error: unknown) => {
    if (!(error instanceof Crashed)) throw error;
  });
  expect(point.crashed).toBe(true);
  sandbox.dead.add(ports.process.pid ?? 0);
}

/** Before an effect all is as it is after the one before it. */
const boundariesOf = (effects: readonly string[]) => [
  { at: 1, moment: "before" as const, effect: effects[0] },
  ...effects.map((effect, index) => ({ at: index + 1, moment: "after" as const, effect })),
];
const effects = await effectsOfSecondRun(SCHEDULED);
const effectsByHand = await effectsOfSecondRun();

describe("a process that crashes", () => {
  test("has effects at every stage of a run", () => {
    const stages = [
      "lease",
      "follow",
      "plan",
      "rows-00000006",
      "record-00000006",
      "part-00000",
      "_manifest",
      "changes/",
      "publications/",
    ];

    expect(stages.filter((stage) => !effects.some((effect) => effect.includes(stage)))).toEqual([]);
    expect(effects.length).toBeGreaterThanOrEqual(13);
  });

  test.each(boundariesOf(effectsByHand))(
    "$moment $effect leaves one whole snapshot, and the next manual start finishes [D1]",
    async ({ at, moment }) => {
      await using sandbox = await secondSnapshotDue();
      const before = await sandbox.events();
      const after = sandbox.truth();

      await crash(sandbox, at, moment);
      const seen = await sandbox.events();
      const committed = (await readLog(sandbox.own)).length === 2;
      const staged =
        sandbox.store.keys(`runs/${ACCOUNT}/`).filter((key) => key.includes("record-")).length - 2;
      let again = 0;
      // Counted by the process itself: requests of the one that died may still be on their way to the service.
      const counting = serviceWith(sandbox.ports(), (service) => ({
        detail: (...request) => {
          again += 1;
          return service.detail(...request);
        },
      }));
      const result = await sandbox.run({}, counting);

      expect([before, after]).toContainEqual(seen);
      expect(result.row.outcome).toBe("PUBLISHED");
      expect(await sandbox.events()).toEqual(after);
      expect(again).toBe(committed ? EVENTS : Math.max(0, EVENTS - staged * RANGE_EVENTS));
    },
  );

  test.each(boundariesOf(effects))(
    "$moment $effect leaves a run that its own trigger finishes, with one publication [D19]",
    async ({ at, moment }) => {
      await using sandbox = await secondSnapshotDue();

      await crash(sandbox, at, moment, SCHEDULED);
      const result = await sandbox.run({ runId: SCHEDULED });

      expect(result.row).toMatchObject({
        outcome: "PUBLISHED",
        snapshot_id: SCHEDULED,
        added: 1,
        changed: 1,
        removed: 1,
      });
      expect(await sandbox.events()).toEqual(sandbox.truth());
      const log = await readLog(sandbox.own);
      expect(log.map(({ publication, run_id }) => [publication, run_id === SCHEDULED])).toEqual([
        ["0000000001", false],
        ["0000000002", true],
      ]);
      expect(Math.max(...sandbox.simulator.counts.detailsByUuid.values())).toBeLessThanOrEqual(2);
    },
  );
});
