import { describe, expect, test } from "vitest";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { readHead } from "../../../../../lambdas/job/storage/publication-log.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import type { Simulator } from "../../../../simulator/simulator.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";
import { SmallWorld } from "../../small-world.ts";

/** One hundred events are published; then `spoil` makes the service give worse data. */
async function heldRun(spoil: (simulator: Simulator) => void): Promise<Sandbox> {
  const sandbox = await Sandbox.start();
  await sandbox.run();
  spoil(sandbox.simulator);
  return sandbox;
}

/** Does something to the first `count` listed events. */
function each(simulator: Simulator, count: number, work: (uuid: string) => void): void {
  for (const { uuid } of simulator.listed().slice(0, count)) work(uuid);
}

describe("a snapshot that would replace good data by bad", () => {
  test.each<{ why: string; reason: string; spoil: (simulator: Simulator) => void }>([
    { why: "no events at all", reason: "NO_EVENTS", spoil: (s) => s.setEvents([]) },
    { why: "21 % fewer", reason: "DROPPED", spoil: (s) => each(s, 21, (uuid) => s.archive(uuid)) },
    { why: "6 of 100 missing", reason: "MISSING", spoil: (s) => each(s, 6, (uuid) => s.restrict(uuid)) },
    {
      why: "rows for under 80 % of the listed",
      reason: "FEW_ROWS",
      spoil: (s) => {
        s.setEvents(makeEvents(126));
        each(s, 26, (uuid) => s.vanish(uuid));
      },
    },
  ])("is held for $why, and the old one stays [D5]", async ({ reason, spoil }) => {
    await using sandbox = await heldRun(spoil);
    const before = await sandbox.events();
    const head = await readHead(sandbox.own);

    const { row, explanation } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "HELD", reason, added: null });
    expect(explanation).toContain("readers see what they saw before");
    const mark = sandbox.store.text(layout(ACCOUNT).held(row.snapshot_id ?? ""));
    expect(JSON.parse(mark ?? "")).toMatchObject({ reason });
    expect(sandbox.store.text(layout(ACCOUNT).manifest(row.snapshot_id ?? ""))).toBeDefined();
    expect(await readHead(sandbox.own)).toEqual(head);
    expect(await sandbox.events()).toEqual(before);
  });

  test("says how many events are missing for which reason, and where they are listed", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(20) });
    each(sandbox.simulator, 6, (uuid) => sandbox.simulator.restrict(uuid));

    const { row, explanation } = await sandbox.run();

    const key = layout(ACCOUNT).leftOut(row.snapshot_id ?? "");
    expect(row).toMatchObject({ outcome: "HELD", reason: "FEW_ROWS", forbidden: 6 });
    expect(explanation).toContain(
      "Missing: 6 forbidden (403). 30.0 % of the listed events are refused (403).",
    );
    expect(explanation).toContain(`${key} lists them with their reasons.`);
    const mark = JSON.parse(sandbox.store.text(layout(ACCOUNT).held(row.snapshot_id ?? "")) ?? "");
    expect(mark.explanation).toContain(key);
    expect(sandbox.store.text(key)?.match(/forbidden/g)).toHaveLength(6);
  });

  test("is not held again for the share that a person has accepted, however often it comes", async () => {
    const world = new SmallWorld();
    world.show(100);
    for (let n = 1; n <= 10; n += 1) world.gone.add(n);
    const held = await world.run();
    await world.accept(held.row.snapshot_id ?? "");

    const outcomes = [await world.run(), await world.run()].map(({ row }) => row.outcome);
    for (let n = 11; n <= 16; n += 1) world.gone.add(n);
    const crept = await world.run();

    expect(held.row).toMatchObject({ outcome: "HELD", reason: "MISSING" });
    expect(outcomes).toEqual(["PUBLISHED", "PUBLISHED"]);
    expect(crept.row).toMatchObject({ outcome: "HELD", reason: "MISSING", gone: 16 });
    expect(crept.explanation).toContain("5 may have none, in addition to the 10 that were accepted before");
  });

  test("stays held when its run is started again, with no request [D11]", async () => {
    await using sandbox = await heldRun((simulator) => simulator.setEvents([]));
    const runId = "2099-01-01T00-00-00.000Z";
    const first = await sandbox.run({ runId });
    sandbox.simulator.reset();

    const second = await sandbox.run({ runId });

    expect(second).toEqual({ ...first, isRepeat: true });
    expect(sandbox.simulator.counts.requests).toBe(0);
  });
});
