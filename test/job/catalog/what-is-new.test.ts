// Two laws. What a query makes of the heads alone is what a reading of the whole warehouse says, whatever happened there. And
// tables that are carried on publication by publication show what they would if they were made from the start.

import fc from "fast-check";
import { expect, test } from "vitest";
import { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { accountsIn, keysOf } from "../../../lambdas/job/storage/known-accounts.ts";
import { FOLDERS, type TableName, VIEWS_FILE } from "../../../lambdas/job/storage/layout.ts";
import { readLog } from "../../../lambdas/job/storage/publication-log.ts";
import { listSnapshots } from "../../../lambdas/job/storage/snapshot-marks.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { MemoryGlue } from "./glue/memory-glue.ts";
import { Publisher, snapshotOfDay } from "./publisher.ts";

/** One's name begins with the other's. */
const ACCOUNTS = ["uk", "uk-2"];
const TABLE_NAMES = ["events", "event_snapshots", "event_changes", "publications"] as const;

const kind = <Name extends string>(name: Name) => fc.constant(name);
const back = fc.nat(5);
/** Whether the tables follow, or the process dies before that. */
const isFollowed = fc.boolean();

/** What the program does. */
const WORK = [
  {
    weight: 5,
    arbitrary: fc.record({ kind: kind("publish"), events: fc.nat(2), changes: fc.nat(2), isFollowed }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind("publish again"), back, isFollowed }) },
  { weight: 2, arbitrary: fc.record({ kind: kind("retire"), back, isDeleted: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: kind("remove"), isFollowed }) },
] as const;
/** A backup, which gives numbers a second time. */
const BACKUP = [
  { weight: 1, arbitrary: fc.record({ kind: kind("make a copy") }) },
  { weight: 1, arbitrary: fc.record({ kind: kind("put it back"), butViews: fc.boolean() }) },
] as const;
/** What happens to its files. */
const HARM = [
  { weight: 3, arbitrary: fc.record({ kind: kind("lose a file"), nth: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ kind: kind("find it again") }) },
] as const;

const work = fc.oneof(...WORK, ...BACKUP);
const workOrHarm = fc.oneof(...WORK, ...BACKUP, ...HARM);
type Step = typeof workOrHarm extends fc.Arbitrary<infer Each> ? Each : never;
const stepsOf = (step: fc.Arbitrary<Step>) =>
  fc.array(fc.record({ account: fc.constantFrom(...ACCOUNTS), step }), { minLength: 4, maxLength: 16 });

class World {
  readonly store = new MemoryStore();
  readonly views = new DuckdbCatalog({ store: this.store, directory: "/warehouse" });
  readonly #glue = new MemoryGlue();
  readonly #lost: (readonly [string, Uint8Array])[] = [];
  #copy: readonly (readonly [string, Uint8Array])[] = [];
  #day = 0;

  async refresh(account: string, what?: "new"): Promise<void> {
    await this.views.refresh(account, what);
    await this.#glue.catalog(this.store).refresh(account, what);
  }

  /** The partitions that Glue has of accounts with a log, and those that it would have if they were made now. */
  async partitions(): Promise<readonly (readonly string[])[]> {
    const fresh = new MemoryGlue();
    const accounts = await accountsIn(this.store, FOLDERS.publications);
    for (const account of accounts) await fresh.catalog(this.store).refresh(account);
    return [this.#glue, fresh].map((glue) =>
      TABLE_NAMES.flatMap((table) =>
        glue
          .partitions(table)
          .filter(({ values: [account = ""] }) => accounts.includes(account))
          .map(
            ({ values, location, parameters }) =>
              `${table} ${values} ${location} ${parameters["publication"]}`,
          ),
      ).toSorted(),
    );
  }

