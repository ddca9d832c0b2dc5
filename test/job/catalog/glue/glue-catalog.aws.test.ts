// The catalog in Glue keeps the contract, on an emulator; tests of what only Glue has: partitions, columns, and the lines of
// `publications` and `sync_runs`, whose partitions the job makes, so that they outlive the stack's list of accounts.

import { UpdatePartitionCommand, UpdateTableCommand } from "@aws-sdk/client-glue";
import { describe, expect, it } from "vitest";
import { GlueCatalog } from "../../../../lambdas/job/catalog/glue/glue-catalog.ts";
import { systemClock } from "../../../../lambdas/job/runtime/clock.ts";
import { TABLES, type TableName } from "../../../../lambdas/job/storage/layout.ts";
import { type AwsWarehouse, awsWarehouse, GlueReader, type GlueRow } from "../../../aws/aws-warehouse.ts";
import { awsClients, freshDatabase, onEmulator, sdkStorage } from "../../../aws/emulator.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { catalogContract } from "../catalog-contract.ts";
import { Publisher, snapshotOfDay } from "../publisher.ts";

const [FIRST, SECOND] = [snapshotOfDay(1), snapshotOfDay(2)];
const uuids = (rows: readonly GlueRow[] = []): readonly string[] => rows.map(({ uuid }) => String(uuid));

async function makeWorld() {
  const { store, catalog, reader } = await awsWarehouse();
  const byValue = async (
    table: TableName,
    account: string,
  ): Promise<ReadonlyMap<string, readonly string[]>> =>
    new Map([...(await reader.rows(table, account))].map(([value, rows]) => [value, uuids(rows)]));
  const tables = {
    events: async (account: string) => (await byValue("events", account)).get(account) ?? [],
    snapshots: (account: string) => byValue("event_snapshots", account),
    changes: (account: string) => byValue("event_changes", account),
  };
  return { store, catalog, tables };
}

/** With two publications followed. */
async function followed(lifted: readonly string[] = []): Promise<AwsWarehouse & { readonly uk: Publisher }> {
  const world = await awsWarehouse(lifted);
  const uk = new Publisher(world.store, "uk");
  await uk.day(1, ["a"]);
  await uk.day(2, ["a", "b"]);
  await world.catalog.refresh("uk");
  return { ...world, uk };
}

onEmulator("in Glue", () => {
  catalogContract("GlueCatalog", makeWorld);

  describe("GlueCatalog", () => {
    it("describes every partition in full, with the table's columns and a location that ends in a slash", async () => {
      const { reader, location } = await followed(["brand"]);

      const [events] = await reader.partitions("events", "uk");
      const snapshots = await reader.partitions("event_snapshots", "uk");
      const changes = await reader.partitions("event_changes", "uk");

      const storage = {
        InputFormat: "org.apache.hadoop.mapred.TextInputFormat",
        OutputFormat: "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        SerdeInfo: { SerializationLibrary: "org.apache.hive.hcatalog.data.JsonSerDe" },
      };
      const strings = (...names: readonly string[]) => names.map((Name) => ({ Name, Type: "string" }));
      const Columns = strings("uuid", "event_date", "scope", "event", "listing", "brand");
      expect(events).toMatchObject({
        Values: ["uk"],
        Parameters: { publication: "0000000002" },
        StorageDescriptor: { ...storage, Columns, Location: `${location}/snapshots/uk/${SECOND}/` },
      });
      expect(snapshots).toMatchObject(
        [FIRST, SECOND].map((id) => ({
          Values: ["uk", id],
          StorageDescriptor: { ...storage, Columns, Location: `${location}/snapshots/uk/${id}/` },
        })),
      );
      expect(changes).toMatchObject(
        [FIRST, SECOND].map((id, index) => ({
          Values: ["uk", `000000000${index + 1}`],
          StorageDescriptor: {
            ...storage,
            Columns: strings("uuid", "change", "fields", "before", "after"),
            Location: `${location}/changes/uk/000000000${index + 1}/${id}/`,
          },
        })),
      );
    });

    it("corrects wrong locations of the head and of snapshots", async () => {
      const world = await followed();
      await misplace(world, "events", ["uk"], "0000000002");
      await misplace(world, "event_snapshots", ["uk", FIRST]);

      await world.catalog.refresh("uk");

      const { reader } = world;
      expect(uuids((await reader.rows("events", "uk")).get("uk"))).toEqual(["a", "b"]);
      expect(uuids((await reader.rows("event_snapshots", "uk")).get(FIRST))).toEqual(["a"]);
    });

    it("corrects a wrong location of changes that events does not show yet", async () => {
      const world = await followed();
      await misplace(world, "events", ["uk"], "0000000001");
      await misplace(world, "event_changes", ["uk", "0000000002"]);

      await world.catalog.refresh("uk");

      const changes = await world.reader.rows("event_changes", "uk");
      expect(uuids(changes.get("0000000002"))).toEqual(["a", "b"]);
    });

    it("creates all partitions again in an empty database, except those of deleted snapshots", async () => {
      const { store, location, uk } = await followed();
      await uk.day(3, ["c"]);
      for await (const { key } of store.list(`snapshots/uk/${FIRST}/`)) await store.delete([key]);
      const clients = awsClients();
      const database = await freshDatabase(clients.glue, location);

      await new GlueCatalog({ client: clients.glue, store, database, location, clock: systemClock }).refresh(
        "uk",
      );

      const reader = new GlueReader(clients, database);
      expect(uuids((await reader.rows("events", "uk")).get("uk"))).toEqual(["c"]);
      expect([...(await reader.rows("event_snapshots", "uk")).keys()]).toEqual([SECOND, snapshotOfDay(3)]);
      expect((await reader.rows("event_changes", "uk")).size).toBe(3);
    });

    it("makes more partitions than one request takes", async () => {
      const { database, reader } = await awsWarehouse();
      const store = new MemoryStore();
      const uk = new Publisher(store, "uk");
      await uk.make(FIRST, ["a"]);
      for (let n = 0; n < 101; n += 1) await uk.publish(FIRST, ["a"]);

      const client = awsClients().glue;
      await new GlueCatalog({ client, store, database, location: "s3://b", clock: systemClock }).refresh(
        "uk",
      );

      expect(await reader.partitions("event_changes", "uk")).toHaveLength(101);
    });

    it("registers a new snapshot behind a publication whose clock was days back", async () => {
      const { catalog, reader, uk } = await followed();
      await uk.day(21, ["a", "b", "c"]);
      const byHand = {
        action: "rollback",
        run_id: "by-hand",
        published_at: "2026-11-18T07:00:00.000Z",
      } as const;
      await uk.publish(FIRST, [], byHand);

      await catalog.refresh("uk");

      const snapshots = await reader.rows("event_snapshots", "uk");
      expect([...snapshots.keys()]).toEqual([FIRST, SECOND, snapshotOfDay(21)]);
    });
  });
});

