// The logical ids of the resources that hold data. If one changes, an upgrade makes a new, empty resource beside the
// old one (bucket, secrets), or deletes the old one (database, tables).

import { expect, it } from "vitest";
import { z } from "zod";
import { json, type Resource, synthesized } from "./synthesized.ts";

const account = { schedule: "rate(1 day)" };
const template = synthesized({
  baseUrl: "https://api.example.com",
  accounts: { uk: account, "a-b": account, a_b: account },
});

const table = z.object({ TableInput: z.object({ Name: z.string() }) });
const ids = (type: string, nameOf: (resource: Resource) => unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(template.all(type).map((resource) => [String(nameOf(resource)), resource.name]));

it("the bucket keeps its logical id", () => {
  expect(template.only("AWS::S3::Bucket").name).toBe("StorageBucket5CB7C8EA");
});

it("each account's secret keeps its logical id", () => {
  const found = ids("AWS::SecretsManager::Secret", ({ properties }) => properties["Description"]);

  expect(found).toEqual({
    "Credentials of the account uk at the Brand Metrics Service, as JSON": "CredentialsukB01BFE4E",
    "Credentials of the account a-b at the Brand Metrics Service, as JSON": "CredentialsabD9F5DCF9",
    "Credentials of the account a_b at the Brand Metrics Service, as JSON": "Credentialsab776EDA35",
  });
});

it("the database keeps its logical id", () => {
  expect(template.only("AWS::Glue::Database").name).toBe("WarehouseDatabaseF83EB1F4");
});

it("the tables and views keep their logical ids", () => {
  const found = ids("AWS::Glue::Table", ({ properties }) => table.parse(properties).TableInput.Name);

  expect(found).toEqual({
    events: "Warehouseevents4A1BF718",
    events_typed: "Warehouseeventstyped557491E0",
    event_snapshots: "Warehouseeventsnapshots5F73C4C5",
    event_changes: "WarehouseeventchangesA0C40D82",
    event_history: "Warehouseeventhistory896B6472",
    publications: "Warehousepublications5231AB52",
    sync_runs: "Warehousesyncruns1FB81703",
  });
});

it("every resource that a deployment had before EventSync was a construct keeps its logical id and type", () => {
  const withEverything = synthesized({
    baseUrl: "https://api.example.com",
    authUrl: "https://login.example.com",
    alarmEmail: "data-team@example.com",
    accounts: { uk: account },
  });
  const known = z.record(z.string(), z.string()).parse(json("./logical-ids.json"));

  const found = [...withEverything.types].flatMap((type) =>
    withEverything.all(type).map(({ name }) => [name, type] as const),
  );

  expect(Object.fromEntries(found)).toMatchObject(known);
});
