import { beforeEach, describe, expect, test } from "vitest";
import type { Catalog } from "../../../../lambdas/job/catalog/catalog.ts";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { applyRetention } from "../../../../lambdas/job/run/publish/retention.ts";
import { formatRunId, layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { settableClock } from "../../../simulator/clocks.ts";
import { settled } from "../../../simulator/manual-clock.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { interposed, refusing, watched } from "../interposed-store.ts";
import { ACCOUNT, DAY_MS, HOUR_MS, SmallWorld } from "../small-world.ts";

let world: SmallWorld;

beforeEach(() => {
  world = new SmallWorld();
});

const MINUTE_MS = 60_000;
const files = (world: SmallWorld, snapshotId: string | null): readonly string[] =>
  world.store.keys(layout(ACCOUNT).snapshot(snapshotId ?? "")).map((key) => key.split("/").at(-1) ?? "");

/** A snapshot a day, for so many days. */
async function daily(world: SmallWorld, days: number): Promise<readonly string[]> {
  const snapshots: string[] = [];
  for (let day = 0; day < days; day += 1) {
    if (day > 0) world.clock.advance(DAY_MS);
    snapshots.push(await world.publish(10, day + 1));
  }
  return snapshots;
}

/** The files of a snapshot just before a day has passed, and just after. */
async function aroundADay(world: SmallWorld, snapshotId: string): Promise<(readonly string[])[]> {
  const found: (readonly string[])[] = [];
  for (const ms of [DAY_MS - MINUTE_MS, 2 * MINUTE_MS]) {
    world.clock.advance(ms);
    await world.run();
    found.push(files(world, snapshotId));
  }
  return found;
}

/** Takes a while for each write, and says when it begins and ends. */
function slow(store: Store): { readonly store: Store; readonly steps: string[] } {
  const steps: string[] = [];
  const slowly = async <Result>(step: string, write: () => Promise<Result>): Promise<Result> => {
    steps.push(step);
    await settled();
    steps.push(`end of ${step}`);
    return write();
  };
  return {
    steps,
    store: {
      ...interposed(store),
      create: (key, body) => slowly(`create ${key}`, () => store.create(key, body)),
      replace: (key, bytes, version) => slowly(`replace ${key}`, () => store.replace(key, bytes, version)),
      delete: (keys) => slowly(`delete ${keys}`, () => store.delete(keys)),
    },
  };
}

describe("retention", () => {
  test("keeps every published snapshot when it is not set", async () => {
    const snapshots = await daily(world, 40);

    expect(snapshots.every((id) => files(world, id).includes("part-00000.ndjson.gz"))).toBe(true);
    expect(world.store.keys().filter((key) => key.endsWith("_retired.json"))).toEqual([]);
  });

  test("keeps a published snapshot that has lost its manifest when it is not set, so that it can be restored", async () => {
    const [lost = ""] = await daily(world, 2);
    await world.store.delete([layout(ACCOUNT).manifest(lost)]);

    world.clock.advance(31 * DAY_MS);
    await world.publish(10, 3);

    expect(files(world, lost)).toEqual(["part-00000.ndjson.gz"]);
  });

  test("retires what is older first, and deletes it a day later and no earlier [D4]", async () => {
    const world = new SmallWorld({ retainDays: 3 });
    const [first = ""] = await daily(world, 4);
    const retired = files(world, first);
    world.store.put(`${layout(ACCOUNT).snapshot(first)}_digests.bin`, "of an earlier version");

    const [almost, after] = await aroundADay(world, first);

    expect(retired).toEqual(["_manifest.json", "_retired.json", "part-00000.ndjson.gz"]);
    expect(almost).toEqual(["_digests.bin", ...retired]);
    expect(after).toEqual(["_retired.json"]);
  });

  test("works with the first snapshot of a day (UTC), published or held, and with no other", async () => {
    const world = new SmallWorld({ retainDays: 1 });
    const looked: string[] = [];
    const catalog: Catalog = {
      refresh: async (_, what) => void (what === undefined && looked.push(formatRunId(world.clock.now()))),
    };
    const hour = async (count: number): Promise<void> => {
      world.show(count);
      await world.run({}, { catalog });
      world.clock.advance(HOUR_MS);
    };

    for (let hours = 0; hours < 30; hours += 1) await hour(10);
    for (let hours = 30; hours < 60; hours += 1) await hour(0);

    expect(looked.map((id) => id.slice(0, 13))).toEqual(["2026-01-01T00", "2026-01-02T00", "2026-01-03T00"]);
  });

  test("never deletes the head, however old it is", async () => {
    const world = new SmallWorld({ retainDays: 1 });
    const [head = ""] = await daily(world, 1);

    for (let day = 0; day < 5; day += 1) {
      world.clock.advance(30 * DAY_MS);
      await world.hold(0);
    }

    expect(files(world, head)).toEqual(["_manifest.json", "part-00000.ndjson.gz"]);
  });

  test("never retires what was the head within the last day [D4]", async () => {
    const world = new SmallWorld({ retainDays: 1 });
    const [head = ""] = await daily(world, 1);
    world.clock.advance(30 * DAY_MS);
    await world.run();

    const [almost, after] = await aroundADay(world, head);

    expect(almost).not.toContain("_retired.json");
    expect(after).toContain("_retired.json");
  });

  test("deletes held snapshots, and what crashed runs have left, after 30 days", async () => {
    await daily(world, 1);
    world.clock.advance(HOUR_MS);
    const held = await world.hold(2);
    const orphan = "2026-01-01T02-00-00.000Z";
    world.store.put(layout(ACCOUNT).part(orphan, 0), "left behind");
    world.show(10);

    world.clock.advance(29 * DAY_MS);
    await world.run();
    const before = [files(world, held), files(world, orphan)].flat();
    world.clock.advance(2 * DAY_MS);
    await world.run();
    const marked = [files(world, held), files(world, orphan)].flat();
    world.clock.advance(DAY_MS + MINUTE_MS);
    await world.run();

    expect(before).not.toContain("_retired.json");
    expect(marked.filter((file) => file === "_retired.json")).toHaveLength(2);
    expect([files(world, held), files(world, orphan)].flat()).toEqual(["_retired.json", "_retired.json"]);
  });

  test("gives the head back that was published again while it was retired", async () => {
    const world = new SmallWorld({ retainDays: 3 });
    const [first = ""] = await daily(world, 2);
    await world.rollback(first);
    const retired_at = new Date(world.clock.now()).toISOString();
    world.store.put(layout(ACCOUNT).retired(first), JSON.stringify({ retired_at }));

    world.clock.advance(DAY_MS);
    await world.run();

    expect(files(world, first)).toEqual(["_manifest.json", "part-00000.ndjson.gz"]);
  });

  test("leaves what was the head a moment ago retired, and keeps its files for a day after that", async () => {
    const [first = ""] = await daily(world, 2);
    await world.rollback(first, false);
    const retired_at = new Date(world.clock.now() - 2 * DAY_MS).toISOString();
    world.store.put(layout(ACCOUNT).retired(first), JSON.stringify({ retired_at }));

    await world.run();
    const [almost, after] = await aroundADay(world, first);

    expect(almost).toEqual(["_manifest.json", "_retired.json", "part-00000.ndjson.gz"]);
    expect(after).toEqual(["_retired.json"]);
  });

  test("counts the day from when the tables have followed, however late that is", async () => {
    const world = new SmallWorld({ retainDays: 3 });
    const [first = ""] = await daily(world, 3);
    world.clock.advance(DAY_MS);
    let refreshes = 0;
    const dying: Catalog = {
      refresh: async (account) => {
        refreshes += 1;
        // At the start, after the commit, and after the mark of retention.
        if (refreshes === 3) throw new SyncError("CATALOG_FAILED", "Glue does not respond.");
        await world.catalog.refresh(account);
      },
    };
    await world.run({}, { catalog: dying });
    const marked = files(world, first);

    world.clock.advance(2 * DAY_MS);
    await world.run();
    const seenJustBefore = files(world, first);
    world.clock.advance(DAY_MS + MINUTE_MS);
    await world.run();

    expect(refreshes).toBe(3);
    expect(marked).toEqual(["_manifest.json", "_retired.json", "part-00000.ndjson.gz"]);
    expect(seenJustBefore).toEqual(marked);
    expect(files(world, first)).toEqual(["_retired.json"]);
  });

  test("takes a snapshot's age from the time that the store has for its manifest, where its name lies in the future", async () => {
    const clock = settableClock(world.clock);
    clock.set(100 * DAY_MS);
    world.show(10, 1);
    const { row } = await world.run({}, { clock });
    await world.publish(10, 2);
    const later = async (ms: number): Promise<readonly string[]> => {
      world.clock.advance(ms);
      await applyRetention(world.ports(), 3);
      return files(world, row.snapshot_id);
    };

    const almost = await later(3 * DAY_MS - 1);
    const due = await later(1);

    expect(row).toMatchObject({ outcome: "PUBLISHED", snapshot_id: expect.stringMatching(/^2026-04-11/) });
    expect(almost).not.toContain("_retired.json");
    expect(due).toContain("_retired.json");
  });

  test("counts exact days: of a snapshot's age, since it was the head, and since it was retired", async () => {
    const [first = ""] = await daily(world, 2);
    const later = async (ms: number, retainDays: number): Promise<readonly string[]> => {
      world.clock.set(ms);
      await applyRetention(world.ports(), retainDays);
      return files(world, first);
    };

    const wasHead = await later(DAY_MS, 0);
    // The second snapshot came a day and a millisecond after the first.
    const ofThreeDays = await later(DAY_MS - 1, 3);
    const retired = await later(1, 3);
    const almost = await later(DAY_MS - 1, 3);
    const deleted = await later(1, 3);

    expect([wasHead, ofThreeDays].flat()).not.toContain("_retired.json");
    expect(retired).toContain("_retired.json");
    expect(almost).toEqual(retired);
    expect(deleted).toEqual(["_retired.json"]);
  });

  test("does one thing after the other, and the tables follow in between", async () => {
    const [deleted = "", undated = "", due = "", _, head = ""] = await daily(world, 5);
    const keys = layout(ACCOUNT);
    world.store.put(keys.retired(deleted), JSON.stringify({ retired_at: "2026-01-03T00:00:00.000Z" }));
    for (const id of [undated, head]) world.store.put(keys.retired(id), "{}");
    const { store, steps } = slow(world.store);
    const catalog: Catalog = { refresh: async () => void steps.push("refresh") };
    const ports = { ...world.ports({ store, catalog }), logger: new LogLines() };

    await applyRetention(ports, 1);
    const first = steps.splice(0);
    await applyRetention(ports, 1);

    const whole = (step: string): readonly string[] => [step, `end of ${step}`];
    const listed = files(world, due).filter((name) => name !== "_retired.json");
    expect(first).toEqual([
      ...whole(`delete ${listed.map((name) => `${keys.snapshot(deleted)}${name}`)}`),
      ...whole(`create ${keys.retired(due)}`),
      ...whole(`delete ${keys.retired(head)}`),
      "refresh",
      ...whole(`replace ${keys.retired(undated)}`),
      ...whole(`replace ${keys.retired(due)}`),
    ]);
    expect(steps).toEqual(["refresh"]);
    expect(ports.logger.lines.filter((line) => line.includes("deleted the retired snapshot"))).toHaveLength(
      1,
    );
  });

  test("lets the tables follow where it only gives the head back", async () => {
    const [head = ""] = await daily(world, 1);
    world.store.put(layout(ACCOUNT).retired(head), "{}");
    const seen: (readonly string[])[] = [];
    const catalog: Catalog = { refresh: async () => void seen.push(files(world, head)) };

    await applyRetention(world.ports({ catalog }), undefined);

    expect(seen).toEqual([["_manifest.json", "part-00000.ndjson.gz"]]);
  });

  test("lets the tables follow where a damaged log leaves open what is in use, and retires nothing", async () => {
    const [first = ""] = await daily(world, 3);
    world.store.put(layout(ACCOUNT).publication("0000000003"), "{");
    const refreshed: unknown[] = [];
    const catalog: Catalog = { refresh: async (...of) => void refreshed.push(of) };

    const retained = applyRetention(world.ports({ catalog }), 1);

    await expect(retained).rejects.toThrow("0000000003.ndjson is damaged");
    expect(refreshed).toEqual([[ACCOUNT]]);
    expect(files(world, first)).not.toContain("_retired.json");
  });

  test("deletes no snapshot that readers saw within the last day, however long ago it was retired", async () => {
    const [, second = ""] = await daily(world, 3);
    const mark = JSON.stringify({ retired_at: "2026-01-01T00:00:00.000Z" });
    world.store.put(layout(ACCOUNT).retired(second), mark);

    await applyRetention(world.ports(), undefined);
    const withinADay = files(world, second);
    world.clock.advance(DAY_MS + MINUTE_MS);
    await applyRetention(world.ports(), undefined);

    expect(withinADay).toContain("part-00000.ndjson.gz");
    expect(files(world, second)).toEqual(["_retired.json"]);
  });

  test("deletes no such snapshot either where the clock of a later publication was two hours behind", async () => {
    const [first = ""] = await daily(world, 2);
    world.clock.advance(HOUR_MS);
    await world.ahead(-2 * HOUR_MS, () => world.publish(10, 3));
    const mark = JSON.stringify({ retired_at: "2026-01-01T00:00:00.000Z" });
    world.store.put(layout(ACCOUNT).retired(first), mark);
    world.clock.advance(22 * HOUR_MS + 30 * MINUTE_MS);

    await applyRetention(world.ports(), undefined);

    expect(files(world, first)).toContain("part-00000.ndjson.gz");
  });

  test("reads no mark of a snapshot that is deleted, however many there are", async () => {
    const [deleted = "", retired = ""] = await daily(world, 3);
    const keys = layout(ACCOUNT);
    for (const id of [deleted, retired])
      world.store.put(keys.retired(id), JSON.stringify({ retired_at: "2026-01-01T00:00:00.000Z" }));
    for (const name of files(world, deleted).filter((each) => each !== "_retired.json"))
      await world.store.delete([`${keys.snapshot(deleted)}${name}`]);
    const { store, reads } = watched(world.store);

    await applyRetention(world.ports({ store }), undefined);

    expect(reads.filter((key) => key.endsWith("_retired.json"))).toEqual([keys.retired(retired)]);
    expect(files(world, deleted)).toEqual(["_retired.json"]);
  });

  test("without a setting reads the whole log only where what was held is due and not retired yet", async () => {
    const keys = layout(ACCOUNT);
    await world.publish(10, 1);
    const due = await world.hold(5, 2);
    for (let day = 1; day < 30; day += 1) {
      world.clock.advance(DAY_MS);
      await world.publish(10, day + 2);
    }
    await world.hold(5, 50);
    const readsFirst = async (): Promise<boolean> => {
      const { store, reads } = watched(world.store);
      await applyRetention(world.ports({ store }), undefined);
      return reads.includes(keys.publication("0000000001"));
    };

    const before = await readsFirst();
    world.clock.advance(2 * DAY_MS);
    const whileDue = await readsFirst();
    const whileRetired = await readsFirst();

    expect(files(world, due)).toContain("_retired.json");
    expect([before, whileDue, whileRetired]).toEqual([false, true, false]);
  });

  test("takes the age of a held snapshot that is named in the future from its manifest", async () => {
    await world.publish(10, 1);
    world.clock.set(100 * DAY_MS);
    const held = await world.hold(5, 2);
    world.clock.set(-100 * DAY_MS);
    const key = layout(ACCOUNT).manifest(held);
    const isRetiredAfter = async (days: number): Promise<boolean> => {
      const modifiedAtMs = world.clock.now() - days * DAY_MS - 1;
      const store: Store = {
        ...interposed(world.store),
        async *list(prefix, after) {
          for await (const found of world.store.list(prefix, after))
            yield { ...found, modifiedAtMs: found.key === key ? modifiedAtMs : 0 };
        },
      };
      await applyRetention(world.ports({ store }), undefined);
      return files(world, held).includes("_retired.json");
    };

    expect([await isRetiredAfter(29), await isRetiredAfter(30)]).toEqual([false, true]);
  });

  test("that fails does not fail the run, and is taken up by the next", async () => {
    const world = new SmallWorld({ retainDays: 3 });
    await daily(world, 5);
    world.clock.advance(DAY_MS);

    const { row } = await world.run({}, { store: refusing(world.store, "_retired.json") });

    expect(row.outcome).toBe("PUBLISHED");
    expect(world.log.text).toContain("old snapshots could not be deleted");
  });
});
