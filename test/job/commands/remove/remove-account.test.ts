// An account is taken out whole, whatever happens on the way, and no reader ever finds half of it.

import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Catalog } from "../../../../lambdas/job/catalog/catalog.ts";
import { countFiles, removeAccount } from "../../../../lambdas/job/commands/decisions.ts";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { takeBack } from "../../../../lambdas/job/run/publish/commit.ts";
import { verifySnapshot } from "../../../../lambdas/job/snapshot/files/verify-snapshot.ts";
import { knownAccounts } from "../../../../lambdas/job/storage/known-accounts.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { readEnd, readHead } from "../../../../lambdas/job/storage/publication-log.ts";
import type { AccountStore, Store } from "../../../../lambdas/job/storage/store.ts";
import { said } from "../../../words/said.ts";
import { Crashed, CrashPoint, type Moment } from "../../run/crash.ts";
import { interposed, interposedOnce } from "../../run/interposed-store.ts";
import { livingLease } from "../../run/lease/lease-world.ts";
import { ACCOUNT, DAY_MS, SmallWorld } from "../../run/small-world.ts";

/** uk has two publications, a held snapshot and changes; de has one publication. */
async function twoAccounts(): Promise<SmallWorld> {
  const world = new SmallWorld();
  await world.publish(6, 1);
  world.clock.advance(DAY_MS);
  await world.publish(6, 2);
  world.clock.advance(DAY_MS);
  await world.hold(2, 2);
  world.account = "de";
  await world.run();
  world.account = ACCOUNT;
  return world;
}

const keysOf = (world: SmallWorld, account: string): readonly string[] =>
  world.store.keys().filter((key) => key.includes(`/${account}/`));

describe("remove", () => {
  test("takes the account out of the tables and deletes all of its files, and nothing else", async () => {
    const world = await twoAccounts();
    const before = keysOf(world, "de");
    const files = await countFiles(world.own);

    const result = await removeAccount(world.ports());

    expect(result).toBe("removed");
    expect(files).toMatchObject({ publications: 2, snapshots: 3, foreign: [] });
    expect(keysOf(world, ACCOUNT)).toEqual(["publications/uk/0000000003.ndjson"]);
    expect((await countFiles(world.own)).files).toBe(0);
    expect(await knownAccounts(world.store)).toEqual(["de"]);
    expect(world.catalog.head(ACCOUNT)).toBeUndefined();
    expect(keysOf(world, "de")).toEqual(before);
    expect(await world.catalog.events("de")).toHaveLength(2);
  });

  test("leaves files that the layout does not know, and ends", async () => {
    const world = await twoAccounts();
    const foreign = ["publications/uk/a copy (1).ndjson", "runs/uk/notes.txt", "snapshots/uk/x/mine.gz"];
    for (const key of foreign) world.store.put(key, "mine");

    const counted = await countFiles(world.own);
    const result = await removeAccount(world.ports());

    expect(result).toBe("removed");
    expect(keysOf(world, ACCOUNT)).toEqual(["publications/uk/0000000003.ndjson", ...foreign]);
    expect(counted).toMatchObject({ publications: 2, snapshots: 3 });
    expect(counted.foreign.toSorted()).toEqual(foreign);
    expect((await countFiles(world.own)).files).toBe(0);
  });

  test("begins with its entry in the log and the tables, and deletes the lease last", async () => {
    const world = await twoAccounts();
    const point = new CrashPoint(Number.POSITIVE_INFINITY);

    await removeAccount(crashing(world, point));

    const effects = point.effects.filter(
      (effect) => !effect.includes("lease.json") || effect.startsWith("delete"),
    );
    expect(effects.slice(0, 2)).toEqual(["create publications/uk/0000000003.ndjson", "follow uk"]);
    expect(effects.slice(2).every((effect) => effect.startsWith("delete"))).toBe(true);
    expect(effects.indexOf(`delete ${layout(ACCOUNT).lease}`)).toBe(effects.length - 1);
  });

  test("lets the account begin again, with the next number", async () => {
    const world = await twoAccounts();
    await removeAccount(world.ports());

    const { row } = await world.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 2, added: 2, reason: null });
    expect(await readHead(world.own)).toMatchObject({
      publication: "0000000004",
      base_snapshot_id: null,
    });
    expect(await knownAccounts(world.store)).toEqual(["de", "uk"]);
    expect(await countFiles(world.own)).toMatchObject({
      publications: 1,
      snapshots: 1,
    });
  });

  test("may be repeated after the account has begun again", async () => {
    const world = await twoAccounts();
    await removeAccount(world.ports());
    await world.run();

    expect(await removeAccount(world.ports())).toBe("removed");
    expect(keysOf(world, ACCOUNT)).toEqual(["publications/uk/0000000005.ndjson"]);
  });

  test("heals a log of which an earlier version left a later number only", async () => {
    const world = await twoAccounts();
    const third = (world.store.text("publications/uk/0000000002.ndjson") ?? "").replace(
      "0000000002",
      "0000000003",
    );
    for (const n of [1, 2]) await world.store.delete([`publications/uk/000000000${n}.ndjson`]);
    world.store.put("publications/uk/0000000003.ndjson", third);
    const broken = await world.run();

    expect(said(broken.error)).toContain("If the account was to be removed, remove it again.");
    expect(await removeAccount(world.ports())).toBe("removed");
    expect(keysOf(world, ACCOUNT)).toEqual(["publications/uk/0000000004.ndjson"]);
    expect((await world.run()).row.outcome).toBe("PUBLISHED");
  });

  test("removes an account whose log is damaged", async () => {
    const world = await twoAccounts();
    world.store.put("publications/uk/0000000002.ndjson", "damaged\n");

    expect(await removeAccount(world.ports())).toBe("removed");
    expect(keysOf(world, ACCOUNT)).toEqual(["publications/uk/0000000003.ndjson"]);
  });
});