  async step(account: string, step: Step): Promise<void> {
    const own = accountStore(this.store, account);
    const publisher = new Publisher(this.store, account);
    this.#day += 1;
    const log = await readLog(own);
    const base_snapshot_id = log.at(-1)?.snapshot_id ?? null;
    const follow = async (): Promise<void> => {
      if ("isFollowed" in step && step.isFollowed) await this.refresh(account, "new");
    };
    switch (step.kind) {
      case "publish": {
        const { events, changes } = step;
        await publisher.make(snapshotOfDay(this.#day), ["a", "b"].slice(0, events));
        const changed = ["a", "b"].slice(0, changes);
        await publisher.publish(snapshotOfDay(this.#day), changed, { events, base_snapshot_id });
        return follow();
      }
      case "publish again": {
        const retired = new Set(
          (await listSnapshots(own)).flatMap((each) => (each.isRetired ? each.snapshotId : [])),
        );
        const earlier = log.at(-1 - (step.back % log.length));
        if (earlier === undefined || retired.has(earlier.snapshot_id)) return;
        const { events, snapshot_id: snapshotId } = earlier;
        await publisher.publish(snapshotId, ["a"], { action: "rollback", events, base_snapshot_id });
        return follow();
      }
      case "retire": {
        const snapshotId = log.at(-1 - (step.back % log.length))?.snapshot_id;
        if (snapshotId === undefined || snapshotId === base_snapshot_id) return;
        await publisher.retire(snapshotId);
        await this.refresh(account);
        const { retired, snapshot } = own.keys;
        for (const key of step.isDeleted ? this.store.keys(snapshot(snapshotId)) : [])
          if (key !== retired(snapshotId)) await this.store.delete([key]);
        return;
      }
      case "remove": {
        await publisher.remove(this.#day);
        if (!step.isFollowed) return;
        await this.refresh(account);
        const removal = this.store.keys(own.keys.publications).at(-1);
        await this.store.delete((await keysOf(own)).own.filter((key) => key !== removal));
        return;
      }
      case "lose a file": {
        const files = [FOLDERS.snapshots, FOLDERS.changes].flatMap((folder) =>
          this.store.keys(`${folder}${account}/`),
        );
        const unmarked = files.filter((key) => !key.endsWith("_retired.json"));
        const key = unmarked[step.nth % unmarked.length];
        if (key === undefined) return;
        this.#lost.push(await this.#fileAt(key));
        return this.store.delete([key]);
      }
      case "find it again": {
        const found = this.#lost.pop();
        if (found) this.store.put(...found);
        return;
      }
      case "make a copy":
        this.#copy = await Promise.all(this.store.keys().map((key) => this.#fileAt(key)));
        return;
      case "put it back": {
        const isPutBack = (key: string): boolean => !(step.butViews && key === VIEWS_FILE);
        const before = this.#retired();
        for (const key of this.store.keys().filter(isPutBack)) await this.store.delete([key]);
        for (const file of this.#copy.filter(([key]) => isPutBack(key))) this.store.put(...file);
        // That a snapshot is no longer retired is seen once a day.
        if (this.#retired() !== before) for (const each of ACCOUNTS) await this.refresh(each);
      }
    }
  }

  #retired(): string {
    const marks = this.store.keys(FOLDERS.snapshots).filter((key) => key.endsWith("_retired.json"));
    return marks.toSorted().join();
  }

  async #fileAt(key: string): Promise<readonly [string, Uint8Array]> {
    return [key, (await this.store.read(key))?.bytes ?? new Uint8Array()];
  }
}

/** The statement that makes the table; its files in any order. */
function madeBy(sql: string, table: TableName): readonly string[] {
  const [, statement = ""] = sql.split(`CREATE OR REPLACE VIEW ${table} AS `);
  return statement.slice(0, statement.indexOf(";\n")).split(/,?\n/).toSorted();
}

test("a query that names the heads alone finds them as a reading of all does", async () => {
  await fc.assert(
    fc.asyncProperty(stepsOf(workOrHarm), async (steps) => {
      const world = new World();
      for (const { account, step } of steps) {
        await world.step(account, step);
        const tables = ["events", "publications"] as const;
        const [heads, all] = [await world.views.read(new Set(tables)), await world.views.read()];
        for (const table of tables) expect(madeBy(heads.sql, table)).toEqual(madeBy(all.sql, table));
      }
    }),
    { numRuns: 40 },
  );
});

test("views.sql and the partitions that are carried on are those that are made from the start", async () => {
  await fc.assert(
    fc.asyncProperty(stepsOf(work), async (steps) => {
      const world = new World();
      for (const { account, step } of steps) await world.step(account, step);
      for (const account of ACCOUNTS) await world.refresh(account, "new");
      const carried = world.store.text(VIEWS_FILE) ?? "";
      const { sql } = await world.views.read();
      for (const table of TABLE_NAMES) expect(madeBy(carried, table)).toEqual(madeBy(sql, table));
      const [has, fresh] = await world.partitions();
      expect(has).toEqual(fresh);
    }),
    { numRuns: 40 },
  );
});
