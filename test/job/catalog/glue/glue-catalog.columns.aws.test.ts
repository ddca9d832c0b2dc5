// The columns of Glue's tables, as the catalog reads them.

import { UpdateTableCommand } from "@aws-sdk/client-glue";
import { expect, it } from "vitest";
import type { TableName } from "../../../../lambdas/job/storage/layout.ts";
import { type AwsWarehouse, awsWarehouse } from "../../../aws/aws-warehouse.ts";
import { awsClients, onEmulator, sdkStorage } from "../../../aws/emulator.ts";

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
