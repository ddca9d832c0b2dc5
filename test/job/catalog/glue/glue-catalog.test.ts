// The catalog in Glue keeps the contract, on Glue in memory; and what it does where a process is stopped while another one
// removes the account, or publishes.

import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { TableName } from "../../../../lambdas/job/storage/layout.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { catalogContract } from "../catalog-contract.ts";
import { Publisher, snapshotOfDay } from "../publisher.ts";
import { LOCATION, MemoryGlue } from "./memory-glue.ts";

function newCatalog() {
  const store = new MemoryStore();
  const glue = new MemoryGlue();
  const open = () => glue.catalog(store);
  return { store, glue, open, catalog: open() };
}

catalogContract("GlueCatalog on Glue in memory", async () => {
  const { store, glue, catalog } = newCatalog();
  const rowsOf = async (location: string): Promise<readonly string[]> => {
    const keys = store.keys(location.slice(LOCATION.length + 1)).filter((key) => key.endsWith(".gz"));
    const files = await Promise.all(keys.map(async (key) => (await store.read(key))?.bytes ?? ""));
    const lines = files.flatMap((file) => gunzipSync(file).toString().split("\n").filter(Boolean));
    return lines.map((line) => JSON.parse(line).uuid);
  };
  const byValue = async (table: TableName, account: string) => {
    const own = glue.partitions(table).filter(({ values: [of] }) => of === account);
    const rows = own.map(
      async ({ values, location }) => [values.at(-1) ?? "", await rowsOf(location)] as const,
    );
    return new Map(await Promise.all(rows));
  };
  const tables = {
    events: async (account: string) => (await byValue("events", account)).get(account) ?? [],
    snapshots: (account: string) => byValue("event_snapshots", account),
    changes: (account: string) => byValue("event_changes", account),
  };
  return { store, catalog, tables };
});

/** The account uk has two publications that Glue shows. */
async function followed() {
  const world = newCatalog();
  const uk = new Publisher(world.store, "uk");
  await uk.day(1, ["a"]);
  await uk.day(2, ["a", "b"]);
  await world.catalog.refresh("uk");
  return { ...world, uk };
}
type World = Awaited<ReturnType<typeof followed>>;

/** What Glue shows, by table: the last value of each partition, of `events` the publication. */
const shown = ({ glue }: Pick<World, "glue">) =>
  Object.fromEntries(
    (["events", "event_snapshots", "event_changes"] as const).map((table) => [
      table,
      glue.partitions(table).map(({ values, parameters }) => parameters["publication"] ?? values.at(-1)),
    ]),
  );

/** What another process does in the meantime. */
const remove = async ({ uk, open }: World): Promise<void> => {
  await uk.remove(3);
  await open().refresh("uk");
};
const publish = async ({ uk, open }: World): Promise<void> => {
  await uk.day(4, ["d"]);
  await open().refresh("uk");
};

interface Stop {
  /** The process is stopped before the first request of which this is true. */
  readonly isHere: (request: string, n: number) => boolean;
  readonly meanwhile: readonly ((world: World) => Promise<void>)[];
  /** Called before each request that follows. */
  readonly look?: (request: string) => void;
}

/** Undefined where it was not stopped. */
async function stopped(world: World, { isHere, meanwhile, look }: Stop): Promise<string | undefined> {
  const { glue, open } = world;
  let requests = 0;
  let at: string | undefined;
  const onRequest = async (action: string, table: string): Promise<void> => {
    const request = `${action} ${table}`;
    requests += 1;
    if (at !== undefined) return look?.(request);
    if (!isHere(request, requests)) return;
    at = request;
    glue.onRequest = async () => undefined;
    for (const work of meanwhile) await work(world);
    glue.onRequest = onRequest;
  };
  glue.onRequest = onRequest;
  await open().refresh("uk");
  return at;
}

