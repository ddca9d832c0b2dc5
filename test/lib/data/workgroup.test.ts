// The workgroup: its scan limit, the location of its results, its saved queries.

import { describe, expect, it } from "vitest";
import { synthesized } from "../synthesized.ts";

const template = synthesized({
  baseUrl: "https://api.example.com",
  scanLimitGigabytes: 3,
  accounts: { lab: { schedule: "rate(1 day)" }, uk: { schedule: "rate(1 day)" } },
});
const workgroup = template.only("AWS::Athena::WorkGroup");

describe("the workgroup", () => {
  it("stops a query at the limit, encrypts its results, and lets no client override this", () => {
    expect(workgroup.properties["WorkGroupConfiguration"]).toMatchObject({
      EnforceWorkGroupConfiguration: true,
      BytesScannedCutoffPerQuery: 3_000_000_000,
      EngineVersion: { SelectedEngineVersion: "Athena engine version 3" },
      ResultConfiguration: {
        OutputLocation: `s3://<${template.only("AWS::S3::Bucket").name}>/athena-results/`,
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
      expect(Database).toBe("brand_events");
      expect(WorkGroup).toBe(`<${workgroup.name}>`);
      expect(QueryString).not.toContain("{{");
    }
    const latest = queries.find(({ Name }) => Name === "Latest events");
    expect(latest?.["QueryString"]).toContain("account = 'lab'");
  });
});