test("Ctrl-C ends remove between two lists of files, and the next one finishes", async () => {
  const world = await twoAccounts();
  for (let n = 0; n < 1_010; n += 1) world.store.put(layout(ACCOUNT).runLog(`run-${n}`, 1), "{}\n");
  const before = keysOf(world, ACCOUNT).length;
  const others = [
    ...keysOf(world, ACCOUNT).filter((key) => !key.startsWith("run-log/")),
    layout(ACCOUNT).publication("0000000003"),
  ].sort();
  const stop = new AbortController();
  const store: Store = {
    ...interposed(world.store),
    delete: (keys) => {
      stop.abort(new SyncError("INTERRUPTED", "a person stopped it"));
      return world.store.delete(keys);
    },
  };

  const stopped = removeAccount(world.ports({ store, signal: stop.signal }));

  await expect(stopped).rejects.toMatchObject({ code: "INTERRUPTED" });
  // With the entry of the log. The lines of the run log, which readers see, go first.
  expect(keysOf(world, ACCOUNT)).toHaveLength(before - 1_000 + 1);
  expect(keysOf(world, ACCOUNT).filter((key) => !key.startsWith("run-log/"))).toEqual(others);
  expect(await removeAccount(world.ports())).toBe("removed");
  expect((await countFiles(world.own)).files).toBe(0);
});

