import { describe, expect, test } from "vitest";
import { status } from "../../../lambdas/job/commands/status.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { ACCOUNT, DAY_MS, heldWorld, SmallWorld } from "../run/small-world.ts";

describe("status", () => {
  test("says which fields of the head's events are new", async () => {
    const world = new SmallWorld();
    await world.publish(3, 1);
    world.fieldOfNote = "colour";
    await world.run();

    const { fieldChanges } = await status(world.own, world.clock.now());

    expect(fieldChanges?.added.map(({ pointer, count }) => [pointer, count])).toEqual([["/colour", 3]]);
    expect(fieldChanges?.gone).toEqual([]);
  });

  test("shows the lease of an execution, which does not expire", async () => {
    const world = new SmallWorld();
    const execution = "arn:aws:states:eu-west-1:1:execution:m:uk-20260101T000000000Z-1";
    const at = "2020-01-01T00:00:00.000Z";
    const lease = {
      run_id: "run-1",
      holder: null,
      renewed_at: at,
      expires_at: null,
      execution,
      use: [],
      use_since: at,
    };
    world.store.put(layout(ACCOUNT).lease, JSON.stringify(lease));

    const found = await status(world.own, world.clock.now());

    expect(found.lease).toEqual({ run_id: "run-1", expires_at: null, execution });
  });

  test("says what is held and why, that the account is pinned, and the last attempts", async () => {
    const { world, first, held } = await heldWorld();
    await world.rollback(first);
    world.clock.advance(DAY_MS);

    const found = await status(world.own, world.clock.now());

    expect(found.head).toMatchObject({ snapshot_id: first, pinned: true });
    expect(found.held).toMatchObject([
      { snapshotId: held, reason: "DROPPED", explanation: expect.stringContaining("50.0 %") },
    ]);
    expect(found.runs.map(({ trigger, outcome }) => `${trigger} ${outcome}`)).toEqual([
      "rollback PUBLISHED",
      "manual HELD",
      "manual PUBLISHED",
      "manual PUBLISHED",
    ]);
  });

  test("names no held snapshot any more that is older than what readers see: it waits no more", async () => {
    const { world, held } = await heldWorld();
    const before = await status(world.own, world.clock.now());
    await world.publish(10, 9);

    const after = await status(world.own, world.clock.now());

    expect(before.held).toMatchObject([{ snapshotId: held }]);
    expect(after.held).toEqual([]);
  });

  test("shows what there is although the head's manifest is damaged", async () => {
    const world = new SmallWorld();
    await world.publish(10);
    const head = await world.publish(10, 2);
    world.store.put(layout(ACCOUNT).manifest(head), "{");

    const found = await status(world.own, world.clock.now());

    expect(found.head).toMatchObject({ snapshot_id: head });
    expect(found.fieldChanges).toBeUndefined();
  });
});
