import { describe, expect, test } from "vitest";
import { FunctionWorld } from "./function-world.ts";
import { NEXT_DAY, RUN, SCHEDULED_AT } from "./instants.ts";

describe("a person's decision", () => {
  test("to accept a held snapshot publishes it under its own number", async () => {
    await using world = await FunctionWorld.start({ events: [] });
    const held = await world.invoke({ scheduledAt: SCHEDULED_AT });

    const accepted = await world.invoke({ action: "accept", snapshotId: RUN });

    expect(held).toMatchObject({ outcome: "HELD", reason: "NO_EVENTS" });
    expect(accepted).toMatchObject({ outcome: "PUBLISHED", snapshot_id: RUN, publication: "0000000001" });
    expect(world.events.map(({ detailType }) => detailType)).toEqual(["Snapshot Held", "Snapshot Published"]);
  });

  test("to roll back pins the older snapshot, except with pin: false", async () => {
    await using world = await FunctionWorld.start();
    await world.invoke({ scheduledAt: SCHEDULED_AT });
    await world.invoke({ scheduledAt: NEXT_DAY });

    await world.invoke({ action: "rollback", snapshotId: RUN });
    const pinned = world.catalog.head("uk");
    await world.invoke({ action: "rollback", snapshotId: RUN, pin: false });

    expect(pinned).toMatchObject({ action: "rollback", snapshot_id: RUN, pinned: true });
    expect(world.catalog.head("uk")).toMatchObject({ publication: "0000000004", pinned: false });
  });

  test("about a snapshot that does not exist fails, and raises no alarm", async () => {
    await using world = await FunctionWorld.start();

    await expect(world.invoke({ action: "accept", snapshotId: RUN })).rejects.toMatchObject({
      name: "SNAPSHOT_NOT_FOUND",
    });

    expect(world.events).toEqual([]);
    expect(world.metrics).toMatchObject([{ values: { Published: 0 } }]);
    expect(world.metrics[0]?.values).not.toHaveProperty("Failed");
  });
});
