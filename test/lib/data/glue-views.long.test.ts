// The views in Glue: what Athena and Trino read of them, and their columns as others see them.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { synthesized } from "../synthesized.ts";
import { TrinoSQL } from "../trino-grammar.ts";

const template = synthesized({
  baseUrl: "https://api.example.com",
  database: "lake",
  lifted: [
    { name: "amount", pointer: "/spend/amount", type: "DECIMAL(18,2)" },
    { name: "brand", pointer: "/brand/name" },
    { name: "seen_at", pointer: "/seen", type: "TIMESTAMP" },
    { name: "n", pointer: "/n", type: "BIGINT" },
    { name: "x", pointer: "/x", type: "DOUBLE" },
    { name: "is_new", pointer: "/new", type: "BOOLEAN" },
    { name: "since", pointer: "/since", type: "DATE" },
    { name: "countries", pointer: "/countries", type: "VARCHAR[]" },
  ],
  accounts: { uk: { schedule: "rate(1 day)" }, us: { schedule: "rate(1 day)" } },
});

const schema = z.object({
  DatabaseName: z.string(),
  TableInput: z.strictObject({
    Name: z.string(),
    TableType: z.string(),
    Parameters: z.record(z.string(), z.string()),
    ViewOriginalText: z.string(),
    ViewExpandedText: z.string(),
    StorageDescriptor: z.object({
      Columns: z.array(z.object({ Name: z.string(), Type: z.string() })),
      SerdeInfo: z.object({ SerializationLibrary: z.string() }),
    }),
  }),
});
const definition = z.strictObject({
  originalSql: z.string(),
  catalog: z.string(),
  schema: z.string(),
  columns: z.array(z.strictObject({ name: z.string(), type: z.string() })),
  runAsInvoker: z.literal(true),
});

const views = new Map(
  template.all("AWS::Glue::Table").flatMap(({ properties }) => {
    const parsed = schema.safeParse(properties);
    if (!parsed.success) return [];
    const { TableInput } = parsed.data;
    const [, base64 = ""] =
      /^\/\* Presto View: ([A-Za-z0-9+/=]+) \*\/$/.exec(TableInput.ViewOriginalText) ?? [];
    const defined = definition.parse(JSON.parse(Buffer.from(base64, "base64").toString("utf8")));
    return [[TableInput.Name, { input: TableInput, ...defined }] as const];
  }),
);
const view = (name: string) => {
  const found = views.get(name);
  if (found === undefined) throw new Error(`there is no view ${name}`);
  return found;
};

describe.each(["events_typed", "event_history"])("the view %s", (name) => {
  it("is marked as Athena marks its own, and looks its names up in the database", () => {
    const { input, catalog, schema: database } = view(name);

    expect(input).toMatchObject({
      TableType: "VIRTUAL_VIEW",
      Parameters: { presto_view: "true", comment: "Presto View" },
      ViewExpandedText: "/* Presto View */",
    });
    expect([catalog, database]).toEqual(["awsdatacatalog", "lake"]);
  });

  it("is SQL of Trino", () => {
    expect(new TrinoSQL().validate(view(name).originalSql)).toEqual([]);
  });

  it("has the columns of its query in both lists", () => {
    const { input, columns } = view(name);

    expect(input.StorageDescriptor.Columns.map(({ Name }) => Name)).toEqual(columns.map(({ name }) => name));
  });

  it("is made after the tables that it reads", () => {
    const resources = z.object({
      Resources: z.record(z.string(), z.object({ DependsOn: z.array(z.string()).optional() })),
    });
    const made = template
      .all("AWS::Glue::Table")
      .find(({ properties }) => schema.safeParse(properties).data?.TableInput.Name === name);

    const { DependsOn = [] } = resources.parse(JSON.parse(template.text)).Resources[made?.name ?? ""] ?? {};
    expect(DependsOn).toHaveLength(5);
  });
});

it("events_typed has the types of the settings, as Trino and as Glue say them", () => {
  const { input, columns } = view("events_typed");

  expect(columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
    "account varchar",
    "uuid varchar",
    "event_day date",
    "amount decimal(18,2)",
    "brand varchar",
    "seen_at timestamp(3)",
    "n bigint",
    "x double",
    "is_new boolean",
    "since date",
    "countries array(varchar)",
    "misfits integer",
    "event varchar",
  ]);
  expect(input.StorageDescriptor.Columns.map(({ Name, Type }) => `${Name} ${Type}`)).toEqual([
    "account string",
    "uuid string",
    "event_day date",
    "amount decimal(18,2)",
    "brand string",
    "seen_at timestamp",
    "n bigint",
    "x double",
    "is_new boolean",
    "since date",
    "countries array<string>",
    "misfits int",
    "event string",
  ]);
});
