// Clocks that differ: a head of the future stops no run, what was planned before it came is never published over it, and what
// counts after a removal is known by number.

import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { acceptOrRollback, removeAccount } from "../../../lambdas/job/commands/decisions.ts";
import { status } from "../../../lambdas/job/commands/status.ts";
import { runEvent } from "../../../lambdas/job/run/record/run-event.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { readEnd, readLog } from "../../../lambdas/job/storage/publication-log.ts";
import { realClock, settableClock } from "../../simulator/clocks.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { ACCOUNT, Sandbox } from "./sandbox.ts";
import { DAY_MS, SmallWorld } from "./small-world.ts";

let world: SmallWorld;

beforeEach(() => {
  world = new SmallWorld();
});

const MINUTE_MS = 60_000;
const keys = layout(ACCOUNT);

async function editPlan(world: SmallWorld, runId: string, edit: (header: Header) => object): Promise<void> {
  const stored = await world.store.read(keys.plan(runId));
  const [header = "", ...events] = gunzipSync(stored?.bytes ?? "")
    .toString()
    .split("\n");
  const edited = JSON.stringify(edit(JSON.parse(header)));
  world.store.put(keys.plan(runId), gzipSync([edited, ...events].join("\n")));
}
interface Header {
  readonly log_end: object;
}

/** A run that stops once its plan is made. */
async function planned(world: SmallWorld): Promise<string> {
  const before = new Set(world.store.keys(keys.runs));
  await world.crash("create runs/uk/");
  world.clock.advance(MINUTE_MS);
  return (
    world.store
      .keys(keys.runs)
      .find((key) => !before.has(key))
      ?.split("/")[2] ?? ""
  );
}

describe("a head in the future", () => {
  test("stops no run by hand or of a trigger, which are named by their own clock and publish over it [D16]", async () => {
    const head = await world.ahead(10 * DAY_MS, () => world.publish(5));
    world.show(6);

    const byHand = await world.run();
    const triggered = await world.run({ runId: "2026-01-01T00-05-00.000Z" });

    expect([byHand, triggered].map(({ row }) => row.outcome)).toEqual(["PUBLISHED", "PUBLISHED"]);
    expect((byHand.row.snapshot_id ?? "") < head).toBe(true);
    expect((await readLog(world.own)).map(({ base_snapshot_id }) => base_snapshot_id)).toEqual([
      null,
      head,
      byHand.row.snapshot_id,
    ]);
  });

  test.each([
    { minutes: 9, outcome: "SUPERSEDED" },
    { minutes: 11, outcome: "PUBLISHED" },
  ])("by $minutes minutes: a run that begins now ends as $outcome [D16]", async ({ minutes, outcome }) => {
    await world.ahead(minutes * MINUTE_MS, () => world.publish(5));

    expect((await world.run()).row.outcome).toBe(outcome);
  });

  test("that was there when a run was planned never supersedes it, also once its instant has come", async () => {
    await world.ahead(DAY_MS, () => world.publish(5));
    const runId = await planned(world);
    world.clock.advance(DAY_MS);

    expect((await world.run({ runId })).row).toMatchObject({ outcome: "PUBLISHED", run_id: runId });
  });

  test("that came later supersedes what was planned before, whatever clock resumes it", async () => {
    await world.publish(5);
    const runId = await planned(world);
    const head = await world.ahead(DAY_MS, async () => (await world.run({ fresh: true })).row.snapshot_id);

    const fetched = world.details;
    const byTrigger = await world.run({ runId });
    expect(world.details).toBe(fetched);
    const byHand = await world.run();

    expect(byTrigger.row).toMatchObject({ outcome: "SUPERSEDED", reason: "LATER_HEAD" });
    expect(byTrigger.explanation).toContain(`${head}, which is later than this run`);
    expect(byHand.row.run_id).not.toBe(runId);
    expect(byHand.row.outcome).toBe("PUBLISHED");
  });

  test.each([
    ["is not in the log any more", (end: object) => ({ ...end, write_id: "of-another-life" })],
    ["is not in the plan, which an earlier version made", () => undefined],
  ])("decides by its name where the end that the log had %s", async (_, change) => {
    await world.ahead(DAY_MS, () => world.publish(5));
    const runId = await planned(world);
    await editPlan(world, runId, ({ log_end: end, ...header }) => {
      const log_end = change(end);
      return log_end === undefined ? { ...header, trust_clock: true } : { ...header, log_end };
    });

    expect((await world.run({ runId })).row.outcome).toBe("SUPERSEDED");
  });

  test("an unfinished run that lies in the future is resumed like any other", async () => {
    await world.publish(5);
    const runId = await world.ahead(3 * DAY_MS, () => planned(world));

    expect((await world.run()).row).toMatchObject({ outcome: "PUBLISHED", run_id: runId });
  });

  test("hides no held snapshot, however far ahead the clock was", async () => {
    await world.ahead(100 * DAY_MS, () => world.publish(10));
    const held = await world.hold(3);

    const listed = await status(world.own, world.clock.now());

    expect(listed.held.map(({ snapshotId }) => snapshotId)).toEqual([held]);
    expect((await world.accept("held")).row).toMatchObject({ outcome: "PUBLISHED", snapshot_id: held });
  });

  test("does not make a held snapshot of a later run older, so accept needs no force", async () => {
    await world.ahead(10 * DAY_MS, () => world.publish(10));
    const held = await world.hold(3);

    expect((await world.accept("held")).row).toMatchObject({ outcome: "PUBLISHED", snapshot_id: held });
  });
});

