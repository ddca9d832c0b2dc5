import { beforeEach, describe, expect, it } from "vitest";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { ACCOUNT, DAY_MS } from "../../small-world.ts";
import { DamagedWorld, partOf } from "./damaged-world.ts";

let world: DamagedWorld;

beforeEach(() => {
  world = new DamagedWorld();
});

const REMEDY = 'start a run with --over-damaged (in AWS {"account": "uk", "overDamaged": true})';

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
      expect(error?.message).toContain('{"account": "uk", "overDamaged": true}');
    }
    expect((await world.head())?.snapshot_id).toBe(second);
  });

  it("is published over: the changes are those against the newest snapshot that is whole [D15]", async () => {
    const first = await world.publish(10, 1);
    const whole = await world.seen();
    const second = await world.publish(9, 2);
    await world.damage(second);
    world.show(11, 3);

    const { row, explanation } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({
      outcome: "PUBLISHED",
      reason: "DAMAGED_HEAD",
      added: 1,
      changed: 10,
      removed: 0,
    });
    expect(explanation).toContain(`against ${first}`);
    expect(await world.head()).toMatchObject({
      publication: "0000000003",
      action: "run",
      base_snapshot_id: first,
    });
    expect(await world.seen()).toEqual(world.truth());
    expect(await world.folded(whole, "0000000003")).toEqual(world.truth());
    expect(world.log.text).toContain(
      `warn the snapshot ${second}, which readers see, is damaged (${partOf(second)})`,
    );

    world.show(12, 3);
    const next = await world.run();
    expect(next.row).toMatchObject({ outcome: "PUBLISHED", reason: null, added: 1, changed: 0 });
  });

  it("is published over with everything added where no snapshot is whole", async () => {
    const first = await world.publish(10, 1);
    const second = await world.publish(10, 2);
    await world.damage(first);
    await world.store.delete(layout(ACCOUNT).manifest(second));

    const { row } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", added: 10, changed: 0 });
    expect(await world.head()).toMatchObject({ base_snapshot_id: null });
    expect(await world.folded(new Map(), "0000000003")).toEqual(world.truth());
  });

  it.each<[string, (key: string) => Promise<void>]>([
    ["missing", (key) => world.store.delete(key)],
    ["no JSON", async (key) => world.store.put(key, "{")],
    ["not whole", async (key) => world.store.put(key, "{}")],
  ])("may be one whose manifest is %s", async (_, spoil) => {
    const first = await world.publish(10, 1);
    const second = await world.publish(10, 2);
    await spoil(layout(ACCOUNT).manifest(second));
    world.show(10, 3);

    const failed = await world.run();
    const { row } = await world.run({ overDamaged: true });

    expect(failed.error?.message).toContain(layout(ACCOUNT).manifest(second));
    expect(failed.error?.message).toContain(REMEDY);
    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", changed: 10 });
    expect(await world.head()).toMatchObject({ base_snapshot_id: first });
  });

  it("is not compared with a restored one that was published over itself", async () => {
    const first = await world.publish(10, 1);
    const second = await world.publish(10, 2);
    await world.damage(second);
    world.show(10, 3);
    const third = (await world.run({ overDamaged: true })).row.snapshot_id ?? "";
    await world.restore(second);
    await world.damage(third);

    await world.run({ overDamaged: true });

    expect(await world.head()).toMatchObject({ publication: "0000000004", base_snapshot_id: first });
  });

  it("is not compared with one that was published again since, and published over then", async () => {
    const first = await world.publish(10, 1);
    const second = await world.publish(10, 2);
    await world.rollback(first, false);
    await world.damage(first);
    world.show(10, 4);
    const fourth = (await world.run({ overDamaged: true })).row.snapshot_id ?? "";
    await world.restore(first);
    await world.damage(second);
    await world.damage(fourth);

    await world.run({ overDamaged: true });

    expect(world.catalog.log(ACCOUNT).map((each) => each.base_snapshot_id)).toEqual([
      null,
      first,
      second,
      second,
      null,
    ]);
  });

  it("is not compared with a snapshot that is retired", async () => {
    world.settings = { ...world.settings, retainDays: 1 };
    const first = await world.publish(10, 1);
    world.clock.advance(3 * DAY_MS);
    const second = await world.publish(10, 2);
    world.clock.advance(2 * DAY_MS);
    const third = await world.publish(10, 3);
    expect(world.store.keys(layout(ACCOUNT).snapshot(first))).toContain(layout(ACCOUNT).retired(first));
    await world.damage(second);
    await world.damage(third);

    const { row } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({ reason: "DAMAGED_HEAD", added: 10 });
    expect(await world.head()).toMatchObject({ base_snapshot_id: null });
  });
});
