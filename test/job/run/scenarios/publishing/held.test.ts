// What holds a snapshot: what a person would not want readers to see, and what a setting switches on.

import { describe, expect, test } from "vitest";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { readHead } from "../../../../../lambdas/job/storage/publication-log.ts";
import { explained } from "../../../../../lambdas/words/ends.ts";
import { ANY_SHELL } from "../../../../../lambdas/words/style.ts";
import {
  customEvent,
  makeEvents,
  type SimulatedEvent,
  uuidOf,
} from "../../../../simulator/simulated-event.ts";
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

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "HELD", reason, added: null });
    const mark = sandbox.store.text(layout(ACCOUNT).held(row.snapshot_id ?? ""));
    expect(JSON.parse(mark ?? "")).toMatchObject({ reason });
    expect(sandbox.store.text(layout(ACCOUNT).manifest(row.snapshot_id ?? ""))).toBeDefined();
    expect(await readHead(sandbox.own)).toEqual(head);
    expect(await sandbox.events()).toEqual(before);
  });

  test("says how many events are missing for which reason, and lists them", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(20) });
    each(sandbox.simulator, 6, (uuid) => sandbox.simulator.restrict(uuid));

    const result = await sandbox.run();

    const { row } = result;
    const explanation = explained(result, ANY_SHELL);
    const key = layout(ACCOUNT).leftOut(row.snapshot_id ?? "");
    expect(row).toMatchObject({ outcome: "HELD", reason: "FEW_ROWS", forbidden: 6 });
    expect(explanation).toContain("Only 14 of 20 listed events have details: 6 forbidden (403).");
    const mark = JSON.parse(sandbox.store.text(layout(ACCOUNT).held(row.snapshot_id ?? "")) ?? "");
    expect(mark.explanation).toBe(result.explanation);
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
    expect(crept.explanation).toContain("(5 may, besides 10 accepted before)");
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

/** Of `count` events the first `lacking` have no brand: every second one none at all, the others null. */
function branded(count: number, lacking: number): readonly SimulatedEvent[] {
  return Array.from({ length: count }, (_, n) => {
    const brand = n < lacking ? (n % 2 === 0 ? "" : ',"brand":null') : ',"brand":{"name":"x"}';
    return customEvent(`branded ${n}`, `"date":"2026-01-01"${brand}`);
  });
}

const REQUIRE = ["/date", "/brand/name"];

describe("a run with required fields", () => {
  test("says what is lacking in how many, and is published when a person accepts it", async () => {
    await using sandbox = await Sandbox.start({ events: branded(20, 7) }, { require: REQUIRE });

    const held = await sandbox.run();
    const accepted = await sandbox.decide({
      action: "accept",
      snapshotId: held.row.run_id,
      force: false,
    });

    const says = "7 of 20 events lack a required field: /brand/name in 7. 5 may";
    expect(held.explanation).toContain(says);
    expect(sandbox.store.text(layout(ACCOUNT).held(held.row.run_id))).toContain(says);
    expect(accepted.row).toMatchObject({ outcome: "PUBLISHED", events: 20, added: 20 });
    expect(await sandbox.events()).toEqual(sandbox.truth());
  });

  test("counts what an earlier start fetched, which did not look for them, by its own settings", async () => {
    await using sandbox = await Sandbox.start(
      { events: branded(20, 20) },
      { rangeEvents: 4, concurrency: 1 },
    );
    const stopped = await sandbox.interrupt(15);
    sandbox.settings = { ...sandbox.settings, require: REQUIRE };

    const { row, explanation } = await sandbox.run();

    expect(stopped.row).toMatchObject({ outcome: "FAILED", error_code: "INTERRUPTED" });
    expect(row).toMatchObject({ run_id: stopped.row.run_id, outcome: "HELD", reason: "REQUIRED" });
    expect(explanation).toContain("/brand/name in 20");
    expect(sandbox.simulator.counts.detailsByUuid.get(uuidOf("branded 0"))).toBe(1);
  });

  test("says so without publishing, also of the first events alone", async () => {
    await using sandbox = await Sandbox.start({ events: branded(20, 20) }, { require: REQUIRE });

    const whole = await sandbox.run({ dryRun: { limit: undefined } });
    const part = await sandbox.run({ dryRun: { limit: 8 } });
    const few = await sandbox.run({ dryRun: { limit: 5 } });

    expect(whole.row).toMatchObject({ outcome: "DRY_RUN", reason: "REQUIRED" });
    expect(whole.explanation).toContain("It would be held: 20 of 20 events lack a required field");
    expect(part.row).toMatchObject({ outcome: "DRY_RUN", reason: "REQUIRED", events: 8 });
    expect(part.explanation).toContain(
      "A snapshot of these 8 events would be held: 8 of 8 events lack a required field",
    );
    expect(few.row).toMatchObject({ outcome: "DRY_RUN", reason: null, events: 5 });
  });
});

describe("a run with a limit of growth", () => {
  test("is held with more, and a dry run says so", async () => {
    await using sandbox = await Sandbox.start({ events: branded(10, 0) }, { maxGrowthPercent: 50 });
    await sandbox.run();
    sandbox.simulator.setEvents(branded(16, 0));

    const dry = await sandbox.run({ dryRun: { limit: undefined } });
    const { row } = await sandbox.run();

    expect(dry.row.reason).toBe("GREW");
    expect(row).toMatchObject({ outcome: "HELD", reason: "GREW", events: 16 });
  });
});
