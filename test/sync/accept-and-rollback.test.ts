import { describe, expect, test } from "vitest";
import { FunctionSandbox } from "./function-sandbox.ts";
import { NEXT_DAY, RUN, SCHEDULED_AT } from "./instants.ts";

describe("a person's decision", () => {
  test("to accept a held snapshot publishes it under its own number", async () => {
    await using sandbox = await FunctionSandbox.start({ events: [] });
    const held = await sandbox.invoke({ scheduledAt: SCHEDULED_AT });

    const accepted = await sandbox.invoke({ action: "accept", snapshotId: RUN });

    expect(held).toMatchObject({ outcome: "HELD", reason: "NO_EVENTS" });
    expect(accepted).toMatchObject({ outcome: "PUBLISHED", snapshot_id: RUN, publication: "0000000001" });
    expect(sandbox.events.map(({ detailType }) => detailType)).toEqual([
      "Run Started",
      "Snapshot Held",
      "Snapshot Published",
    ]);
  });

  test("to roll back pins the older snapshot, except with pin: false", async () => {
    await using sandbox = await FunctionSandbox.start();
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    await sandbox.invoke({ scheduledAt: NEXT_DAY });

    await sandbox.invoke({ action: "rollback", snapshotId: RUN });
    const pinned = sandbox.catalog.head("uk");
    await sandbox.invoke({ action: "rollback", snapshotId: RUN, pin: false });

    expect(pinned).toMatchObject({ action: "rollback", snapshot_id: RUN, pinned: true });
    expect(sandbox.catalog.head("uk")).toMatchObject({ publication: "0000000004", pinned: false });
  });

  test("to retire an older snapshot is taken with yes, and explained without", async () => {
    await using sandbox = await FunctionSandbox.start();
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    await sandbox.invoke({ scheduledAt: NEXT_DAY });

    const asked = await sandbox.invoke({ action: "retire", snapshotId: RUN });
    const shown = sandbox.catalog.snapshots("uk");
    const retired = await sandbox.invoke({ action: "retire", snapshotId: RUN, yes: true });

    expect(asked).toEqual({
      account: "uk",
      ok: false,
      explanation: expect.stringContaining(`would take the snapshot ${RUN} out of the tables`),
      retire_event: { action: "retire", account: "uk", snapshotId: RUN, yes: true },
    });
    expect(shown).toContain(RUN);
    expect(retired).toMatchObject({ account: "uk", ok: true });
    expect(sandbox.catalog.snapshots("uk")).not.toContain(RUN);
  });

  test("about a snapshot that does not exist fails, and raises no alarm", async () => {
    await using sandbox = await FunctionSandbox.start();

    await expect(sandbox.invoke({ action: "accept", snapshotId: RUN })).rejects.toMatchObject({
      name: "SNAPSHOT_NOT_FOUND",
    });

    expect(sandbox.events).toEqual([]);
    expect(sandbox.metrics.map(({ values }) => Object.keys(values))).toEqual([["DurationSeconds"]]);
  });
});
