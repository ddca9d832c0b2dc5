import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { publishedRun } from "../../../../../lambdas/job/run/record/published-run.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { type Publication, readHead } from "../../../../../lambdas/job/storage/publication-log.ts";
import { interposed } from "../../interposed-store.ts";
import { ACCOUNT, DAY_MS, SmallWorld } from "../../small-world.ts";

let world: SmallWorld;

beforeEach(() => {
  world = new SmallWorld();
});

/** Publishes as many events in this version and returns the snapshot. */
async function publish(count: number, version: number): Promise<string> {
  world.show(count, version);
  const { row } = await world.run();
  expect(row.outcome).toBe("PUBLISHED");
  return row.snapshot_id ?? "";
}

const partOf = (snapshotId: string): string => layout.part(ACCOUNT, snapshotId, 0);

async function edit(snapshotId: string, change: (text: string) => string): Promise<void> {
  const stored = await world.store.read(partOf(snapshotId));
  world.store.put(partOf(snapshotId), gzipSync(change(gunzipSync(stored?.bytes ?? "").toString())));
}

/** Rows that are whole, and not those that were published. */
const damage = (snapshotId: string): Promise<void> =>
  edit(snapshotId, (text) => text.replace('\\"version\\":', '\\"Version\\":'));

const head = async (): Promise<Publication | undefined> => readHead(world.store, ACCOUNT);

