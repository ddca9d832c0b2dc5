// A person takes a snapshot out of the tables; changes that are lost are made again, or given up.

import { gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { type Check, check } from "../../../lambdas/job/run/check.ts";
import { type Retired, retire } from "../../../lambdas/job/run/retire.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { interposed } from "./interposed-store.ts";
import { DamagedWorld, partOf } from "./scenarios/publishing/damaged-world.ts";
import { ACCOUNT, DAY_MS, type PortChanges } from "./small-world.ts";

const SECOND = "0000000002";

let world: DamagedWorld;
let first: string;
let second: string;
let third: string;

/** Three publications of ten events each. */
beforeEach(async () => {
  world = new DamagedWorld();
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

const changesOfSecond = (): string => layout(ACCOUNT).changesPart(SECOND, second, 0);
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

  it("is what makes check green where a file of an old snapshot is missing", async () => {
    await world.store.delete(partOf(second));

    const red = await snapshotCheck();
    await retireNow(second);

    expect(red).toMatchObject({ ok: false });
    expect(await snapshotCheck()).toMatchObject({ ok: true });
    expect(await snapshotCheck(true)).toMatchObject({ ok: true });
  });

  it("takes a held snapshot too, which cannot be accepted then", async () => {
    world.show(2);
    const held = (await world.run()).row.snapshot_id ?? "";

    await retireNow(held);

    expect((await world.accept(held)).error?.code).toBe("SNAPSHOT_NOT_FOUND");
  });

  it("never takes what readers see", async () => {
    await expect(retireNow(third)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`Readers see the snapshot ${third}, so it cannot be retired.`),
    });
    expect(await mark(third)).toBeUndefined();
  });

  it("takes its mark away again where a person has published the snapshot meanwhile", async () => {
    let published = false;
    const store = interposed(world.store, async (key) => {
      if (published || key !== layout(ACCOUNT).retired(second)) return;
      published = true;
      await world.rollback(second);
    });

    await expect(retireNow(second, true, { store })).rejects.toThrow(
      `Meanwhile a person has published the snapshot ${second}, so it cannot be retired.`,
    );

    expect(await mark(second)).toBeUndefined();
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
    await expect(retireNow(id)).rejects.toMatchObject({ code: "SNAPSHOT_NOT_FOUND" });
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

describe("changes that are lost", () => {
  it("are made again by the next run, as they were", async () => {
    const lost = await linesOf(changesOfSecond());
    await world.store.delete(changesOfSecond());

    const red = await snapshotCheck();
    await world.run();

    expect(red).toMatchObject({ ok: false });
    expect(await linesOf(changesOfSecond())).toEqual(lost);
    expect(await snapshotCheck(true)).toMatchObject({ ok: true });
    expect(world.log.text).toContain(`made the changes of the publication ${SECOND} again`);
  });

  it("of the first publication are made again from nothing", async () => {
    const key = layout(ACCOUNT).changesPart("0000000001", first, 0);
    const lost = await linesOf(key);
    await world.store.delete(key);

    await world.run();

    expect(await linesOf(key)).toEqual(lost);
  });

  it.each<[string, () => Promise<void>]>([
    ["its snapshot is damaged", () => world.damage(second)],
    ["the snapshot before is damaged", () => world.damage(first)],
    ["the snapshot before is deleted", async () => world.store.delete(partOf(first))],
    ["other changes come out", () => sayOtherCounts()],
    ["a file that is left holds others", async () => world.store.put(stray(), "nonsense")],
  ])("stay lost where %s, and nothing is written", async (_, spoil) => {
    await world.store.delete(changesOfSecond());
    await spoil();

    await world.run();

    expect(await world.store.read(changesOfSecond())).toBeUndefined();
    expect(await snapshotCheck()).toMatchObject({ ok: false });
  });

  it("are made again by retire, if they can be", async () => {
    await world.store.delete(changesOfSecond());

    const { explanation } = await retireNow(second);

    expect(explanation).not.toContain("lost");
    expect(await world.store.read(changesOfSecond())).toBeDefined();
  });

  it("are given up by retire: check is green, and the next publication is over the newest before them", async () => {
    await world.store.delete(changesOfSecond());
    await world.damage(second);

    const told = await retireNow(second, false);
    const { explanation } = await retireNow(second);
    const checked = [await snapshotCheck(), await snapshotCheck(true)];
    world.show(9, 4);
    const { row } = await world.run();

    expect(told.explanation).toContain(`The changes of the publication ${SECOND} are missing`);
    expect(explanation).toContain(`The changes of the publication ${SECOND} are lost.`);
    expect(checked).toEqual([expect.objectContaining({ ok: true }), expect.objectContaining({ ok: true })]);
    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", changed: 9, removed: 1 });
    expect(await world.head()).toMatchObject({ base_snapshot_id: first });
    expect((await world.run()).row).toMatchObject({ reason: null, changed: 0 });
  });

  it("of a snapshot that retention has retired are missed as well, until they are given up", async () => {
    await retireNow(second);
    await world.damage(second);
    await world.store.delete(changesOfSecond());

    const red = await snapshotCheck();
    await retireNow(second);

    expect(red).toMatchObject({ ok: false });
    expect(await snapshotCheck()).toMatchObject({ ok: true });
  });

  it("leave the columns of the tables to the run that begins again with nothing", async () => {
    await world.store.delete(layout(ACCOUNT).changesPart("0000000001", first, 0));
    await world.damage(first);
    const lifted = [{ name: "day", pointer: "/date" }];
    world.settings = { ...world.settings, lifted };
    await world.publish(10, 4);
    await retireNow(first);
    world.settings = { ...world.settings, lifted: [] };

    const { row } = await world.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD", added: 10 });
    expect(world.log.text).toContain("uses the lifted columns of the warehouse: day (/date)");
  });

  it("and are restored count again", async () => {
    const file = await world.store.read(changesOfSecond());
    await world.store.delete(changesOfSecond());
    await world.damage(second);
    await retireNow(second);
    world.store.put(changesOfSecond(), Buffer.from(file?.bytes ?? ""));

    world.show(10, 4);

    const { row } = await world.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: null });
    expect(await world.head()).toMatchObject({ base_snapshot_id: third });
  });
});

async function broken(): Promise<void> {
  throw new Error("Glue is down");
}

async function linesOf(key: string): Promise<string> {
  return gunzipSync((await world.store.read(key))?.bytes ?? "").toString();
}

const stray = (): string => layout(ACCOUNT).changesPart(SECOND, second, 1);

async function sayOtherCounts(): Promise<void> {
  const key = layout(ACCOUNT).publication(SECOND);
  const text = Buffer.from((await world.store.read(key))?.bytes ?? "").toString();
  world.store.put(key, text.replace('"changed":10', '"changed":9'));
}
