// The tables: their columns are the written ones, in the same order.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { runLogEntrySchema } from "../../../lambdas/job/run/record/run-log.ts";
import { changeLine } from "../../../lambdas/job/snapshot/rows/compare-snapshots.ts";
import { rowLine } from "../../../lambdas/job/snapshot/rows/row.ts";
import { TABLES, type TableName } from "../../../lambdas/job/storage/layout.ts";
import { aPublication } from "../../job/storage/publications.ts";
import { synthesized } from "../synthesized.ts";

const template = synthesized({
  baseUrl: "https://api.example.com",
  database: "lake",
  lifted: [
    { name: "brand", pointer: "/brand/name" },
    { name: "a_sector", pointer: "/sector" },
  ],
  accounts: { uk: { schedule: "rate(1 day)" }, us: { schedule: "rate(1 day)" } },
});
const bucket = `<${template.only("AWS::S3::Bucket").name}>`;

const storage = z.object({
  Location: z.string(),
  InputFormat: z.string(),
  SerdeInfo: z.object({ SerializationLibrary: z.string() }),
  Columns: z.array(z.object({ Name: z.string(), Type: z.string() })),
});
const table = z.object({
  TableInput: z.object({
    Name: z.string(),
    TableType: z.literal("EXTERNAL_TABLE"),
    PartitionKeys: z.array(z.object({ Name: z.string(), Type: z.literal("string") })),
    StorageDescriptor: storage,
  }),
});
const tables = new Map(
  template.all("AWS::Glue::Table").flatMap(({ properties }) => {
    const { data } = table.safeParse(properties); // the views are none
    return data === undefined ? [] : [[data.TableInput.Name, data.TableInput] as const];
  }),
);
const keysOf = (line: string): readonly string[] => Object.keys(Object(JSON.parse(line)));

const ROW = rowLine(
  { uuid: "u", event_date: null, scope: null, event: "{}", listing: "{}" },
  { brand: "x", a_sector: null },
);
const CHANGE = changeLine({ uuid: "u", change: "added", fields: null, before: null, after: "{}" });

describe("the tables", () => {
  it.each<[TableName, readonly string[], readonly string[]]>([
    ["events", keysOf(ROW), ["string", "string"]],
    ["event_snapshots", keysOf(ROW), ["string", "string"]],
    ["event_changes", keysOf(CHANGE), []],
    ["publications", Object.keys(aPublication()), []],
    ["sync_runs", Object.keys(runLogEntrySchema.shape), []],
  ])("%s has the written columns, in their order, with the types of the layout", (name, written, lifted) => {
    const columns = tables.get(name)?.StorageDescriptor.Columns ?? [];

    expect(columns.map(({ Name }) => Name)).toEqual(written);
    expect(columns.map(({ Type }) => Type)).toEqual([
      ...TABLES[name].columns.map(({ type }) => type),
      ...lifted,
    ]);
  });

  it.each([
    ["events", ["account"], "snapshots/"],
    ["event_snapshots", ["account", "snapshot_id"], "snapshots/"],
    ["event_changes", ["account", "publication"], "changes/"],
    ["publications", ["account"], "publications/"],
    ["sync_runs", ["account"], "run-log/"],
  ])("%s is partitioned by %j and located at %s", (name, keys, prefix) => {
    const { PartitionKeys, StorageDescriptor } = table.shape.TableInput.parse(tables.get(name));

    expect(PartitionKeys.map((key) => key.Name)).toEqual(keys);
    expect(StorageDescriptor.Location).toBe(`s3://${bucket}/${prefix}`);
  });

  it("use the SerDe whose row counts AWS documents as correct", () => {
    for (const { StorageDescriptor } of tables.values()) {
      expect(StorageDescriptor.SerdeInfo.SerializationLibrary).toBe(
        "org.apache.hive.hcatalog.data.JsonSerDe",
      );
      expect(StorageDescriptor.InputFormat).toBe("org.apache.hadoop.mapred.TextInputFormat");
    }
  });

  it("are in the database of the settings", () => {
    expect(template.only("AWS::Glue::Database").properties["DatabaseInput"]).toMatchObject({ Name: "lake" });
  });
});

it("has no partitions of its own: the job makes them, so an account taken out keeps its rows", () => {
  expect(template.all("AWS::Glue::Partition")).toEqual([]);
});
