// What calls on an old warehouse cost: the requests that they send to the store and to Glue are counted.

import { equal } from "node:assert/strict";
import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { findDamage } from "../../../lambdas/job/commands/check.ts";
import { status } from "../../../lambdas/job/commands/status.ts";
import { hasPublishedFiles } from "../../../lambdas/job/snapshot/files/units.ts";
import { createColumns } from "../../../lambdas/job/snapshot/rows/table-columns.ts";
import { accountStore, type Store, type StoredKey } from "../../../lambdas/job/storage/store.ts";
import { MemoryGlue } from "../catalog/glue/memory-glue.ts";
import { interposed } from "./interposed-store.ts";
import { fillWarehouse } from "./old-warehouse.ts";
import { ACCOUNT, DAY_MS, HOUR_MS, SmallWorld } from "./small-world.ts";

/** As S3 counts them: a list of more than a thousand keys is several requests. And those to Glue. */
export interface Requests {
  get: number;
  list: number;
  put: number;
  glue: number;
}

export const KINDS = ["get", "list", "put", "glue"] as const;

export interface Age {
  /** Of each account. */
  readonly publications: number;
  readonly accounts: number;
  readonly stepMs: number;
  readonly retainDays?: number | undefined;
  readonly place: "S3 and Glue" | "a directory";
  /** Whether `check --deep` is counted too, which reads all. */
  readonly checks: boolean;
}

const KEYS_A_LIST = 1_000;
export const NONE: Requests = { get: 0, list: 0, put: 0, glue: 0 };

class Counter {
  #counts = { ...NONE };

  /** What was counted since the last call. */
  take(): Requests {
    const taken = this.#counts;
    this.#counts = { ...NONE };
    return taken;
  }

  count(kind: keyof Requests): void {
    this.#counts[kind] += 1;
  }

  store(store: Store): Store {
    const counting = <Args extends readonly unknown[], Result>(
      kind: keyof Requests,
      call: (...args: Args) => Result,
    ) => {
      return (...args: Args): Result => {
        this.count(kind);
        return call(...args);
      };
    };
    return {
      ...interposed(store),
      read: counting("get", (key) => store.read(key)),
      open: counting("get", (key) => store.open(key)),
      create: counting("put", (key, body) => store.create(key, body)),
      copy: counting("put", (from, to) => store.copy(from, to)),
      replace: counting("put", (key, bytes, version) => store.replace(key, bytes, version)),
      list: (prefix, after) => this.#listed(store.list(prefix, after)),
    };
  }

  async *#listed(keys: AsyncIterable<StoredKey>): AsyncGenerator<StoredKey> {
    this.count("list");
    let taken = 0;
    for await (const found of keys) {
      if (taken > 0 && taken % KEYS_A_LIST === 0) this.count("list");
      taken += 1;
      yield found;
    }
  }
}

function catalogOf(place: Age["place"], store: Store, counter: Counter): Catalog {
  if (place === "a directory") return new DuckdbCatalog({ store, directory: "/warehouse" });
  const glue = new MemoryGlue();
  glue.onRequest = async () => counter.count("glue");
  return glue.catalog(store);
}

/**
 * What each call sends, by its name, in a warehouse of this age.
 * @param log called with each as it comes
 */
export async function requestsAt(
  age: Age,
  log?: (text: string) => void,
): Promise<Readonly<Record<string, Requests>>> {
  const { publications, stepMs, retainDays, place } = age;
  const world = new SmallWorld({ retainDays });
  world.clock.set(Date.UTC(2026, 0, 1, 12));
  const endMs = world.clock.now();
  const others = Array.from({ length: age.accounts - 1 }, (_, n) => `a${n}`);
  const filled = { publications, stepMs, endMs, retainDays };
  for (const account of others) await fillWarehouse(accountStore(world.store, account), filled);
  const heldAfter = Math.ceil(publications / 20);
  const oldHeld = await fillWarehouse(world.own, { ...filled, heldAfter });
  await createColumns(world.store);
  const counter = new Counter();
  const store = counter.store(world.store);
  const catalog = catalogOf(place, store, counter);
  for (const account of [...others, ACCOUNT]) await catalog.refresh(account);

  const requests: Record<string, Requests> = {};
  const asked = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    counter.take();
    await work();
    requests[what] = counter.take();
    log?.(`${what}: ${JSON.stringify(requests[what])}`);
    world.clock.advance(HOUR_MS);
  };
  const ran = async (outcome: string, work: () => ReturnType<SmallWorld["run"]>): Promise<string> => {
    const { row } = await work();
    equal(row.outcome, outcome, row.error_message ?? "");
    return row.run_id;
  };
  const changes = { store, catalog };
  world.show(1);
  await asked("accept of what was held long ago", () =>
    ran("PUBLISHED", () =>
      world.acceptOrRollback({ action: "accept", snapshotId: oldHeld, force: true }, changes),
    ),
  );
  let published = "";
  await asked("the first run of a day", async () => {
    published = await ran("PUBLISHED", () => world.run({}, changes));
  });
  world.show(10, 2);
  await asked("run", () => ran("PUBLISHED", () => world.run({}, changes)));
  world.show(1, 3);
  const held = await ran("HELD", () => world.run({}, changes));
  await asked("status", () => status(accountStore(store, ACCOUNT), world.clock.now()));
  await asked("accept", () =>
    ran("PUBLISHED", () =>
      world.acceptOrRollback({ action: "accept", snapshotId: held, force: false }, changes),
    ),
  );
  await asked("rollback", () =>
    ran("PUBLISHED", () =>
      world.acceptOrRollback({ action: "rollback", snapshotId: published, pin: false }, changes),
    ),
  );
  world.show(10, 4);
  await asked("a run that continues", async () => {
    await world.crash("_manifest.json");
    counter.take();
    await ran("PUBLISHED", () => world.run({}, changes));
  });
  if (catalog instanceof DuckdbCatalog) {
    await asked("query of events", () => catalog.read(new Set(["events"])));
    await asked("is the disk there", () => hasPublishedFiles(store));
  }
  world.clock.advance(DAY_MS);
  await asked("a first run of a later day", () => ran("PUBLISHED", () => world.run({}, changes)));
  if (age.checks) await asked("check", () => findDamage(world.ports({ store }), true));
  return requests;
}