/** The rows of a snapshot with the changes of one publication applied. */
async function folded(
  from: ReadonlyMap<string, string>,
  publication: string,
): Promise<ReadonlyMap<string, string>> {
  const events = new Map(from);
  for (const line of await world.catalog.changesOf(ACCOUNT, publication)) {
    const { uuid, before, after } = JSON.parse(line);
    expect(events.get(uuid) ?? null).toBe(before);
    if (after === null) events.delete(uuid);
    else events.set(uuid, after);
  }
  return new Map([...events].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const COMMAND = "npm run sync -- run --over-damaged --account uk";

describe("a damaged head", () => {
  it.each<[string, (snapshotId: string) => Promise<void>]>([
    ["other rows", damage],
    ["a row that is no JSON", (id) => edit(id, (text) => text.replace('"uuid"', '"uuid'))],
    ["an event that is no JSON", (id) => edit(id, (text) => text.replace('{\\"uuid', '{\\"uu\\"id'))],
    ["rows out of order", (id) => edit(id, (text) => text.replace(/"uuid":"./, '"uuid":"z'))],
    ["a missing part", async (id) => world.store.delete(partOf(id))],
    ["a part that is no gzip", async (id) => world.store.put(partOf(id), "nonsense")],
  ])("ends a run and a rollback with the file's name and the remedy: %s", async (_, spoil) => {
    const first = await publish(10, 1);
    const second = await publish(10, 2);
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
      expect(error?.message).toContain(COMMAND);
      expect(error?.message).toContain('{"account": "uk", "overDamaged": true}');
    }
    expect((await head())?.snapshot_id).toBe(second);
  });

  it("is published over: the changes are those against the newest snapshot that is whole", async () => {
    const first = await publish(10, 1);
    const whole = await world.seen();
    const second = await publish(9, 2);
    await damage(second);
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
    expect(await head()).toMatchObject({ publication: "0000000003", action: "run", base_snapshot_id: first });
    expect(await world.seen()).toEqual(world.truth());
    expect(await folded(whole, "0000000003")).toEqual(world.truth());
    expect(world.log.text).toContain(
      `warn the snapshot ${second}, which readers see, is damaged (${partOf(second)})`,
    );

    world.show(12, 3);
    const next = await world.run();
    expect(next.row).toMatchObject({ outcome: "PUBLISHED", reason: null, added: 1, changed: 0 });
  });

  it("is published over with everything added where no snapshot is whole", async () => {
    const first = await publish(10, 1);
    const second = await publish(10, 2);
    await damage(first);
    await world.store.delete(layout.manifest(ACCOUNT, second));

    const { row } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", added: 10, changed: 0 });
    expect(await head()).toMatchObject({ base_snapshot_id: null });
    expect(await folded(new Map(), "0000000003")).toEqual(world.truth());
  });

  it.each<[string, (key: string) => Promise<void>]>([
    ["missing", (key) => world.store.delete(key)],
    ["no JSON", async (key) => world.store.put(key, "{")],
    ["not whole", async (key) => world.store.put(key, "{}")],
  ])("may be one whose manifest is %s", async (_, spoil) => {
    const first = await publish(10, 1);
    const second = await publish(10, 2);
    await spoil(layout.manifest(ACCOUNT, second));
    world.show(10, 3);

    const failed = await world.run();
    const { row } = await world.run({ overDamaged: true });

    expect(failed.error?.message).toContain(layout.manifest(ACCOUNT, second));
    expect(failed.error?.message).toContain(COMMAND);
    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", changed: 10 });
    expect(await head()).toMatchObject({ base_snapshot_id: first });
  });

  it("is not compared with a snapshot that is retired", async () => {
    world.settings = { ...world.settings, retainDays: 1 };
    const first = await publish(10, 1);
    world.clock.advance(3 * DAY_MS);
    const second = await publish(10, 2);
    world.clock.advance(2 * DAY_MS);
    const third = await publish(10, 3);
    expect(world.store.keys(layout.snapshot(ACCOUNT, first))).toContain(layout.retired(ACCOUNT, first));
    await damage(second);
    await damage(third);

    const { row } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({ reason: "DAMAGED_HEAD", added: 10 });
    expect(await head()).toMatchObject({ base_snapshot_id: null });
  });

  it("still counts for the guard, and what is held then can be accepted over it", async () => {
    const first = await publish(10, 1);
    const second = await publish(10, 2);
    await damage(second);
    world.show(5, 3);

    const { row } = await world.run({ overDamaged: true });
    const refused = await world.accept(row.snapshot_id);
    const accepted = await world.acceptOrRollback({
      action: "accept",
      snapshotId: row.snapshot_id ?? "",
      force: false,
      overDamaged: true,
    });

    expect(row).toMatchObject({ outcome: "HELD", reason: "DROPPED" });
    expect(refused.error?.message).toContain(partOf(second));
    expect(accepted.row).toMatchObject({
      outcome: "PUBLISHED",
      reason: "DAMAGED_HEAD",
      changed: 5,
      removed: 5,
    });
    expect(await head()).toMatchObject({ action: "accept", base_snapshot_id: first });
  });

  it("that is pinned is left by a rollback over it, without a request", async () => {
    const first = await publish(10, 1);
    await publish(10, 2);
    const third = await publish(10, 3);
    await world.rollback(third);
    await damage(third);
    const details = world.details;

    const { row } = await world.acceptOrRollback({
      action: "rollback",
      snapshotId: first,
      pin: false,
      overDamaged: true,
    });

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", changed: 10 });
    expect(world.details).toBe(details);
  });

  it("cannot be rolled back to", async () => {
    const first = await publish(10, 1);
    await publish(10, 2);
    await damage(first);

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

  it("is what a dry run is compared over too", async () => {
    await publish(10, 1);
    await damage(await publish(10, 2));
    world.show(10, 3);

    const { row } = await world.run({ overDamaged: true, dryRun: { limit: undefined } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", changed: 10 });
  });

  it("that a whole one has replaced before the commit does not count any more", async () => {
    await publish(10, 1);
    const second = await publish(10, 2);
    await damage(second);
    world.show(10, 3);
    let accepted = false;
    const store = interposed(world.store, async (key) => {
      if (accepted || !key.startsWith("changes/")) return;
      accepted = true; // a person publishes an older snapshot in the very moment of the commit
      const { row } = await world.acceptOrRollback({
        action: "rollback",
        snapshotId: await oldest(),
        pin: false,
        overDamaged: true,
      });
      expect(row.outcome).toBe("PUBLISHED");
    });

    const { row } = await world.run({ overDamaged: true }, { store });

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: null, changed: 10 });
    expect(await head()).toMatchObject({ publication: "0000000004", base_snapshot_id: await oldest() });
  });

  it("is also the reason of a run that crashed once it had published", async () => {
    await publish(10, 1);
    await damage(await publish(10, 2));
    const { row } = await world.run({ overDamaged: true });

    const end = await publishedRun(world.store, ACCOUNT, row.run_id);

    expect(end?.end).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD" });
  });
});

const oldest = async (): Promise<string> => world.catalog.log(ACCOUNT)[0]?.snapshot_id ?? "";

describe("--over-damaged", () => {
  it("changes nothing where the head is whole", async () => {
    const first = await publish(10, 1);
    await damage(first);
    const second = await publishUnder(10, 2, first);
    world.show(11, 2);

    const { row } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: null, added: 1, changed: 0 });
    expect(await head()).toMatchObject({ base_snapshot_id: second });
    expect(world.log.text).not.toContain("is damaged");
  });

  it("changes nothing before the first publication", async () => {
    world.show(10);

    const { row } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: null, added: 10 });
  });

  it("does not help against a damaged publication log", async () => {
    await publish(10, 1);
    world.store.put(layout.publication(ACCOUNT, "0000000001"), "nonsense\n");

    const { row, error } = await world.run({ overDamaged: true });

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
    expect(error?.message).toContain(layout.publication(ACCOUNT, "0000000001"));
    expect(error?.message).not.toContain("--over-damaged");
  });
});

/** Publishes while an older snapshot is damaged, which a run does not look at. */
async function publishUnder(count: number, version: number, older: string): Promise<string> {
  await restore(older);
  const second = await publish(count, version);
  await damage(older);
  return second;
}

const restore = (snapshotId: string): Promise<void> =>
  edit(snapshotId, (text) => text.replace('\\"Version\\":', '\\"version\\":'));