describe("after a removal under a clock that was ahead or behind", () => {
  test.each([3 * DAY_MS, 12 * MINUTE_MS, -DAY_MS])(
    "by %i ms: runs, held snapshots and rollbacks of the new life count [D27]",
    async (byMs) => {
      await world.publish(5);
      await world.ahead(byMs, () => removeAccount(world.ports()));
      world.clock.advance(MINUTE_MS);

      const first = await world.publish(5);
      const second = await world.publish(6);
      const held = await world.hold(2);
      const accepted = await world.accept(held);
      const rolledBack = await world.rollback(first, false);

      expect([accepted, rolledBack].map(({ row }) => row.outcome)).toEqual(["PUBLISHED", "PUBLISHED"]);
      expect((await readLog(world.own)).map(({ snapshot_id }) => snapshot_id)).toEqual([
        first,
        second,
        held,
        first,
      ]);
    },
  );

  test.each([3 * DAY_MS, -DAY_MS])(
    "by %i ms: a start by hand resumes the unfinished run of the new life [D27]",
    async (byMs) => {
      await world.publish(5);
      await world.ahead(byMs, () => removeAccount(world.ports()));
      world.clock.advance(MINUTE_MS);
      const runId = await planned(world);

      const { row } = await world.run();

      expect(row).toMatchObject({ outcome: "PUBLISHED", run_id: runId });
    },
  );

  test.each([3 * DAY_MS, -DAY_MS])(
    "by %i ms: what was planned before it does not count, also where its files are still there [D27]",
    async (byMs) => {
      await world.publish(10);
      const held = await world.hold(2);
      world.show(10);
      const runId = await planned(world);
      const kept = await Promise.all(
        world.store
          .keys()
          .filter((key) => key.includes(runId) || key.startsWith(keys.snapshot(held)))
          .map(async (key) => [key, (await world.store.read(key))?.bytes ?? ""] as const),
      );
      await world.ahead(byMs, () => removeAccount(world.ports()));
      for (const [key, bytes] of kept) world.store.put(key, bytes);

      const resumed = await world.run({ runId });
      const byHand = await world.run();
      const accepted = await acceptOrRollback(world.ports(), {
        action: "accept",
        snapshotId: held,
        force: true,
      });

      expect(resumed.row.outcome).toBe("SUPERSEDED");
      expect(byHand.row.run_id).not.toBe(runId);
      expect(accepted.error).toMatchObject({
        code: "SNAPSHOT_NOT_FOUND",
        message: expect.stringContaining("was removed with its account"),
      });
    },
  );

  test("a trigger of before it starts no new life", async () => {
    await world.publish(5);
    world.clock.advance(2 * MINUTE_MS);
    await removeAccount(world.ports());

    const again = await world.run({ runId: "2026-01-01T00-01-00.000Z" });

    expect(again.row).toMatchObject({ outcome: "SUPERSEDED", reason: "LATER_HEAD" });
    expect((await readEnd(world.own)).head).toBeUndefined();
  });
});

describe("a clock that differs from the service's", () => {
  test.each([
    { aheadMs: 10 * DAY_MS, warns: true },
    { aheadMs: 11 * MINUTE_MS, warns: true },
    { aheadMs: 9 * MINUTE_MS, warns: false },
    { aheadMs: -9 * MINUTE_MS, warns: false },
    { aheadMs: -10 * DAY_MS, warns: true },
  ])(
    "by $aheadMs ms stops no run, and is said at once, at the end and in the notification: $warns",
    async ({ aheadMs, warns }) => {
      const clock = settableClock(realClock());
      await using sandbox = await Sandbox.start({ events: makeEvents(5), clock: realClock() }, {}, clock);
      clock.set(aheadMs);

      const result = await sandbox.run();

      const said = "This computer's clock shows";
      expect(result.row.outcome).toBe("PUBLISHED");
      expect(sandbox.log.text.split(said)).toHaveLength(warns ? 2 : 1);
      expect(result.explanation?.includes(said) ?? false).toBe(warns);
      const told = JSON.stringify(runEvent(ACCOUNT, result, "0000000001")?.detail);
      expect(told.includes(said)).toBe(warns);
    },
  );

  test("is said in the notification of a run that failed", async () => {
    const clock = settableClock(realClock());
    await using sandbox = await Sandbox.start({ events: makeEvents(5), clock: realClock() }, {}, clock);
    clock.set(DAY_MS);
    sandbox.credentials = { method: "session", email: "someone@example.test", password: "wrong" };

    const result = await sandbox.run();

    expect(result.row.outcome).toBe("FAILED");
    expect(runEvent(ACCOUNT, result, undefined)?.detail["explanation"]).toContain("This computer's clock");
  });
});
