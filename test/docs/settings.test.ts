// The page's tables of the deployment's settings says what the schema says, both ways.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { accountKeys, schedule } from "../../lambdas/job/settings-file/account-keys.ts";
import { fileSettingsSchema } from "../../lambdas/job/settings-file/settings-schema.ts";
import { sharedKeys } from "../../lambdas/job/settings-file/shared-keys.ts";
import { environmentOf, readEnvironment } from "../../lambdas/sync/environment.ts";
import { settingsFileText } from "../../lambdas/sync/settings-file.ts";

const PAGE = readFileSync(new URL("../../docs/settings.md", import.meta.url), "utf8");

type Shape = Readonly<Record<string, z.ZodType>>;

describe.each<[string, Shape, Readonly<Record<string, unknown>>]>([
  ["### For all accounts", { accounts: fileSettingsSchema.shape.accounts, ...sharedKeys.shape }, {}],
  ["### For one account", { schedule, ...accountKeys.shape }, functionDefaults()],
])("the table below %s", (heading, shape, inherited) => {
  test("has every key with its default, in the order of the schema, and no other", () => {
    const rows = rowsBelow(heading).map(([key = "", , fallback = ""]) => [key, fallback]);

    expect(rows).toEqual(Object.entries(shape).map(([key, schema]) => [key, shown(key, schema, inherited)]));
  });
});

/** What the function takes where the stack says nothing. */
function functionDefaults(): Readonly<Record<string, unknown>> {
  const { accounts } = readEnvironment(
    environmentOf({
      bucket: "bucket",
      bucketOwner: "123456789012",
      database: "database",
      workgroup: "workgroup",
      secretName: "secret-of-{account}",
    }),
    settingsFileText({ accounts: { uk: { baseUrl: "https://api.example.com" } } }),
  );
  const { secretId, baseUrl, ...defaults } = accounts["uk"] ?? {};
  return defaults;
}

function shown(key: string, schema: z.ZodType, inherited: Readonly<Record<string, unknown>>): string {
  const absent = schema.safeParse(undefined);
  if (!absent.success) return "required";
  const fallback = absent.data ?? inherited[key];
  return fallback === undefined ? "none" : JSON.stringify(fallback);
}

/** The cells of the first table of a section, without their quotes. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const section = PAGE.split(/^(?=#+ )/m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
  const [, , ...rows] = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^`(.*)`$/, "$1")),
  );
}
