// The parts of the guard that a setting switches on: required fields, and a limit of growth.

import { describe, expect, test } from "vitest";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { type SimulatedEvent, uuidOf } from "../../../../simulator/simulated-event.ts";
import { customEvent } from "../../custom-event.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

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

    const says =
      "7 of 20 events lack a required field (--require; require in AWS): /brand/name in 7. 5 may lack one";
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
