// What a call costs does not grow with the age of the warehouse: requests to the store are counted in a young and an old one.

import { expect, test } from "vitest";
import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { GlueCatalog } from "../../../lambdas/job/catalog/glue/glue-catalog.ts";
import { checkEverything } from "../../../lambdas/job/commands/check.ts";
import { status } from "../../../lambdas/job/commands/status.ts";
import { hasPublishedFiles } from "../../../lambdas/job/snapshot/files/units.ts";
import { accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { MemoryGlue } from "../catalog/glue/memory-glue.ts";
import { interposed } from "./interposed-store.ts";
import { fillWarehouse } from "./old-warehouse.ts";
import { ACCOUNT, HOUR_MS, SmallWorld } from "./small-world.ts";

/** As S3 counts them: a list of more than a thousand keys is several requests. */
interface Requests {
  get: number;
  list: number;
  put: number;
}

const KEYS_A_LIST = 1_000;
const LOCATION = "s3://bucket/prefix";

function counted(store: Store): { readonly store: Store; readonly take: () => Requests } {
  let counts: Requests = { get: 0, list: 0, put: 0 };
  const counting = <Args extends readonly unknown[], Result>(
    kind: keyof Requests,
    call: (...args: Args) => Result,
  ) => {
    return (...args: Args): Result => {
      counts[kind] += 1;
      return call(...args);
    };
  };
  return {
    take: () => {
      const taken = counts;
      counts = { get: 0, list: 0, put: 0 };
      return taken;
    },
    store: {
      ...interposed(store),
      read: counting("get", (key) => store.read(key)),
      open: counting("get", (key) => store.open(key)),
      create: counting("put", (key, body) => store.create(key, body)),
      copy: counting("put", (from, to) => store.copy(from, to)),
      replace: counting("put", (key, bytes, version) => store.replace(key, bytes, version)),
      async *list(prefix, after) {
        counts.list += 1;
        let keys = 0;
        for await (const found of store.list(prefix, after)) {
          if (keys > 0 && keys % KEYS_A_LIST === 0) counts.list += 1;
          keys += 1;
          yield found;
        }
      },
    },
  };
}

const catalogs = {
  "S3 and Glue": (store: Store): Catalog =>
    new GlueCatalog({
      client: new MemoryGlue(LOCATION).client,
      store,
      database: "events",
      location: LOCATION,
      clock: { sleep: async () => undefined },
    }),
  "a directory": (store: Store) => new DuckdbCatalog({ store, directory: "/warehouse" }),
};

/** The second run of a day in a warehouse with so many publications, and what people ask of it then. */
async function requestsAt(
  publications: number,
  catalogOf: (store: Store) => Catalog,
): Promise<Readonly<Record<string, Requests>>> {
  const world = new SmallWorld();
  world.clock.set(12 * HOUR_MS);
  for (const account of ["de", ACCOUNT])
    await fillWarehouse(accountStore(world.store, account), publications, world.clock.now());
  const { store, take } = counted(world.store);
  const catalog = catalogOf(store);
  for (const account of ["de", ACCOUNT]) await catalog.refresh(account);
  world.show(10);
  await world.run({}, { store, catalog });
  const requests: Record<string, Requests> = {};
  const asked = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    world.clock.advance(HOUR_MS);
    take();
    await work();
    requests[what] = take();
  };
  await asked("run", async () => {
    const { row } = await world.run({}, { store, catalog });
    expect(row.outcome).toBe("PUBLISHED");
  });
  await asked("status", () => status(accountStore(store, ACCOUNT), world.clock.now()));
  if (catalog instanceof DuckdbCatalog) {
    await asked("query", () => catalog.read(new Set(["events_typed"])));
    await asked("is the disk there", () => hasPublishedFiles(store));
  }
  return requests;
}

test.each(Object.entries(catalogs))(
  "a call sends as many requests to %s with 2,000 publications as with 200",
  async (_, catalogOf) => {
    const [young, old] = [await requestsAt(200, catalogOf), await requestsAt(2_000, catalogOf)];

    // What grows with the logarithm, one number more to try for each doubling; and what young warehouses have less of.
    for (const [what, requests] of Object.entries(old))
      for (const kind of ["get", "list", "put"] as const)
        expect(Math.abs(requests[kind] - (young[what]?.[kind] ?? 0)), `${kind} of ${what}`).toBeLessThan(20);
  },
);

test("the old warehouse of this test is whole", async () => {
  const world = new SmallWorld();
  await fillWarehouse(world.own, 30, world.clock.now());

  expect(await checkEverything(world.ports())).toEqual([]);
});
