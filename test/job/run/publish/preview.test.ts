// What the mark of a held snapshot says about publishing it.

import { describe, expect, test } from "vitest";
import { heldSnapshots } from "../../../../lambdas/job/run/publish/held-snapshots.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { interposed } from "../interposed-store.ts";
import { ACCOUNT, Sandbox } from "../sandbox.ts";
import { SmallWorld } from "../small-world.ts";

const CHANGES = { added: [], changed: [], removed: [] };
const NONE = { ...CHANGES, gone: [], forbidden: [], oversize: [], too_deep: [], unreadable: [] };

function markOf(store: Sandbox["store"], snapshotId: string): Record<string, unknown> {
  return JSON.parse(store.text(layout(ACCOUNT).held(snapshotId)) ?? "{}");
}

describe("the preview of a held snapshot", () => {
  test("has the changes against the head, what is missing by reason, and the first ten uuids of each", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(100) });
    const first = await sandbox.run();
    const { simulator } = sandbox;
    const uuids = simulator.listed().map(({ uuid }) => uuid);
    const sorted = uuids.toSorted();
    for (const uuid of sorted.slice(0, 12)) simulator.archive(uuid);
    for (const uuid of sorted.slice(12, 23)) simulator.restrict(uuid);
    for (const uuid of sorted.slice(23, 26)) simulator.vanish(uuid);
    const extra = makeEvents(110, { seed: 0 }).slice(100);
    for (const event of extra) simulator.add(event);

    const { row, preview } = await sandbox.run();

    const expected = {
      base_snapshot_id: first.row.run_id,
      added: 10,
      changed: 0,
      removed: 26,
      gone: 3,
      forbidden: 11,
      rejected: 0,
      oversize: 0,
      too_deep: 0,
      unreadable: 0,
      uuids: {
        ...NONE,
        added: extra.map(({ uuid }) => uuid).toSorted(),
        removed: sorted.slice(0, 10),
        gone: sorted.slice(23, 26),
        forbidden: sorted.slice(12, 22),
      },
    };
    expect(row).toMatchObject({ outcome: "HELD", reason: "MISSING", added: null });
    expect(preview).toEqual(expected);
    expect(markOf(sandbox.store, row.run_id)["preview"]).toEqual(expected);
  });

  test("is what accept then does [D11]", async () => {
    const world = new SmallWorld();
    await world.publish(10, 1);
    world.show(5, 2);
    const { row, preview } = await world.run();

    const accepted = await world.accept(row.run_id);

    const { added, changed, removed } = accepted.row;
    expect(preview).toMatchObject({ added: 0, changed: 5, removed: 5 });
    expect({ added, changed, removed }).toEqual({ added: 0, changed: 5, removed: 5 });
  });

  test("adds everything where nothing was published before", async () => {
    const world = new SmallWorld({ require: ["/nothing"] });
    world.show(20);

    const { row, preview } = await world.run();

    expect(row).toMatchObject({ outcome: "HELD", reason: "REQUIRED" });
    expect(preview).toMatchObject({ base_snapshot_id: null, added: 20, changed: 0, removed: 0 });
    expect(preview?.uuids.added).toHaveLength(10);
  });

  test("is there for a pinned account too", async () => {
    const world = new SmallWorld();
    world.show(4, 1);
    const first = await world.run();
    await world.publish(4, 2);
    const back = await world.rollback(first.row.run_id);

    const { row, preview } = await world.run();

    expect(back.row.outcome).toBe("PUBLISHED");
    expect(row).toMatchObject({ outcome: "HELD", reason: "PINNED" });
    expect(preview).toMatchObject({ base_snapshot_id: first.row.run_id, changed: 4 });
  });

  test("a damaged head does not keep a snapshot from being held; what cannot be compared is null", async () => {
    const world = new SmallWorld();
    const head = await world.publish(10, 1);
    world.store.put(layout(ACCOUNT).part(head, 0), "damaged");
    world.show(5, 2);

    const { row, preview } = await world.run();

    expect(row).toMatchObject({ outcome: "HELD", reason: "DROPPED" });
    expect(preview).toMatchObject({ base_snapshot_id: head, added: null, changed: null, removed: null });
    expect(preview?.uuids).toEqual(NONE);
    expect(world.log.text).toContain("what publishing the held snapshot would change is not known");
  });

  test("is made against the head of the mark: who publishes meanwhile changes the decision", async () => {
    const world = new SmallWorld();
    await world.publish(10, 1);
    const small = await world.hold(5, 2);
    world.show(5, 3);
    let done = false;
    const open: Store["open"] = async (key) => {
      // The comparison has begun; then a person accepts the smaller snapshot.
      if (!done && key.includes("/part-")) {
        done = true;
        await world.accept(small);
      }
      return world.store.open(key);
    };

    const { row } = await world.run({}, { store: { ...interposed(world.store), open } });

    expect(done).toBe(true);
    expect(row).toMatchObject({ outcome: "PUBLISHED", changed: 5 });
  });

  test("a mark of an earlier version has none, and one that is unreadable hides no reason", async () => {
    const world = new SmallWorld();
    world.show(0);
    const { row } = await world.run();
    const key = layout(ACCOUNT).held(row.run_id);
    const { preview, facts: _, ...earlier } = JSON.parse(world.store.text(key) ?? "{}");

    for (const mark of [earlier, { ...earlier, preview: { added: "many" } }]) {
      world.store.put(key, `${JSON.stringify(mark)}\n`);
      const [held] = await heldSnapshots(world.own);
      expect(held).toEqual({
        snapshotId: row.run_id,
        reason: "NO_EVENTS",
        explanation: earlier.explanation,
      });
    }
    expect(preview).toBeDefined();
  });
});
