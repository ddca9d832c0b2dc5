import { beforeEach, describe, expect, it } from "vitest";
import { findDamage } from "../../../../../lambdas/job/commands/check.ts";
import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import { publishedRun } from "../../../../../lambdas/job/run/record/published-run.ts";
import type { RunResult } from "../../../../../lambdas/job/run/record/run-result.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { type AccountStore, accountStore, type Store } from "../../../../../lambdas/job/storage/store.ts";
import { explained } from "../../../../../lambdas/words/ends.ts";
import { ANY_SHELL } from "../../../../../lambdas/words/style.ts";
import { said } from "../../../../words/said.ts";
import { CrashPoint } from "../../crash.ts";
import { ACCOUNT, partOf, SmallWorld } from "../../small-world.ts";

let world: SmallWorld;

beforeEach(() => {
  world = new SmallWorld();
});

const REMEDY = "Or restart over the damage; then all events count as added: run --over-damaged.";

/** The rows of no snapshot with the changes of one publication applied. */
async function changesOf(publication: string): Promise<ReadonlyMap<string, string>> {
  const events = new Map<string, string>();
  for (const line of await world.catalog.changesOf(ACCOUNT, publication)) {
    const { uuid, before, after } = JSON.parse(line);
    expect(before).toBeNull();
    events.set(uuid, after);
  }
  return new Map([...events].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

describe("a damaged head", () => {
  it.each<[string, (snapshotId: string) => Promise<void>]>([
    ["other rows", (id) => world.damage(id)],
    ["a row that is no JSON", (id) => world.edit(id, (text) => text.replace('"uuid"', '"uuid'))],
    ["an event that is no JSON", (id) => world.edit(id, (text) => text.replace('{\\"uuid', '{\\"uu\\"id'))],
    ["rows out of order", (id) => world.edit(id, (text) => text.replace(/"uuid":"./, '"uuid":"z'))],
    ["a missing part", async (id) => world.store.delete([partOf(id)])],
    ["a part that is no gzip", async (id) => world.store.put(partOf(id), "nonsense")],
  ])(
    "ends a run, though no event has changed, and a rollback with the file's name and the remedy: %s",
    async (_, spoil) => {
      const first = await world.publish(10, 1);
      const second = await world.publish(10, 2);
      await spoil(second);

      const results = [
        await world.run(),
        await world.rollback(first),
        await world.run({ dryRun: { limit: undefined } }),
      ];

      for (const { row, error } of results) {
        expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
        expect(error?.message).toContain(partOf(second));
        expect(said(error)).toContain(REMEDY);
        expect(row.error_message).toBe(error?.message);
      }
      expect((await world.head())?.snapshot_id).toBe(second);
    },
  );

  it("is published over by a restart: every event is added, and folding begins again [D15]", async () => {
    await world.publish(10, 1);
    const second = await world.publish(9, 2);
    await world.damage(second);
    world.show(11, 3);

    const { row, explanation } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({
      outcome: "PUBLISHED",
      reason: "DAMAGED_HEAD",
      added: 11,
      changed: 0,
      removed: 0,
    });
    expect(explanation).toContain("restart: all 11 events count as added");
    expect(await world.head()).toMatchObject({
      publication: "0000000003",
      action: "run",
      base_snapshot_id: null,
    });
    expect(await world.seen()).toEqual(world.truth());
    expect(await changesOf("0000000003")).toEqual(world.truth());

    world.show(12, 3);
    const next = await world.run();
    expect(next.row).toMatchObject({ outcome: "PUBLISHED", reason: null, added: 1, changed: 0 });
    expect(next.explanation).toBeUndefined();
  });

  it.each<[string, (key: string) => Promise<void>]>([
    ["missing", (key) => world.store.delete([key])],
    ["no JSON", async (key) => world.store.put(key, "{")],
    ["not whole", async (key) => world.store.put(key, "{}")],
  ])("may be one whose manifest is %s", async (_, spoil) => {
    const second = await world.publish(10, 2);
    await spoil(layout(ACCOUNT).manifest(second));
    world.show(10, 3);

    const failed = await world.run();
    const { row } = await world.run({ overDamaged: true });

    expect(failed.error?.message).toContain(layout(ACCOUNT).manifest(second));
    expect(said(failed.error)).toContain(REMEDY);
    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", added: 10 });
    expect(await world.head()).toMatchObject({ base_snapshot_id: null });
  });
});

describe("a damaged head that is published over", () => {
  it("still counts for the guard, and what is held then can be accepted over it", async () => {
    const second = await world.publish(10, 2);
    await world.damage(second);
    world.show(5, 3);

    const result = await world.run({ overDamaged: true });
    const { row, preview } = result;
    const refused = await world.accept(row.snapshot_id);
    const accepted = await world.acceptOrRollback({
      action: "accept",
      snapshotId: row.snapshot_id ?? "",
      force: false,
      overDamaged: true,
    });

    expect(row).toMatchObject({ outcome: "HELD", reason: "DROPPED" });
    expect(explained(result, ANY_SHELL)).toContain(
      `accept ${row.snapshot_id} --over-damaged is a restart: all 5 events count as added.`,
    );
    expect(preview).toMatchObject({ base_snapshot_id: second, added: null });
    expect(refused.error?.message).toContain(partOf(second));
    expect(accepted.row).toMatchObject({
      outcome: "PUBLISHED",
      reason: "DAMAGED_HEAD",
      added: 5,
      removed: 0,
    });
    expect(await world.head()).toMatchObject({ action: "accept", base_snapshot_id: null });
  });

  it("that is pinned is left by a rollback over it, without a request", async () => {
    const first = await world.publish(10, 1);
    await world.publish(10, 2);
    const third = await world.publish(10, 3);
    await world.rollback(third);
    await world.damage(third);
    const details = world.details;

    const { row } = await world.acceptOrRollback({
      action: "rollback",
      snapshotId: first,
      pin: false,
      overDamaged: true,
    });

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", added: 10 });
    expect(world.details).toBe(details);
  });

  it("cannot be rolled back to", async () => {
    const first = await world.publish(10, 1);
    await world.publish(10, 2);
    await world.damage(first);

    const { row, error } = await world.acceptOrRollback({
      action: "rollback",
      snapshotId: first,
      pin: true,
      overDamaged: true,
    });

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
    expect(error?.message).toContain(partOf(first));
    expect(error?.message).not.toContain("--over-damaged");
  });

  it("is not named where the snapshot that a person accepts is the damaged one", async () => {
    await world.publish(10, 1);
    const held = await world.hold(2);
    await world.damage(held);

    const { error } = await world.accept(held);

    expect(error?.message).toContain(partOf(held));
    expect(error?.message).not.toContain("--over-damaged");
  });

  it("is not looked for any further once a dry run is stopped", async () => {
    world.settings = { ...world.settings, rangeEvents: 5 };
    const head = await world.publish(10, 1);
    const [first, second] = [0, 1].map((index) => layout(ACCOUNT).part(head, index));
    world.store.put(second ?? "", "nonsense");
    const stop = new AbortController();
    const opened: string[] = [];
    const open: Store["open"] = (key) => {
      if (opened.includes(key)) stop.abort(new SyncError("INTERRUPTED", "The job was stopped."));
      opened.push(key);
      return world.store.open(key);
    };
    const store = { ...accountStore(world.store, ACCOUNT), open };

    const { row } = await world.run({ dryRun: { limit: undefined } }, { store, signal: stop.signal });

    expect(row).toMatchObject({ error_code: "INTERRUPTED" });
    expect(opened.filter((key) => key.startsWith("snapshots/"))).toEqual([first, second, first]);
  });

  it("is what a dry run is compared over too", async () => {
    await world.publish(10, 1);
    await world.damage(await world.publish(10, 2));
    world.show(10, 3);

    const { row } = await world.run({ overDamaged: true, dryRun: { limit: undefined } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", added: 10, changed: 0 });
  });

  it("is also the reason of a run that crashed once it had published", async () => {
    await world.publish(10, 1);
    await world.damage(await world.publish(10, 2));
    const { row } = await world.run({ overDamaged: true });

    const end = await publishedRun(world.own, row.run_id);

    expect(end?.end).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD" });
  });
});

describe("--over-damaged", () => {
  const restart = (action: "run" | "accept" | "rollback", snapshotId: string): Promise<RunResult> => {
    if (action === "run") return world.run({ overDamaged: true });
    const decision = action === "accept" ? { action, force: true } : { action, pin: true };
    return world.acceptOrRollback({ ...decision, snapshotId, overDamaged: true });
  };

  it.each(["run", "accept", "rollback"] as const)(
    "restarts with %s over a whole head too",
    async (action) => {
      const first = await world.publish(10, 1);
      const second = await world.publish(10, 2);

      const { row, explanation } = await restart(action, first);

      expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", added: 10, changed: 0 });
      expect(explanation).toMatch(/^restart: all 10 events count as added\./);
      expect(await world.head()).toMatchObject({ publication: "0000000003", base_snapshot_id: null });
      expect(world.catalog.log(ACCOUNT).map((each) => each.base_snapshot_id)).toEqual([null, first, null]);
      expect((await world.head())?.snapshot_id === second).toBe(false);
    },
  );

  it.each(["run", "accept", "rollback"] as const)(
    "publishes nothing with %s over a head of a later version, which is not damaged: the program is to be upgraded",
    async (action) => {
      const first = await world.publish(10, 1);
      const second = await world.publish(10, 2);
      await world.store.put(layout(ACCOUNT).manifest(second), JSON.stringify({ version: 2 }));

      const { row, error } = await restart(action, first);

      expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_FAILED" });
      expect(said(error)).toContain("written by a later version of this program. Upgrade this one");
      expect(await world.head()).toMatchObject({ snapshot_id: second });
    },
  );

  it("says of a held snapshot, whose head is whole, what publishing it would change", async () => {
    const head = await world.publish(10, 1);
    world.show(5, 2);

    const { preview } = await world.run({ overDamaged: true });

    expect(preview).toMatchObject({ base_snapshot_id: head, added: 0, changed: 5, removed: 5 });
  });

  // Its changes have the names that those of a restart would have, and other rows.
  it("does not continue a run that began without it, and says so", async () => {
    await world.publish(10, 1);
    world.show(10, 2);
    const dead = await world.crash("create changes/");

    const { row } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", added: 10 });
    expect(row.run_id).not.toBe(dead);
    expect(world.log.text).toContain(`the run ${dead} was begun as no restart`);
    expect(world.log.text).toContain("a run that is none continues its 10 of 10 events");
  });

  it.each([undefined, true])("is continued by a start whose own is %s, and stays a restart", async (own) => {
    await world.publish(10, 1);
    const dead = await world.crash("_manifest.json", { overDamaged: true });

    const { row } = await world.run({ overDamaged: own });

    expect(row).toMatchObject({ run_id: dead, reason: "DAMAGED_HEAD", added: 10 });
  });

  describe("beside another decision about the same snapshot", () => {
    let decision: { readonly action: "accept"; readonly snapshotId: string; readonly force: true };
    beforeEach(async () => {
      decision = { action: "accept", snapshotId: await world.publish(10, 1), force: true };
    });
    const restart = () => world.acceptOrRollback({ ...decision, overDamaged: true });
    const stopped = async (): Promise<void> => {
      const point = new CrashPoint("create changes/", "after");
      const dead = world.acceptOrRollback({ ...decision, overDamaged: true }, point.wrap(world.ports()));
      await expect(dead).rejects.toThrow("the process");
    };
    /** A store whose process is overtaken right before it creates such a file, or lists such a folder, for the first time. */
    const beside = (key: string, overtake: () => Promise<unknown>): AccountStore => {
      const store = accountStore(world.store, ACCOUNT);
      let isOvertaken = false;
      const overtakenAt = async (path: string): Promise<void> => {
        if (isOvertaken || !path.startsWith(key)) return;
        isOvertaken = true;
        await overtake();
      };
      return {
        ...store,
        create: async (path, body) => {
          await overtakenAt(path);
          return store.create(path, body);
        },
        async *list(prefix, after) {
          await overtakenAt(prefix);
          yield* store.list(prefix, after);
        },
      };
    };

    it.each([
      ["before it begins", "publications/"],
      ["when it is about to publish", "publications/uk/0000000002"],
    ])("that changes nothing, what a restart that is stopped leaves does not count: %s", async (_, key) => {
      const { row } = await world.acceptOrRollback(decision, { store: beside(key, stopped) });

      expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0 });
      const left = layout(ACCOUNT).changesPart("0000000002", decision.snapshotId, 0);
      expect(await world.store.read(left)).toBeDefined();
      expect(await world.catalog.changesOf(ACCOUNT, "0000000002")).toEqual([]);
      expect(await findDamage(world.ports(), true)).toEqual([]);
    });

    it("that has changes, those that it left are named", async () => {
      await world.publish(10, 2);
      await stopped();

      const { row, error } = await world.acceptOrRollback(decision);

      expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
      const part = layout(ACCOUNT).changesPart("0000000003", decision.snapshotId, 0);
      expect(error?.message).toContain(`The file ${part} is damaged`);
      expect(world.catalog.log(ACCOUNT)).toHaveLength(2);
      expect((await restart()).row).toMatchObject({ outcome: "PUBLISHED", added: 10 });
    });

    it("that has changes, what it left behind their last file is named", async () => {
      await world.publish(10, 2);
      await stopped();
      const [first, second] = [0, 1].map((index) =>
        layout(ACCOUNT).changesPart("0000000003", decision.snapshotId, index),
      );
      await world.store.copy(first ?? "", second ?? "");
      await world.store.delete([first ?? ""]);

      const { error } = await world.acceptOrRollback(decision);

      expect(said(error)).toBe(
        `The file ${second} is damaged: readers take it for a part, but it is not one of those that were written. Move it out of the warehouse.`,
      );
      expect(world.catalog.log(ACCOUNT)).toHaveLength(2);
    });

    it.each([
      ["its second file", "changes/uk/0000000003/2026-01-01T00-00-00.001Z/part-00001"],
      ["its publication", "publications/uk/0000000003"],
    ])(
      "that adds only what the restart adds first, none of its other files counts: before %s",
      async (_, key) => {
        world = new SmallWorld({ rangeEvents: 5 });
        for (let n = 1; n <= 10; n += 1) world.events.set(n, n);
        const sorted = [...world.truth().values()].map((text): number => JSON.parse(text).version);
        const { row } = await world.run();
        for (const n of sorted.slice(0, 5)) world.events.delete(n);
        await world.accept((await world.run()).row.run_id);
        decision = { ...decision, snapshotId: row.run_id };

        const store = beside(key, () => world.acceptOrRollback(decision));
        const restarted = await world.acceptOrRollback({ ...decision, overDamaged: true }, { store });

        expect(restarted.row).toMatchObject({ outcome: "PUBLISHED", added: 10 });
        expect(await findDamage(world.ports(), true)).toEqual([]);
      },
    );

    it("that fails for another reason, is not told that it has lost the race", async () => {
      await world.publish(10, 2);
      const store = beside("changes/uk/0000000003", async () => {
        await restart();
        throw new SyncError("STORE_FAILED", "the disk is full");
      });

      const { row } = await world.acceptOrRollback(decision, { store });

      expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_FAILED" });
    });

    it.each([
      ["the first file of changes", "changes/uk/0000000003", ["PUBLISHED", 0, 4]],
      ["the publication", "publications/uk/0000000003", ["PUBLISHED", 10, 3]],
    ] as const)("that has changes, the first to write goes on: before %s", async (_, key, expected) => {
      await world.publish(10, 2);

      const { row } = await world.acceptOrRollback(decision, { store: beside(key, restart) });

      expect([row.outcome, row.changed, world.catalog.log(ACCOUNT).length]).toEqual(expected);
      expect(await findDamage(world.ports(), true)).toEqual([]);
    });
  });

  it("changes nothing before the first publication", async () => {
    world.show(10);

    const { row } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: null, added: 10 });
  });

  it("does not help against a damaged publication log", async () => {
    await world.publish(10, 1);
    world.store.put(layout(ACCOUNT).publication("0000000001"), "nonsense\n");

    const { row, error } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
    expect(error?.message).toContain(layout(ACCOUNT).publication("0000000001"));
    expect(error?.message).not.toContain("--over-damaged");
  });
});
