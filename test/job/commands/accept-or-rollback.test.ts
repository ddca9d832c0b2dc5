import { describe, expect, test } from "vitest";
import { status } from "../../../lambdas/job/commands/status.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { lastRuns } from "../../../lambdas/job/run/record/run-log.ts";
import type { RunResult } from "../../../lambdas/job/run/record/run-result.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { createRemoval, readLog } from "../../../lambdas/job/storage/publication-log.ts";
import { explained } from "../../../lambdas/words/ends.ts";
import { ANY_SHELL } from "../../../lambdas/words/style.ts";
import { said } from "../../words/said.ts";
import { interposedOnce, refusing } from "../run/interposed-store.ts";
import { ACCOUNT, type HeldWorld, heldWorld, type PortChanges } from "../run/small-world.ts";

describe("accept", () => {
  test("publishes a held snapshot without a request, with its changes against the present head", async () => {
    const { world, second, held } = await heldWorld();
    const details = world.details;

    const { row } = await world.accept(held);

    expect(row).toMatchObject({
      trigger: "accept",
      outcome: "PUBLISHED",
      snapshot_id: held,
      events: 5,
      added: 0,
      changed: 5,
      removed: 5,
      requests: null,
    });
    expect(await world.head()).toMatchObject({
      publication: "0000000003",
      action: "accept",
      snapshot_id: held,
      base_snapshot_id: second,
      pinned: false,
      run_id: row.run_id,
    });
    expect(await world.seen()).toEqual(world.truth());
    expect(world.details).toBe(details);
    expect((await status(world.own, world.clock.now())).held).toEqual([]);
  });

  test("takes an older snapshot only with force", async () => {
    const { world, first } = await heldWorld();

    const refused = await world.accept(first);
    const forced = await world.accept(first, true);

    expect(refused.row).toMatchObject({ outcome: "SUPERSEDED", reason: "LATER_HEAD" });
    expect(explained(refused, ANY_SHELL)).toContain(`accept ${first} --force`);
    expect(forced.row).toMatchObject({ outcome: "PUBLISHED", changed: 10 });
    expect((await world.head())?.snapshot_id).toBe(first);
  });
});

describe("accept held", () => {
  test("publishes the held snapshot that is later than the head, and says which", async () => {
    const { world, held } = await heldWorld();

    const { row } = await world.accept("held");

    expect(row).toMatchObject({ outcome: "PUBLISHED", snapshot_id: held });
    expect((await world.head())?.snapshot_id).toBe(held);
  });

  test("of several publishes none, and names them, the newest first", async () => {
    const { world, held } = await heldWorld();
    const newest = (await world.run()).row.snapshot_id;

    const { row, error } = await world.accept("held");

    expect(row.outcome).toBe("FAILED");
    expect(error).toMatchObject({
      code: "SNAPSHOT_NOT_FOUND",
      message: expect.stringContaining(`the newest first: ${newest}, ${held}.`),
    });
  });

  test("publishes none that is older than the head, also with force, and names them", async () => {
    const { world, held } = await heldWorld();
    await world.publish(10, 9);

    const { error } = await world.accept("held", true);

    expect(error).toMatchObject({
      code: "SNAPSHOT_NOT_FOUND",
      message: expect.stringContaining(`older than what readers see: ${held}.`),
    });
  });

  test("says that none is held", async () => {
    const { world } = await heldWorld();
    await world.accept("held");

    const { error } = await world.accept("held");

    expect(error).toMatchObject({
      code: "SNAPSHOT_NOT_FOUND",
      message: "No snapshot of the account uk is held.",
    });
  });
});

describe("rollback", () => {
  test("publishes an older snapshot and pins it: later runs are held until an accept [D12]", async () => {
    const { world, first } = await heldWorld();
    world.show(10, 4);

    const rolledBack = await world.rollback(first);
    const heldRun = await world.run();
    const accepted = await world.accept(heldRun.row.snapshot_id);
    world.show(10, 5);
    const next = await world.run();

    expect(rolledBack.row).toMatchObject({
      trigger: "rollback",
      outcome: "PUBLISHED",
      snapshot_id: first,
      changed: 10,
    });
    expect(heldRun.row).toMatchObject({ outcome: "HELD", reason: "PINNED" });
    expect(accepted.row).toMatchObject({ outcome: "PUBLISHED" });
    expect(next.row).toMatchObject({ outcome: "PUBLISHED" });
    expect((await readLog(world.own)).map(({ action, pinned }) => `${action} ${pinned}`)).toEqual([
      "run false",
      "run false",
      "rollback true",
      "accept false",
      "run false",
    ]);
  });

  test("of the head sets the pin, and accept of the head ends it, both without changes", async () => {
    const { world, second } = await heldWorld();

    const pinned = await world.rollback(second);
    const headPinned = await world.head();
    const ended = await world.accept(second);

    expect([pinned, ended].map(({ row }) => row.changed)).toEqual([0, 0]);
    expect(headPinned).toMatchObject({ snapshot_id: second, pinned: true });
    expect(await world.head()).toMatchObject({ snapshot_id: second, pinned: false });
  });
});