/** As a slow process, or a person, may leave it. */
async function misplace(
  { database, location }: AwsWarehouse,
  table: TableName,
  values: readonly string[],
  publication = "",
): Promise<void> {
  const Values = [...values];
  const StorageDescriptor = sdkStorage(table, `${location}/elsewhere`);
  const PartitionInput = { Values, StorageDescriptor, Parameters: { publication } };
  const where = { DatabaseName: database, TableName: table, PartitionValueList: Values };
  await awsClients().glue.send(new UpdatePartitionCommand({ ...where, PartitionInput }));
}

const BASE = ["uuid", "event_date", "scope", "event", "listing"].map((name) => [name, "string"] as const);

onEmulator("the columns of Glue's tables", () => {
  it("are those of events and event_snapshots, lifted ones last", async () => {
    const { catalog } = await awsWarehouse(["brand", "region"]);

    expect(await catalog.columns()).toEqual([
      "uuid",
      "event_date",
      "scope",
      "event",
      "listing",
      "brand",
      "region",
    ]);
  });

  it("are the longer list while a deployment is under way", async () => {
    const world = await awsWarehouse(["brand"]);
    await setColumns(world, "event_snapshots", [...BASE, ["brand", "string"], ["region", "string"]]);

    expect((await world.catalog.columns()).slice(-2)).toEqual(["brand", "region"]);
  });

  it.each([
    {
      what: "a column that is no string",
      columns: [...BASE, ["brand", "bigint"]],
      says: "brand is of the type bigint",
    },
    {
      what: "another order than the other table",
      columns: [...BASE, ["brand", "string"]],
      says: "brand is region in events",
    },
  ] as const)("are refused with $what", async ({ columns, says }) => {
    const world = await awsWarehouse(["region"]);
    await setColumns(world, "event_snapshots", columns);

    await expect(world.catalog.columns()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(new RegExp(`event_snapshots .*${says}.*Deploy the stack`)),
    });
  });
});

async function setColumns(
  { database, location }: AwsWarehouse,
  table: TableName,
  columns: readonly (readonly [string, string])[],
): Promise<void> {
  const storage = sdkStorage(table, location);
  const Columns = columns.map(([Name, Type]) => ({ Name, Type }));
  const TableInput = { Name: table, StorageDescriptor: { ...storage, Columns } };
  await awsClients().glue.send(new UpdateTableCommand({ DatabaseName: database, TableInput }));
}

const LINES = [
  ["publications", "publications/uk/"],
  ["sync_runs", "run-log/uk/"],
] as const;
type Lines = (typeof LINES)[number][0];

async function replaced(
  { database, location }: AwsWarehouse,
  table: Lines,
  change: { readonly Location?: string; readonly columns?: number },
): Promise<void> {
  const { Columns = [], ...storage } = sdkStorage(table, location);
  const StorageDescriptor = {
    ...storage,
    Columns: Columns.slice(0, change.columns),
    Location: change.Location ?? `${location}/${table === "publications" ? "publications" : "run-log"}/uk/`,
  };
  const where = { DatabaseName: database, TableName: table, PartitionValueList: ["uk"] };
  const PartitionInput = { Values: ["uk"], StorageDescriptor };
  await awsClients().glue.send(new UpdatePartitionCommand({ ...where, PartitionInput }));
}

onEmulator("an account's partitions of publications and run logs", () => {
  it.each(LINES)("of %s are made before anything is published", async (table, folder) => {
    const { catalog, reader, location } = await awsWarehouse();

    await catalog.refresh("uk");

    expect(await reader.partitions(table, "uk")).toMatchObject([
      {
        Values: ["uk"],
        StorageDescriptor: {
          Location: `${location}/${folder}`,
          Columns: TABLES[table].columns.map(({ name, type }) => ({ Name: name, Type: type })),
          SerdeInfo: { SerializationLibrary: "org.apache.hive.hcatalog.data.JsonSerDe" },
        },
      },
    ]);
  });

  it.each(LINES)("of %s follow the location and the columns of the table", async (table, folder) => {
    const world = await awsWarehouse();
    const { catalog, reader, location } = world;
    const width = TABLES[table].columns.length;
    for (const change of [{ Location: `${location}/elsewhere/` }, { columns: width - 1 }]) {
      await catalog.refresh("uk");
      await replaced(world, table, change);

      await catalog.refresh("uk");

      const [partition] = await reader.partitions(table, "uk");
      expect(partition?.StorageDescriptor?.Location).toBe(`${location}/${folder}`);
      expect(partition?.StorageDescriptor?.Columns).toHaveLength(width);
    }
  });
});