describe("a process that was stopped while its account was removed", () => {
  const [EARLIER, LATER] = ["2025-12-31T00-00-00.000Z", "2026-02-01T00-00-00.000Z"];

  async function removed(): Promise<{ world: SmallWorld; store: AccountStore; removal: string }> {
    const world = await twoAccounts();
    await removeAccount(world.ports());
    const store: AccountStore = {
      ...world.own,
      delete: async (keys) => {
        await setImmediate();
        await world.store.delete(keys);
      },
    };
    const { removal } = await readEnd(store);
    return { world, store, removal: removal?.run_id ?? "" };
  }

  test("takes back the files of its run, and no other ones", async () => {
    const { world, store, removal } = await removed();
    const own = [EARLIER, removal].map((id) => ({
      id,
      keys: [store.keys.part(id, 0), store.keys.changesPart("0000000009", id, 0), store.keys.plan(id)],
    }));
    for (const { keys } of own) for (const key of keys) world.store.put(key, "written");
    const others = [store.keys.plan(LATER), store.keys.runLog(EARLIER, 1), `runs/de/${EARLIER}/outcome.json`];
    for (const key of others) world.store.put(key, "written");

    for (const { id, keys } of own) {
      expect(await takeBack({ store, catalog: world.catalog }, { last: "0000000002", id })).toMatchObject({
        run_id: removal,
      });
      expect(world.store.keys().filter((key) => keys.includes(key))).toEqual([]);
    }

    expect(world.store.keys()).toEqual(expect.arrayContaining(others));
  });

  test("takes them out of the tables before it deletes them", async () => {
    const { world, store, removal: id } = await removed();
    world.store.put(store.keys.plan(id), "written");
    const effects: string[] = [];
    const refresh = async (): Promise<void> => {
      await setImmediate();
      effects.push("tables");
    };
    const deleting = { ...store, delete: async () => void effects.push("file") };

    await takeBack({ store: deleting, catalog: { refresh } }, { last: "0000000002", id });

    expect(effects).toEqual(["tables", "file"]);
  });

  test("takes nothing back where the account was removed before it began", async () => {
    const { world, store } = await removed();
    world.store.put(store.keys.plan(EARLIER), "written");

    const taken = await takeBack({ store, catalog: world.catalog }, { last: "0000000003", id: EARLIER });

    expect(taken).toBeUndefined();
    expect(world.store.keys()).toContain(store.keys.plan(EARLIER));
  });

  test.each<[string, Error | undefined, object]>([
    ["as superseded", undefined, { outcome: "SUPERSEDED", reason: "LATER_HEAD" }],
    [
      "as it would without that, where the tables do not follow",
      new SyncError("CATALOG_FAILED", "for a moment"),
      { outcome: "SKIPPED", reason: "LEASE_LOST" },
    ],
  ])("ends its run %s", async (_, failure, ends) => {
    const world = new SmallWorld();
    await world.publish(3);
    const { process } = world.ports();
    let isRemoved = false;
    const store = interposedOnce(world.store, "_manifest.json", async () => {
      world.dead.add(process.pid ?? 0);
      await removeAccount(world.ports());
      isRemoved = true;
    });
    const refreshed: unknown[] = [];
    const catalog: Catalog = {
      refresh: async (account, what) => {
        await world.catalog.refresh(account);
        if (isRemoved && failure) throw failure;
        if (isRemoved) refreshed.push(what ?? "all");
      },
    };

    const { row, explanation } = await world.run({}, { process, store, catalog });

    expect(row).toMatchObject(ends);
    expect(refreshed).toEqual(failure ? [] : ["all"]);
    expect(explanation).toMatch(failure ? /^Another process/ : /^The account was removed at /);
  });
});

describe("remove is refused", () => {
  test("while a run is at work", async () => {
    const world = await twoAccounts();
    world.store.put(layout(ACCOUNT).lease, livingLease(world.clock.now()));
    const before = world.store.keys();

    const result = await removeAccount(world.ports());

    expect(result).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
    expect(world.store.keys()).toEqual(before);
    expect(world.catalog.head(ACCOUNT)).toBeDefined();
  });
});

describe.each<Moment>(["before", "after"])("a process that is killed %s an effect of remove", (moment) => {
  test("leaves readers a whole snapshot or none, and the next one finishes, at every effect", async () => {
    let effects = 1;
    for (let at = 1; at <= effects; at += 1) {
      const world = await twoAccounts();
      const point = new CrashPoint(at, moment);
      const dying = crashing(world, point);
      await expect(removeAccount(dying)).rejects.toThrow(Crashed);
      world.dead.add(dying.process.pid ?? -1);
      if (at === 1) effects = await effectsOf();

      // Another process brings the tables up to the log, as the start of any run does.
      const where = `${moment} effect ${at}: ${point.effects.at(-1)}`;
      await world.catalog.refresh(ACCOUNT);
      const head = await readHead(world.own);
      if (head) await verifySnapshot(world.own, head.snapshot_id);
      expect(await world.catalog.events("de"), where).toHaveLength(2);
      if (moment === "before" || at < effects) {
        expect((await countFiles(world.own)).files, where).toBeGreaterThan(0);
      }

      expect(await removeAccount(world.ports()), where).toBe("removed");
      expect((await countFiles(world.own)).files, where).toBe(0);
      expect(world.catalog.head(ACCOUNT), where).toBeUndefined();
      expect(await world.catalog.events("de"), where).toHaveLength(2);
    }
    expect(effects).toBeGreaterThan(20);
  });
});

/** Of a removal that nothing stops, up to the deletion of the lease. */
async function effectsOf(): Promise<number> {
  const point = new CrashPoint(Number.POSITIVE_INFINITY);
  await removeAccount(crashing(await twoAccounts(), point));
  return point.effects.indexOf(`delete ${layout(ACCOUNT).lease}`) + 1;
}

function crashing(world: SmallWorld, point: CrashPoint): ReturnType<SmallWorld["ports"]> {
  return world.ports(point.wrap(world));
}
