// What the function says about a held snapshot, wherever a person comes to it.

import { describe, expect, test } from "vitest";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { FunctionSandbox, NEXT_DAY, NEXT_RUN, RUN, SCHEDULED_AT } from "./function-sandbox.ts";

/** Readers see 100 events; the next day only 60 of them are listed. */
async function held(): Promise<{ sandbox: FunctionSandbox; response: object; removed: readonly string[] }> {
  const sandbox = await FunctionSandbox.start({ events: makeEvents(100) });
  await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
  const removed = sandbox.simulator
    .listed()
    .slice(0, 40)
    .map(({ uuid }) => uuid);
  for (const uuid of removed) sandbox.simulator.archive(uuid);
  return { sandbox, response: await sandbox.invoke({ scheduledAt: NEXT_DAY }), removed: removed.toSorted() };
}

describe("a held snapshot", () => {
  test("is described alike by the response, the status and the event", async () => {
    const { sandbox, response, removed } = await held();
    await using _ = sandbox;

    const status = await sandbox.invoke({ action: "status" });

    const { preview, accept_command, wait } = Object(response);
    const decision = {
      preview,
      diff_event: { action: "diff", account: "uk", snapshotId: NEXT_RUN },
      accept_event: { action: "accept", account: "uk", snapshotId: NEXT_RUN },
      accept_command,
      wait,
    };
    expect(preview).toMatchObject({
      base_snapshot_id: RUN,
      ...{ added: 0, changed: 0, removed: 40 },
      uuids: { removed: removed.slice(0, 10) },
    });
    expect(accept_command).toContain(JSON.stringify(decision.accept_event));
    expect(wait).toContain("The next run makes");
    expect(response).toMatchObject({ outcome: "HELD", reason: "DROPPED", ...decision });
    expect(status).toMatchObject({ held: [{ snapshotId: NEXT_RUN, reason: "DROPPED", ...decision }] });
    expect(sandbox.events.at(-1)).toMatchObject({
      detailType: "Snapshot Held",
      detail: { reason: "DROPPED", ...preview, accept_command, wait },
    });
  });

  test("is compared with what readers see by diff: counts, and the first hundred uuids of each kind", async () => {
    const { sandbox, response, removed } = await held();
    await using _ = sandbox;
    const requests = sandbox.simulator.counts.requests;

    const found = await sandbox.invoke(Object.entries(response).find(([key]) => key === "diff_event")?.[1]);
    const newest = await sandbox.invoke({ action: "diff", snapshotId: "held" });

    expect(found).toEqual({
      account: "uk",
      a: NEXT_RUN,
      b: RUN,
      reasons: { not_listed: 40 },
      added: 0,
      changed: 0,
      removed: 40,
      uuids: { added: [], changed: [], removed },
    });
    expect(newest).toEqual(found);
    expect(sandbox.simulator.counts.requests).toBe(requests);
  });

  test("diff needs a snapshot that is there", async () => {
    await using sandbox = await FunctionSandbox.start();

    await expect(sandbox.invoke({ action: "diff" })).rejects.toMatchObject({ name: "CONFIG_INVALID" });
    await expect(sandbox.invoke({ action: "diff", snapshotId: RUN })).rejects.toMatchObject({
      name: "SNAPSHOT_NOT_FOUND",
    });
    expect(sandbox.events).toEqual([]);
    expect(sandbox.metrics).toEqual([]);
  });
});

describe("a person's decision", () => {
  test("to accept a held snapshot publishes it under its own number", async () => {
    await using sandbox = await FunctionSandbox.start({ events: [] });
    const held = await sandbox.invoke({ scheduledAt: SCHEDULED_AT });

    const accepted = await sandbox.invoke({ action: "accept", snapshotId: RUN });

    expect(held).toMatchObject({ outcome: "HELD", reason: "NO_EVENTS" });
    expect(accepted).toMatchObject({ outcome: "PUBLISHED", snapshot_id: RUN, publication: "0000000001" });
    expect(accepted).not.toHaveProperty("undo_event");
    expect(sandbox.events.map(({ detailType }) => detailType)).toEqual([
      "Run Started",
      "Snapshot Held",
      "Snapshot Published",
    ]);
  });

  test("to accept a held snapshot has an undo, which pins what was before no more than it was", async () => {
    const { sandbox } = await held();
    await using _ = sandbox;

    const accepted = await sandbox.invoke({ action: "accept", snapshotId: NEXT_RUN });

    expect(accepted).toMatchObject({
      outcome: "PUBLISHED",
      undo_event: { action: "rollback", account: "uk", snapshotId: RUN, pin: false },
    });
  });

  test("to accept over damaged files has no undo: what readers saw is gone", async () => {
    const { sandbox } = await held();
    await using _ = sandbox;
    await sandbox.store.delete([layout("uk").part(RUN, 0)]);

    const accepted = await sandbox.invoke({ action: "accept", snapshotId: NEXT_RUN, overDamaged: true });

    expect(accepted).toMatchObject({ outcome: "PUBLISHED", counts: { added: 60 } });
    expect(accepted).not.toHaveProperty("undo_event");
  });

  test("to roll back pins the older snapshot, except with pin: false", async () => {
    await using sandbox = await FunctionSandbox.start();
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    await sandbox.invoke({ scheduledAt: NEXT_DAY });

    const rolledBack = await sandbox.invoke({ action: "rollback", snapshotId: RUN });
    const pinned = sandbox.catalog.head("uk");
    const unpinned = await sandbox.invoke({ action: "rollback", snapshotId: RUN, pin: false });

    const undo = { action: "rollback", account: "uk", snapshotId: NEXT_RUN, pin: false };
    expect(rolledBack).toMatchObject({
      undo_event: undo,
      undo_command: expect.stringContaining(JSON.stringify(undo)),
    });
    expect(unpinned).toMatchObject({ undo_event: { action: "rollback", account: "uk", snapshotId: RUN } });

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
