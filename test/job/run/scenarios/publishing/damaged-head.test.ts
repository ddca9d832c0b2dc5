import { beforeEach, describe, expect, it } from "vitest";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { ACCOUNT } from "../../small-world.ts";
import { DamagedWorld, partOf } from "./damaged-world.ts";

let world: DamagedWorld;

beforeEach(() => {
  world = new DamagedWorld();
});

const REMEDY =
  "Or restart over the damage (--over-damaged; overDamaged in AWS); then all events count as added.";

describe("a damaged head", () => {
  it.each<[string, (snapshotId: string) => Promise<void>]>([
    ["other rows", (id) => world.damage(id)],
    ["a row that is no JSON", (id) => world.edit(id, (text) => text.replace('"uuid"', '"uuid'))],
    ["an event that is no JSON", (id) => world.edit(id, (text) => text.replace('{\\"uuid', '{\\"uu\\"id'))],
    ["rows out of order", (id) => world.edit(id, (text) => text.replace(/"uuid":"./, '"uuid":"z'))],
    ["a missing part", async (id) => world.store.delete(partOf(id))],
    ["a part that is no gzip", async (id) => world.store.put(partOf(id), "nonsense")],
  ])("ends a run and a rollback with the file's name and the remedy: %s", async (_, spoil) => {
    const first = await world.publish(10, 1);
    const second = await world.publish(10, 2);
    await spoil(second);
    world.show(10, 3);

    const results = [
      await world.run(),
      await world.rollback(first),
      await world.run({ dryRun: { limit: undefined } }),
    ];

    for (const { row, error } of results) {
      expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
      expect(error?.message).toContain(partOf(second));
      expect(error?.message).toContain(REMEDY);
      expect(row.error_message).toBe(error?.message);
    }
    expect((await world.head())?.snapshot_id).toBe(second);
  });

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
    expect(await world.folded(new Map(), "0000000003")).toEqual(world.truth());

    world.show(12, 3);
    const next = await world.run();
    expect(next.row).toMatchObject({ outcome: "PUBLISHED", reason: null, added: 1, changed: 0 });
    expect(next.explanation).toBeUndefined();
  });

  it.each<[string, (key: string) => Promise<void>]>([
    ["missing", (key) => world.store.delete(key)],
    ["no JSON", async (key) => world.store.put(key, "{")],
    ["not whole", async (key) => world.store.put(key, "{}")],
  ])("may be one whose manifest is %s", async (_, spoil) => {
    const second = await world.publish(10, 2);
    await spoil(layout(ACCOUNT).manifest(second));
    world.show(10, 3);

    const failed = await world.run();
    const { row } = await world.run({ overDamaged: true });

    expect(failed.error?.message).toContain(layout(ACCOUNT).manifest(second));
    expect(failed.error?.message).toContain(REMEDY);
    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", added: 10 });
    expect(await world.head()).toMatchObject({ base_snapshot_id: null });
  });
});
