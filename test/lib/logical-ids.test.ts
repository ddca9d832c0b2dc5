// The logical ids of a deployment. If one changes, an upgrade makes a new, empty resource beside the old one (bucket,
// secrets), or deletes the old one (database, tables).

import { expect, it } from "vitest";
import { z } from "zod";
import { json, synthesized } from "./synthesized.ts";

const account = { schedule: "rate(1 day)" };
const template = synthesized({
  baseUrl: "https://api.example.com",
  authUrl: "https://login.example.com",
  alarmEmail: "data-team@example.com",
  accounts: { uk: account, "a-b": account, a_b: account },
});

it("each resource that holds data, or that a deployment had before EventSync was a construct, keeps its logical id and type", () => {
  const known = z.record(z.string(), z.string()).parse(json("./logical-ids.json"));

  const found = [...template.types].flatMap((type) => template.all(type).map(({ name }) => [name, type]));

  expect(Object.fromEntries(found)).toMatchObject(known);
});

it("each account's secret keeps its logical id, however similar the names are", () => {
  const credentials = template
    .all("AWS::SecretsManager::Secret")
    .filter(({ name }) => name.startsWith("Credentials"));

  expect(credentials.map(({ name, properties }) => [properties["Description"], name])).toEqual([
    ["Credentials of the account uk at the Brand Metrics Service, as JSON", "CredentialsukB01BFE4E"],
    ["Credentials of the account a-b at the Brand Metrics Service, as JSON", "CredentialsabD9F5DCF9"],
    ["Credentials of the account a_b at the Brand Metrics Service, as JSON", "Credentialsab776EDA35"],
  ]);
});
