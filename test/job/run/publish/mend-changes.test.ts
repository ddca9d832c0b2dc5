import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { mendChanges, remakeChanges } from "../../../../lambdas/job/run/publish/mend-changes.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { interposed } from "../interposed-store.ts";
import { DamagedWorld } from "../scenarios/publishing/damaged-world.ts";
import { ACCOUNT } from "../small-world.ts";

const keys = layout(ACCOUNT);

/** Three publications; the snapshots have three parts each. */
async function published() {
  const world = new DamagedWorld({ rangeEvents: 4 });
  for (const version of [1, 2, 3]) await world.publish(10, version);
  const [first, second, third] = world.catalog.log(ACCOUNT);
  if (!(first && second && third)) throw new Error("three publications are missing");
  return { world, first, second, third };
}

function changesOf({ publication, snapshot_id }: Publication, part = 0): string {
  return keys.changesPart(publication, snapshot_id, part);
}

/** Its accounts are in `refreshed` only once it has ended. */
function slowCatalog() {
  const refreshed: string[] = [];
  const refresh = async (account: string): Promise<void> => {
    await setTimeout(1);
    refreshed.push(account);
  };
  return { catalog: { refresh }, refreshed };
}

describe("the tables", () => {
  test("are brought up to date once, before it ends, where not all lost changes can be made again", async () => {
    const { world, second, third } = await published();
    await world.store.delete(changesOf(second));
    await world.store.delete(changesOf(third));
    await world.damage(third.snapshot_id);
    const { catalog, refreshed } = slowCatalog();

    await mendChanges(world.ports({ catalog }));

    expect(refreshed).toEqual([ACCOUNT]);
    expect(world.store.text(changesOf(second))).toBeDefined();
    expect(world.store.text(changesOf(third))).toBeUndefined();
  });

  test("stay as they are where no changes are lost", async () => {
    const { world } = await published();
    const { catalog, refreshed } = slowCatalog();

    await mendChanges(world.ports({ catalog }));

    expect(refreshed).toEqual([]);
  });
});

describe("changes that have lost a file", () => {
  test("are made again beside the files that are left", async () => {
    const { world, first } = await published();
    const before = world.store.keys("changes/");
    await world.store.delete(changesOf(first, 1));

    expect(await remakeChanges(world.ports(), first)).toBe(true);
    expect(world.store.keys("changes/")).toEqual(before);
    expect(before).toContain(changesOf(first, 2));
  });

  test.each<[what: string, spoil: (world: DamagedWorld, of: Publication) => Publication]>([
    ["other numbers come out", (_, of) => ({ ...of, changed: 9 })],
    [
      "a file is left that is none of them",
      (world, of) => {
        world.store.put(changesOf(of, 1), "");
        return of;
      },
    ],
  ])("are not made again where %s", async (_, spoil) => {
    const { world, second } = await published();
    await world.store.delete(changesOf(second));
    const publication = spoil(world, second);

    expect(await remakeChanges(world.ports(), publication)).toBe(false);
    expect(world.store.text(changesOf(second))).toBeUndefined();
  });

  test("are not taken for lost because the store fails", async () => {
    const { world, second } = await published();
    const down = new SyncError("STORE_FAILED", "The store is down.");
    const store: Store = {
      ...interposed(world.store, async () => undefined),
      open: () => Promise.reject(down),
    };

    await expect(remakeChanges(world.ports({ store }), second)).rejects.toBe(down);
  });
});
