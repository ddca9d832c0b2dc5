// What a publication is compared with: a snapshot that is read whole, and verified.

import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { interposed } from "../../interposed-store.ts";
import { ACCOUNT, SmallWorld } from "../../small-world.ts";

let world: SmallWorld;

beforeEach(() => {
  world = new SmallWorld();
});

/** Publishes the first events in a version each, and returns the snapshot. */
async function publish(...versions: readonly number[]): Promise<string> {
  world.events.clear();
  for (const [index, version] of versions.entries()) world.events.set(index + 1, version);
  const { row } = await world.run();
  expect(row.outcome).toBe("PUBLISHED");
  return row.snapshot_id ?? "";
}

describe("a run", () => {
  it.each([
    ["is missing", (key: string) => world.store.delete(key)],
    ["holds other rows", (key: string) => world.store.put(key, gzipSync("{}\n"))],
    ["is no gzip", (key: string) => world.store.put(key, "{}")],
  ])("fails where the head's part %s, although no event has changed, and names it", async (_, damage) => {
    const head = await publish(1, 1, 1, 1, 1, 1);
    const key = layout(ACCOUNT).part(head, 0);
    await damage(key);

    const { row, error } = await world.run();

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
    expect(error?.fields).toEqual({ key });
  });

  it("takes a head whose part was compressed again", async () => {
    const head = await publish(1, 1, 1, 1, 1, 1);
    const key = layout(ACCOUNT).part(head, 0);
    const { bytes = "" } = (await world.store.read(key)) ?? {};
    world.store.put(key, gzipSync(gunzipSync(bytes), { level: 9 }));

    const { row } = await world.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0, changed: 0, removed: 0 });
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
