import { beforeEach, describe, expect, it } from "vitest";
import { status } from "../../../../../lambdas/job/commands/status.ts";
import { heldSnapshots } from "../../../../../lambdas/job/run/publish/held-snapshots.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { ACCOUNT, DAY_MS, SmallWorld } from "../../small-world.ts";

let world: SmallWorld;

beforeEach(() => {
  world = new SmallWorld();
});

/** A head of ten events, and a snapshot of two that is held for it. */
async function heldSnapshot(): Promise<string> {
  await world.publish(10);
  return world.hold(2);
}

const markOf = (snapshotId: string): string => layout(ACCOUNT).held(snapshotId);
const heldNow = async () => (await status(world.own, world.clock.now())).held;

const DAMAGE = [
  ["not JSON", "{"],
  ["empty", ""],
  ["not a mark", "{}"],
] as const;

describe.each(DAMAGE)("a held mark that is %s", (_, content) => {
  it("still holds: status shows it, and its reason is lost", async () => {
    const snapshotId = await heldSnapshot();
    world.store.put(markOf(snapshotId), content);

    expect(await heldNow()).toMatchObject([{ snapshotId, reason: "MARK_DAMAGED" }]);
  });

  it("does not keep a person from accepting the snapshot", async () => {
    const snapshotId = await heldSnapshot();
    world.store.put(markOf(snapshotId), content);

    const { row } = await world.accept(snapshotId);

    expect(row).toMatchObject({ outcome: "PUBLISHED", removed: 8 });
  });

  it("holds its own run, even if nothing else would hold it", async () => {
    await world.publish(10);
    world.show(2);
    const runId = "2026-01-01T01-00-00.000Z";
    const first = await world.run({ runId });
    await world.store.delete([layout(ACCOUNT).outcome(runId)]); // as if it had crashed just before
    world.store.put(markOf(runId), content);
    world.settings = { ...world.settings, maxDropPercent: 100 };

    const second = await world.run({ runId });

    expect(first.row).toMatchObject({ outcome: "HELD", reason: "DROPPED" });
    expect(second.row).toMatchObject({ outcome: "HELD", reason: "MARK_DAMAGED" });
    expect(world.store.text(markOf(runId))).toBe(content);
  });
});

describe("a held mark that is whole", () => {
  it("stays as it is, whatever else it has", async () => {
    const snapshotId = await heldSnapshot();
    const mark = JSON.stringify({
      ...JSON.parse(world.store.text(markOf(snapshotId)) ?? ""),
      of_a_later_version: 1,
    });
    world.store.put(markOf(snapshotId), mark);

    expect(await heldNow()).toMatchObject([{ snapshotId, reason: "DROPPED" }]);
    await world.publish(10, 2);
    expect(world.store.text(markOf(snapshotId))).toBe(mark);
    expect(await heldSnapshots(world.own)).toMatchObject([{ snapshotId, reason: "DROPPED" }]);
  });
});

describe.each(DAMAGE)("a retired mark that is %s", (_, content) => {
  it("still says that the snapshot is retired, and is dated again with a day from now", async () => {
    world.settings = { ...world.settings, retainDays: 1 };
    const first = await world.publish(10);
    world.clock.advance(3 * DAY_MS);
    await world.publish(10, 2);
    world.clock.advance(DAY_MS + 1);
    await world.run();
    const mark = layout(ACCOUNT).retired(first);
    expect(world.store.text(mark)).toBeDefined();
    world.store.put(mark, content);
    world.clock.advance(2 * DAY_MS);

    const refused = await world.rollback(first);
    await world.run();
    const afterRun = world.store.keys(layout(ACCOUNT).snapshot(first));
    world.clock.advance(DAY_MS + 1);
    await world.run();

    expect(refused.row).toMatchObject({ error_code: "SNAPSHOT_NOT_FOUND" });
    expect(afterRun).toContain(layout(ACCOUNT).part(first, 0));
    expect(world.store.keys(layout(ACCOUNT).snapshot(first))).toEqual([mark]);
  });
});
