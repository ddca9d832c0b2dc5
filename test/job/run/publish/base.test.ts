import { beforeEach, describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { baseOfNext, explainDamage } from "../../../../lambdas/job/run/publish/base.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { interposed } from "../interposed-store.ts";
import { DamagedWorld, partOf } from "../scenarios/publishing/damaged-world.ts";

const STOPPED = new SyncError("INTERRUPTED", "The job was stopped.");
const DOWN = new SyncError("STORE_FAILED", "The store is down.");

let world: DamagedWorld;
let first: string;
let second: string;
const opened: string[] = [];

/** The newer one of two snapshots is damaged. */
beforeEach(async () => {
  world = new DamagedWorld();
  first = await world.publish(10, 1);
  second = await world.publish(10, 2);
  await world.damage(second);
  opened.length = 0;
});

function storeThat(open: (key: string) => ReturnType<Store["open"]>): Store {
  return { ...interposed(world.store, async () => undefined), open };
}

describe("what a publication is compared with", () => {
  test("is found by reading each snapshot once, and is told once, however often it is asked for", async () => {
    const store = storeThat((key) => {
      opened.push(key);
      return world.store.open(key);
    });
    const baseOf = baseOfNext(world.ports({ store }), true);
    const head = await world.head();

    const bases = [await baseOf(head), await baseOf(head), await baseOf(head)];

    expect(bases).toEqual([first, first, first]);
    expect(opened.filter((key) => key === partOf(first))).toHaveLength(1);
    expect(opened.filter((key) => key === partOf(second))).toHaveLength(1);
    expect(world.log.lines.filter((line) => line.includes("the changes are those against"))).toHaveLength(1);
  });

  test("is not searched for once the job is stopped", async () => {
    const baseOf = baseOfNext(world.ports({ signal: AbortSignal.abort(STOPPED) }), true);

    await expect(baseOf(await world.head())).rejects.toBe(STOPPED);
  });

  test("is not another snapshot because the store fails", async () => {
    const baseOf = baseOfNext(world.ports({ store: storeThat(() => Promise.reject(DOWN)) }), true);

    await expect(baseOf(await world.head())).rejects.toBe(DOWN);
  });
});

describe("the cause of damage that a comparison meets", () => {
  const met = new SyncError("STORE_CORRUPT", "A row is damaged.");

  test("is the damage that it met where both snapshots are whole", async () => {
    expect(await explainDamage(met, world.ports(), { base: first })).toBe(met);
    expect(await explainDamage(met, world.ports(), { base: null })).toBe(met);
    expect(await explainDamage(met, world.ports(), { base: null, snapshotId: first })).toBe(met);
  });

  test("is not looked for where a comparison ended with another error", async () => {
    expect(await explainDamage(DOWN, world.ports(), { base: second })).toBe(DOWN);
  });

  test("is the stop of the job, where that comes first", async () => {
    const ports = world.ports({ signal: AbortSignal.abort(STOPPED) });

    await expect(explainDamage(met, ports, { base: first })).rejects.toBe(STOPPED);
  });
});
