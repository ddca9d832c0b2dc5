// The digests of a snapshot save time, and change nothing else.

import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { check } from "../../../../../lambdas/job/run/check.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../../lambdas/job/storage/store.ts";
import { interposed } from "../../interposed-store.ts";
import { ACCOUNT, SmallWorld } from "../../small-world.ts";

let world: SmallWorld;

beforeEach(() => {
  world = new SmallWorld();
});

const digestsOf = (snapshotId: string): string => layout(ACCOUNT).digests(snapshotId);

/** Publishes the first events in a version each, and returns the snapshot. */
async function publish(...versions: readonly number[]): Promise<string> {
  world.events.clear();
  for (const [index, version] of versions.entries()) world.events.set(index + 1, version);
  const { row } = await world.run();
  expect(row.outcome).toBe("PUBLISHED");
  return row.snapshot_id ?? "";
}

/** The store, and the parts that were opened in it, as often as they were. */
function watched(): { readonly store: Store; readonly opened: string[] } {
  const opened: string[] = [];
  const store = {
    ...interposed(world.store, async () => undefined),
    open: (key: string) => {
      if (key.includes("/part-")) opened.push(key);
      return world.store.open(key);
    },
  };
  return { store, opened };
}

describe("a run", () => {
  it("verifies the head's part, and reads no row of it, where no event has changed", async () => {
    const head = await publish(1, 1, 1, 1, 1, 1);
    const { store, opened } = watched();

    const { row } = await world.run({}, { store });

    expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0, changed: 0, removed: 0 });
    expect(opened).toEqual([head, row.run_id].map((id) => layout(ACCOUNT).part(id, 0)));
  });

  it("reads no row of it where events are only added", async () => {
    const head = await publish(1, 1, 1, 1, 1, 1);
    world.show(7);
    const { store, opened } = watched();

    const { row } = await world.run({}, { store });

    expect(row).toMatchObject({ added: 1, changed: 0, removed: 0 });
    expect(opened.filter((key) => key === layout(ACCOUNT).part(head, 0))).toHaveLength(1);
  });

  it.each([
    ["is missing", (key: string) => world.store.delete(key)],
    ["holds other rows", (key: string) => world.store.put(key, gzipSync("{}\n"))],
    ["is no gzip", (key: string) => world.store.put(key, "{}")],
  ])("fails where the head's part %s, although no event has changed", async (_, damage) => {
    const head = await publish(1, 1, 1, 1, 1, 1);
    await damage(layout(ACCOUNT).part(head, 0));

    const { row } = await world.run();

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
  });

  it("takes a head whose part was compressed again", async () => {
    const head = await publish(1, 1, 1, 1, 1, 1);
    const key = layout(ACCOUNT).part(head, 0);
    const { bytes = "" } = (await world.store.read(key)) ?? {};
    world.store.put(key, gzipSync(gunzipSync(bytes), { level: 9 }));

    const { row } = await world.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0, changed: 0, removed: 0 });
  });

  it("reads rows of both snapshots where an event has changed or gone", async () => {
    const head = await publish(1, 1, 1, 1, 1, 1);
    world.events.set(2, 2).delete(3);
    const { store, opened } = watched();

    const { row } = await world.run({}, { store });

    expect(row).toMatchObject({ added: 0, changed: 1, removed: 1 });
    const parts = [head, row.run_id].map((id) => layout(ACCOUNT).part(id, 0));
    expect(new Set(opened)).toEqual(new Set(parts));
  });

  it("compares with the head of the commit, if that is another than the one it was made for", async () => {
    const first = await publish(1, 1, 1, 1, 1, 1);
    const second = await publish(2, 1, 1, 1, 1, 1);
    world.events.set(1, 2).set(2, 2);
    let isMoved = false;
    const store = interposed(world.store, async (key) => {
      if (isMoved || !key.endsWith("_manifest.json")) return;
      isMoved = true;
      await world.rollback(first, false);
    });

    const { row } = await world.run({}, { store });

    expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0, changed: 2, removed: 0 });
    expect(world.catalog.log(ACCOUNT).map(({ base_snapshot_id: base }) => base)).toEqual([
      null,
      first,
      second,
      first,
    ]);
  });

  it.each<[string, (key: string) => Promise<void> | void]>([
    ["missing, as in a snapshot of an earlier version", (key) => world.store.delete(key)],
    ["damaged", (key) => world.store.put(key, Buffer.alloc(6 * 32, 7))],
    ["cut short", (key) => world.store.put(key, Buffer.alloc(32))],
  ])("finds the same changes with digests that are %s", async (_, damage) => {
    const expected = await changesAfter(async () => undefined);
    world = new SmallWorld();

    const found = await changesAfter(async (head) => damage(digestsOf(head)));

    expect(found).toEqual(expected);
    expect(found.map((line) => JSON.parse(line).change).toSorted()).toEqual(["added", "changed", "removed"]);
  });

  it("publishes where a file of other digests has taken its key", async () => {
    const first = await publish(1, 1, 1);
    const runId = "2026-06-01T06-00-00.000Z";
    world.store.put(digestsOf(runId), "of another version");
    world.show(3, 2);

    const { row } = await world.run({ runId });
    const next = await world.run({ runId: "2026-06-02T06-00-00.000Z" });

    expect(row).toMatchObject({ outcome: "PUBLISHED", changed: 3 });
    expect(next.row).toMatchObject({ outcome: "PUBLISHED", changed: 0 });
    expect(world.store.text(layout(ACCOUNT).manifest(first))).toContain('"digests":{"bytes":96,');
    expect(world.store.text(layout(ACCOUNT).manifest(runId))).not.toContain("digests");
  });
});

