// The bucket and its protection, the tables, whose columns are the written ones in the same order, and the workgroup. The policy
// and the lifecycle rules of the bucket are those of docs/cdk.md.

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
  scanLimitGigabytes: 3,
  accounts: { uk: { schedule: "rate(1 day)" }, us: { schedule: "rate(1 day)" } },
});
const bucket = template.only("AWS::S3::Bucket");

describe("the bucket", () => {
  it("is retained when the stack is destroyed or would replace it, and deleted when its creation is rolled back", () => {
    expect([bucket.deletionPolicy, bucket.updateReplacePolicy]).toEqual(["RetainExceptOnCreate", "Retain"]);
  });

  it("is encrypted, versioned, and has no access lists", () => {
    expect(bucket.properties).toMatchObject({
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
      },
      VersioningConfiguration: { Status: "Enabled" },
      OwnershipControls: { Rules: [{ ObjectOwnership: "BucketOwnerEnforced" }] },
    });
  });

  it("is closed to the public in all four ways", () => {
    expect(bucket.properties["PublicAccessBlockConfiguration"]).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
  });
});

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
    expect(StorageDescriptor.Location).toBe(`s3://<${bucket.name}>/${prefix}`);
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

const workgroup = template.only("AWS::Athena::WorkGroup");

describe("the workgroup", () => {
  it("stops a query at the limit, encrypts its results, and lets no client override this", () => {
    expect(workgroup.properties["WorkGroupConfiguration"]).toMatchObject({
      EnforceWorkGroupConfiguration: true,
      BytesScannedCutoffPerQuery: 3_000_000_000,
      EngineVersion: { SelectedEngineVersion: "Athena engine version 3" },
      ResultConfiguration: {
        OutputLocation: `s3://<${bucket.name}>/athena-results/`,
        ExpectedBucketOwner: "<AWS::AccountId>",
        EncryptionConfiguration: { EncryptionOption: "SSE_S3" },
      },
    });
  });

  it("is deleted with the stack, even with queries in it", () => {
    expect(workgroup.properties["RecursiveDeleteOption"]).toBe(true);
  });

  it("has the saved queries, with the first account filled in", () => {
    const queries = template.all("AWS::Athena::NamedQuery").map(({ properties }) => properties);

    expect(queries.map(({ Name }) => Name).toSorted()).toEqual([
      "All changes as Parquet",
      "An event's history",
      "Changes of the last 7 days",
      "Events as Parquet",
      "Events as of a date",
      "Events by month",
      "Events that disappeared",
      "Failed and held runs",
      "Latest events",
      "One field of the events",
      "Run history",
      "Texts that do not fit",
      "What am I reading",
      "What changed in the last publication",
    ]);
    for (const { Database, WorkGroup, QueryString } of queries) {
      expect(Database).toBe("lake");
      expect(WorkGroup).toBe(`<${workgroup.name}>`);
      expect(QueryString).not.toContain("{{");
    }
    const latest = queries.find(({ Name }) => Name === "Latest events");
    expect(latest?.["QueryString"]).toContain("account = 'uk'");
  });
});