describe("a refresh that is stopped while another process removes the account and publishes it again", () => {
  it.each([
    { what: "of a publication", begun: ({ uk }: World) => uk.day(3, ["c"]), next: "0000000005" },
    { what: "without anything new", begun: async () => undefined, next: "0000000004" },
    { what: "of a removal", begun: ({ uk }: World) => uk.remove(3), next: "0000000005" },
  ])("$what ends at the new publication, wherever it is stopped", async ({ begun, next }) => {
    for (let at = 1; ; at += 1) {
      const world = await followed();
      await begun(world);

      const where = await stopped(world, { isHere: (_, n) => n === at, meanwhile: [remove, publish] });

      if (where === undefined) break;
      expect(shown(world), where).toEqual({
        events: [next],
        event_snapshots: [snapshotOfDay(4)],
        event_changes: [next],
      });
    }
  });

  it.each([
    { at: "GetPartition events", shows: { events: ["0000000004"] } },
    { at: "GetPartitions event_snapshots", shows: { event_snapshots: [snapshotOfDay(4)] } },
    { at: "GetPartitions event_changes", shows: { event_changes: ["0000000004"] } },
  ])("of a removal before $at takes nothing new out, not even for a moment", async ({ at, shows }) => {
    const world = await followed();
    await world.uk.remove(3);
    const look = (request: string): void => expect(shown(world), request).toMatchObject(shows);

    const meanwhile = [({ open }: World) => open().refresh("uk"), publish];
    await stopped(world, { isHere: (request) => request === at, meanwhile, look });

    expect(shown(world)).toMatchObject(shows);
  });

  it.each([
    {
      after: "a removal",
      meanwhile: [remove],
      shows: { events: [], event_changes: [], event_snapshots: [] },
    },
    {
      ...{ after: "a removal and a publication", meanwhile: [remove, publish] },
      shows: { events: ["0000000005"], event_changes: ["0000000005"], event_snapshots: [snapshotOfDay(4)] },
    },
  ])("of a publication puts nothing back after $after", async ({ meanwhile, shows }) => {
    const world = await followed();
    await world.uk.day(3, ["c"]);
    const look = (request: string): void => expect(shown(world), request).toEqual(shows);

    await stopped(world, { isHere: (request) => request === "GetPartition events", meanwhile, look });

    expect(shown(world)).toEqual(shows);
  });
});

it("the lines of the log and of the runs are there from the first refresh to the removal, where they lie", async () => {
  const world = newCatalog();
  const uk = new Publisher(world.store, "uk");
  const lines = () =>
    (["publications", "sync_runs"] as const).map((table) =>
      world.glue.partitions(table).map(({ location }) => location),
    );
  const there = [[`${LOCATION}/publications/uk/`], [`${LOCATION}/run-log/uk/`]];

  await world.catalog.refresh("uk");
  expect(lines()).toEqual(there);
  await uk.remove(3);
  await world.catalog.refresh("uk");
  expect(lines()).toEqual([[], []]);
  await uk.day(4, ["d"]);
  await world.catalog.refresh("uk");
  expect(lines()).toEqual(there);
});

describe("a refresh while another process publishes", () => {
  it.each([
    { at: "UpdatePartition events", what: "its older write comes last", meanwhile: [publish] },
    { at: "GetPartition events", what: "nothing follows", meanwhile: [({ uk }: World) => uk.day(4, ["d"])] },
  ])("ends at the head of the log, although $what", async ({ at, meanwhile }) => {
    const world = await followed();
    await world.uk.day(3, ["c"]);

    await stopped(world, { isHere: (request) => request === at, meanwhile });

    expect(shown(world)).toMatchObject({ events: ["0000000004"] });
    expect(shown(world)["event_changes"]).toHaveLength(4);
  });

  it("is CATALOG_FAILED where that does not end", async () => {
    const { glue, uk, catalog } = await followed();
    glue.onRequest = async (action) => {
      if (action === "GetPartition") await uk.publish(snapshotOfDay(1));
    };

    await expect(catalog.refresh("uk")).rejects.toMatchObject({
      code: "CATALOG_FAILED",
      message: expect.stringMatching(/have published 10 times while.*start again/),
    });
  });
});

describe("where an older log was put back and goes on", () => {
  /** The third publication is taken back, and number two stands for another snapshot than before. */
  async function restored(hasWriteId: boolean): Promise<World> {
    const world = await followed();
    await world.uk.day(3, ["c"]);
    await world.catalog.refresh("uk", "new");
    const [shown] = world.glue.partitions("events");
    // As a version did that wrote none.
    const { write_id: _, ...parameters } = shown?.parameters ?? {};
    if (shown && !hasWriteId) world.glue.tables.put("events", { ...shown, parameters }, "another version");
    for (const id of ["0000000002", "0000000003"]) await world.store.delete([`publications/uk/${id}.ndjson`]);
    await world.uk.day(4, ["d"]);
    return world;
  }

  it.each([
    ["the entry that a partition names is another one", true, 0],
    ["a partition names no entry, and another snapshot", false, 0],
    ["so many were published since that the number is taken again", true, 3],
  ])("what its numbers stood for before leaves the tables: %s", async (_, hasWriteId, more) => {
    const world = await restored(hasWriteId);
    for (let day = 5; day < 5 + more; day += 1) await world.uk.day(day, ["e"]);

    await world.catalog.refresh("uk", "new");

    const days = [1, 4, 5, 6, 7].slice(0, 2 + more);
    const numbers = days.map((_, index) => `000000000${index + 1}`);
    expect(shown(world)).toEqual({
      events: [numbers.at(-1)],
      event_snapshots: days.map(snapshotOfDay),
      event_changes: numbers,
    });
    expect(world.glue.partitions("event_changes")[1]?.location).toBe(
      `${LOCATION}/changes/uk/0000000002/${snapshotOfDay(4)}/`,
    );
  });
});