/** The changes of a run against a head of six events, in which one was added, one changed and one removed. */
async function changesAfter(damage: (head: string) => Promise<void>): Promise<readonly string[]> {
  const head = await publish(1, 1, 1, 1, 1, 1);
  await damage(head);
  world.events.set(2, 2).set(7, 1).delete(3);
  const { row } = await world.run();
  expect(row).toMatchObject({ outcome: "PUBLISHED", added: 1, changed: 1, removed: 1 });
  return world.catalog.changesOf(ACCOUNT, "0000000002");
}

describe("accept and rollback", () => {
  it("compare by digests too, and a later run with what they published", async () => {
    const first = await publish(1, 1, 1, 1, 1, 1);
    await publish(1, 1, 1, 1, 1, 2);

    const back = await world.rollback(first, false);
    const same = await world.run();
    const { store, opened } = watched();
    const again = await world.acceptOrRollback(
      { action: "rollback", snapshotId: first, pin: false },
      { store },
    );

    expect(back.row).toMatchObject({ added: 0, changed: 1, removed: 0 });
    expect(same.row).toMatchObject({ added: 0, changed: 1, removed: 0 });
    expect(again.row).toMatchObject({ added: 0, changed: 1, removed: 0 });
    expect(opened).toHaveLength(4);
    expect(await world.seen()).not.toEqual(world.truth());
  });
});

describe("a rollback", () => {
  it("publishes no snapshot whose part is damaged, although it has the rows of the head", async () => {
    const first = await publish(1, 1, 1);
    await publish(1, 1, 1);
    world.store.put(layout(ACCOUNT).part(first, 0), gzipSync("{}\n"));

    const { row } = await world.rollback(first, false);

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
  });
});

describe("check", () => {
  it.each([false, true])("verifies the digests of the head (deep: %s)", async (deep) => {
    const head = await publish(1, 1, 1);
    const line = async () => (await check(world.ports(), world.settings, { deep })).at(-1);
    expect(await line()).toMatchObject({ name: "snapshot", ok: true });

    world.store.put(digestsOf(head), Buffer.alloc(96));

    const { ok, code, remedy } = (await line()) ?? {};
    expect({ ok, code }).toEqual({ ok: false, code: "STORE_CORRUPT" });
    expect(remedy).toContain(digestsOf(head));
    expect(remedy).not.toContain("--over-damaged");
  });

  it("verifies those of older snapshots when it is asked for everything", async () => {
    const first = await publish(1, 1, 1);
    await publish(1, 1, 2);
    await world.store.delete(digestsOf(first));

    const [plain, deep] = [
      (await check(world.ports(), world.settings)).at(-1),
      (await check(world.ports(), world.settings, { deep: true })).at(-1),
    ];

    expect(plain).toMatchObject({ name: "snapshot", ok: true });
    expect(deep?.remedy).toContain(digestsOf(first));
  });
});
