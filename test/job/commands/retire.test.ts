// A person takes a snapshot out of the tables.

import { beforeEach, describe, expect, it } from "vitest";
import { check } from "../../../lambdas/job/commands/check.ts";
import type { Check } from "../../../lambdas/job/commands/check-service.ts";
import { type Retired, retire } from "../../../lambdas/job/commands/decisions.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { publish } from "../../../lambdas/job/storage/publication-log.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import { settled } from "../../simulator/manual-clock.ts";
import { interposedOnce } from "../run/interposed-store.ts";
import { ACCOUNT, DAY_MS, type PortChanges, partOf, SmallWorld } from "../run/small-world.ts";

let world: SmallWorld;
let first: string;
let second: string;
let third: string;

/** Three publications of ten events each. */
beforeEach(async () => {
  world = new SmallWorld();
  first = await world.publish(10, 1);
  second = await world.publish(10, 2);
  third = await world.publish(10, 3);
});

function retireNow(snapshotId: string, yes = true, changes: PortChanges = {}): Promise<Retired> {
  return retire(world.ports(changes), { snapshotId, yes });
}

async function snapshotCheck(deep = false): Promise<Check | undefined> {
  return (await check(world.ports(), world.settings, { deep })).find(({ name }) => name === "snapshot");
}

const mark = async (snapshotId: string): Promise<unknown> => {
  const stored = await world.store.read(layout(ACCOUNT).retired(snapshotId));
  return stored && JSON.parse(Buffer.from(stored.bytes).toString());
};

describe("retire", () => {
  it("takes a published snapshot out of the tables, and a run deletes its files a day later", async () => {
    const now = new Date(world.clock.now()).toISOString();

    const { ok, explanation } = await retireNow(second);

    expect(ok).toBe(true);
    expect(explanation).toContain(`The snapshot ${second} is retired`);
    expect(await mark(second)).toEqual({ retired_at: now });
    expect(world.catalog.snapshots(ACCOUNT)).toEqual([first, third]);
    expect(world.log.text).toContain(`retires the snapshot ${second}, as a person asked`);
    await world.run();
    expect(world.store.keys(layout(ACCOUNT).snapshot(second))).toContain(partOf(second));
    world.clock.advance(DAY_MS + 1000);
    await world.run();
    expect(world.store.keys(layout(ACCOUNT).snapshot(second))).toEqual([layout(ACCOUNT).retired(second)]);
  });

  it("changes nothing without a yes, and says what it would do", async () => {
    const before = world.store.keys();

    const { ok, explanation } = await retireNow(second, false);

    expect(ok).toBe(false);
    expect(explanation).toContain(`would take the snapshot ${second} out of the tables`);
    expect(world.store.keys()).toEqual(before);
  });

  it("is what makes check green where a file of an old snapshot is missing, and leaves its changes", async () => {
    await world.store.delete([partOf(second)]);
    const before = world.store.keys("changes/");

    const red = await snapshotCheck();
    await retireNow(second);

    expect(red).toMatchObject({ ok: false });
    expect(await snapshotCheck()).toMatchObject({ ok: true });
    expect(await snapshotCheck(true)).toMatchObject({ ok: true });
    expect(world.store.keys("changes/")).toEqual(before);
  });

  it("takes a held snapshot too, which cannot be accepted then", async () => {
    const held = await world.hold(2);

    await retireNow(held);

    expect((await world.accept(held)).error?.code).toBe("SNAPSHOT_NOT_FOUND");
    world.clock.advance(DAY_MS + 1000);
    await world.publish(10, 4);
    expect(world.store.keys(layout(ACCOUNT).snapshot(held))).toEqual([layout(ACCOUNT).retired(held)]);
    expect((await retireNow(held)).explanation).toBe(`The snapshot ${held} is retired already.`);
  });

  it("never takes what readers see", async () => {
    await expect(retireNow(third)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`Readers see the snapshot ${third}, so it cannot be retired.`),
    });
    expect(await mark(third)).toBeUndefined();
  });

  it("takes its mark away again where a person has published the snapshot meanwhile", async () => {
    const quick = interposedOnce(world.store, layout(ACCOUNT).retired(second), () => world.rollback(second));
    const store: Store = {
      ...quick,
      delete: async (keys) => {
        await settled();
        await quick.delete(keys);
      },
    };

    await expect(retireNow(second, true, { store })).rejects.toThrow(
      `Meanwhile a person has published the snapshot ${second}, so it cannot be retired.`,
    );

    expect(await mark(second)).toBeUndefined();
    expect(world.catalog.head(ACCOUNT)).toMatchObject({ snapshot_id: second });
  });

  it("brings the tables to what a person has published meanwhile, and could not show", async () => {
    const store = world.own;
    // Its rollback had read the snapshot before the mark, and stops before it refreshes.
    const refresh = async (): Promise<void> => {
      await world.catalog.refresh(ACCOUNT);
      const own = { publication: "0000000004", snapshot_id: second, write_id: "rollback" };
      const head = await world.head();
      if (head?.snapshot_id === third) await publish(store, { ...head, ...own, action: "rollback" });
    };
    const catalog = { ...world.ports().catalog, refresh };

    await expect(retireNow(second, true, { catalog })).rejects.toThrow("Meanwhile a person has published");

    expect(world.catalog.head(ACCOUNT)).toMatchObject({ snapshot_id: second });
  });

  it("says that a snapshot is retired already", async () => {
    await retireNow(second);
    const before = await mark(second);
    world.clock.advance(1000);

    expect(await retireNow(second)).toEqual({
      ok: true,
      explanation: `The snapshot ${second} is retired already.`,
    });
    expect(await mark(second)).toEqual(before);
  });

  it("continues what stopped before the tables had followed", async () => {
    const catalog = { ...world.ports().catalog, refresh: broken };
    await expect(retireNow(second, true, { catalog })).rejects.toThrow("Glue is down");

    await retireNow(second);

    expect(await mark(second)).toHaveProperty("retired_at");
  });

  it.each([
    ["does not exist", "2020-01-01T00-00-00.000Z"],
    ["is no id", "../../elsewhere"],
  ])("refuses an id that %s", async (_, id) => {
    await expect(retireNow(id)).rejects.toMatchObject({
      code: "SNAPSHOT_NOT_FOUND",
      message: expect.stringContaining("does not exist"),
    });
  });

  it("refuses a snapshot that is not finished", async () => {
    const unfinished = "2026-02-01T00-00-00.000Z";
    world.store.put(layout(ACCOUNT).manifest(unfinished), "{}");

    await expect(retireNow(unfinished)).rejects.toThrow("is not finished");
  });

  it("is not undone by retention", async () => {
    await retireNow(second);

    await world.run();

    expect(await mark(second)).toHaveProperty("retired_at");
  });
});

async function broken(): Promise<void> {
  throw new Error("Glue is down");
}