describe("accept or rollback is refused with the remedy", () => {
  test.each<{ what: string; says: string; act: (of: HeldWorld) => Promise<RunResult> }>([
    {
      what: "accept of an unknown id",
      says: "The ids are in the table publications",
      act: ({ world }) => world.accept("2020-01-01T00-00-00.000Z"),
    },
    {
      what: "accept of nonsense",
      says: "An id looks like",
      act: ({ world }) => world.accept("../../etc/passwd"),
    },
    {
      what: "rollback to the word held",
      says: "An id looks like",
      act: ({ world }) => world.rollback("held"),
    },
    {
      what: "rollback to a held one",
      says: "Publish it: accept ",
      act: ({ world, held }) => world.rollback(held),
    },
    {
      what: "accept of a retired one",
      says: "Start a run to make a new one",
      act: async ({ world, first }) => {
        const retired_at = new Date(world.clock.now()).toISOString();
        world.store.put(layout(ACCOUNT).retired(first), JSON.stringify({ retired_at }));
        return world.accept(first, true);
      },
    },
    {
      what: "rollback to a published one whose files are lost",
      says: "Restore them from a backup",
      act: async ({ world, first }) => {
        for (const key of world.store.keys(layout(ACCOUNT).snapshot(first))) await world.store.delete([key]);
        return world.rollback(first);
      },
    },
    {
      what: "accept of one whose run is not finished",
      says: "Start a run to finish it",
      act: async ({ world, held }) => {
        await world.store.delete([layout(ACCOUNT).held(held)]);
        return world.accept(held);
      },
    },
  ])("$what, and is no line of the run log", async ({ says, act }) => {
    const of = await heldWorld();
    const attempts = await lastRuns(of.world.own, 9, of.world.clock.now());
    const before = await readLog(of.world.own);

    const result = await act(of);

    const { row, error } = result;
    expect(row).toMatchObject({ outcome: "FAILED", error_code: "SNAPSHOT_NOT_FOUND" });
    expect(said(error)).toContain(says);
    expect(await lastRuns(of.world.own, 9, of.world.clock.now())).toEqual(attempts);
    expect(await readLog(of.world.own)).toEqual(before);
  });

  test("a snapshot of a removed account, also of the instant of the removal", async () => {
    const { world, held } = await heldWorld();
    await createRemoval(world.own, { runId: held, atMs: world.clock.now(), writeId: "removal" });

    const { error } = await world.accept(held);

    expect(error).toMatchObject({
      code: "SNAPSHOT_NOT_FOUND",
      message: expect.stringContaining("was removed with its account"),
    });
  });

  test("a snapshot whose account is removed meanwhile, which is a line of the run log with its counts", async () => {
    const { world, held } = await heldWorld();
    const removed = { runId: held, atMs: world.clock.now(), writeId: "removal" };
    const store = interposedOnce(world.store, "changes/", () => createRemoval(world.own, removed));

    const { row, error } = await world.acceptOrRollback(
      { action: "accept", snapshotId: held, force: false },
      { store },
    );

    expect(error?.message).toContain("was removed while the snapshot");
    expect(row).toMatchObject({ listed: 5, events: 5 });
    expect(await lastRuns(world.own, 1, world.clock.now())).toEqual([row]);
  });

  test.each<{ what: string; changes: (of: HeldWorld) => Promise<PortChanges> }>([
    {
      what: "the tables cannot be brought up to the log",
      changes: async () => {
        const refresh = (): Promise<void> => Promise.reject(new SyncError("CATALOG_FAILED", "down"));
        return { catalog: { refresh } };
      },
    },
    {
      what: "an earlier decision that could not be recorded still cannot be",
      changes: async ({ world, held }) => {
        const store = refusing(world.store, `run-log/${ACCOUNT}/`);
        await world.acceptOrRollback({ action: "accept", snapshotId: held, force: false }, { store });
        return { store: refusing(world.store, `run-log/${ACCOUNT}/${(await world.head())?.run_id}`) };
      },
    },
  ])("where $what, nothing is published", async ({ changes }) => {
    const of = await heldWorld();
    const changed = await changes(of);
    const before = await readLog(of.world.own);

    const { error } = await of.world.acceptOrRollback(
      { action: "rollback", snapshotId: of.first, pin: false },
      changed,
    );

    expect(error?.isRetryable).toBe(true);
    expect(await readLog(of.world.own)).toEqual(before);
  });

  test("a snapshot with a damaged manifest is not published, and the attempt is a line of the run log", async () => {
    const { world, held } = await heldWorld();
    world.store.put(layout(ACCOUNT).manifest(held), "nonsense");

    const { row, error } = await world.accept(held);

    expect(error?.code).toBe("STORE_CORRUPT");
    expect(await lastRuns(world.own, 1, world.clock.now())).toEqual([row]);
  });
});
