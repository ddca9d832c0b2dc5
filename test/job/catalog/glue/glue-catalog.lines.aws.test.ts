// The partitions of `publications` and `sync_runs`: the job makes them, so they outlive the stack's list of accounts.

import { DeletePartitionCommand, UpdatePartitionCommand } from "@aws-sdk/client-glue";
import { expect, it } from "vitest";
import { layout, TABLES } from "../../../../lambdas/job/storage/layout.ts";
import { type AwsWarehouse, awsWarehouse } from "../../../aws/aws-warehouse.ts";
import { awsClients, onEmulator, sdkStorage } from "../../../aws/emulator.ts";
import { Publisher } from "../publisher.ts";

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

  it("show the rows of files that come later, without another refresh", async () => {
    const { catalog, reader, store } = await awsWarehouse();
    await catalog.refresh("uk");

    await new Publisher(store, "uk").day(1, ["a"]);
    await store.create(layout("uk").runLog("r", 1), Buffer.from('{"run_id":"r","attempt":1}\n'));

    expect((await reader.rows("publications", "uk")).get("uk")).toMatchObject([
      { publication: "0000000001" },
    ]);
    expect((await reader.rows("sync_runs", "uk")).get("uk")).toMatchObject([{ run_id: "r" }]);
  });

  it.each(LINES)("of %s are made again where they were deleted, as an upgrade does once", async (table) => {
    const { catalog, reader, database } = await awsWarehouse();
    await catalog.refresh("uk");
    await awsClients().glue.send(
      new DeletePartitionCommand({ DatabaseName: database, TableName: table, PartitionValues: ["uk"] }),
    );

    await catalog.refresh("uk");

    expect(await reader.partitions(table, "uk")).toHaveLength(1);
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

  it.each(LINES)("of %s stay when the account is served no longer", async (table) => {
    const { catalog, reader } = await awsWarehouse();
    await catalog.refresh("uk");

    await catalog.refresh("us");

    expect(await reader.partitions(table, "uk")).toHaveLength(1);
    expect(await reader.partitions(table, "us")).toHaveLength(1);
  });
});
