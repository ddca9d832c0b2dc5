// Where a value comes from: option, environment variable, the account's key, the key for all, default, in this order.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { KEYS_OF_ACCOUNT, SHARED_KEYS } from "../../../bin/cli/options/file-value.ts";
import {
  AUTHORIZE_OPTIONS,
  NOTIFY_OPTIONS,
  RUN_OPTIONS,
  SERVICE_OPTIONS,
} from "../../../bin/cli/options/given-settings.ts";
import { longName, OPTIONS, type OptionName } from "../../../bin/cli/options/options.ts";
import { readOptions } from "../../../bin/cli/options/read-options.ts";
import { openSettingsFile, type SettingsFile } from "../../../bin/cli/options/settings-file.ts";
import { accountSettings } from "../../../lambdas/job/settings/account-settings.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";

type Value = string | number | readonly string[];

/** Four values of each option that differ from one another and from the default. */
const VALUES: Readonly<Record<keyof typeof KEYS_OF_ACCOUNT | "database", readonly Value[]>> = {
  baseUrl: ["https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"],
  authUrl: ["https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"],
  credentials: ["/a.json", "/b.json", "secretsmanager:c", "/d.json"],
  tokens: ["/a.json", "/b.json", "secretsmanager:c", "/d.json"],
  warehouse: ["/a", "s3://bucket-b/b", "/c", "s3://bucket-d"],
  requestsPerMinute: [1, 2, 3, "unlimited"],
  bytesPerMinute: [1, "unlimited", 3, 4],
  limitWindow: [10, 20, 30, 40],
  concurrency: [1, 2, 3, 4],
  isListed: ["any", "false", "any", "false"],
  listPointer: ["/a", "/b", "/c", "/d"],
  detailPointer: ["/a", "/b", "/c", "/d"],
  maxDrop: [1, 2, 3, 4.5],
  maxGrowth: [0, 2, 300, 4.5],
  maxMissing: [0, 2, 3, 4.5],
  require: [["/a"], ["/b", "/c"], ["/d"], []],
  resumeWithin: [0, 2, 3, 4],
  retainDays: [1, 2, 3, 4],
  notifyUrl: ["https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"],
  notifyOn: [["published"], ["held"], ["failed"], ["published", "held"]],
  database: ["a", "b", "c", "d"],
};

const keyOf: ReadonlyMap<string, string> = new Map(Object.entries({ ...KEYS_OF_ACCOUNT, ...SHARED_KEYS }));

const variable = (name: OptionName): string => `BRAND_${longName(name).toUpperCase().replaceAll("-", "_")}`;

async function fileWith(settings: object): Promise<SettingsFile | undefined> {
  const cwd = await temporaryDirectory();
  writeFileSync(join(cwd, "brand-events.json"), JSON.stringify(settings));
  return openSettingsFile(undefined, cwd);
}

/** As an option or a variable has it. */
const textOf = (name: string, value: Value | undefined): string =>
  name === "require" ? JSON.stringify(value) : String(value);

const defaultOf = (name: OptionName): unknown => readOptions([name], {}, {})[name];

describe.each(Object.entries(VALUES) as [keyof typeof VALUES, readonly Value[]][])(
  "%s comes from",
  (name, [first, second, third, fourth]) => {
    const key = keyOf.get(name) ?? "";
    const options = { [name]: textOf(name, first) };
    const environment = { [variable(name)]: textOf(name, second) };
    const [own, common] = name === "database" ? [{}, third] : [{ [key]: third }, fourth];

    test.each<[string, object, Record<string, string>, object, object, unknown]>([
      ["the option, before all others", options, environment, own, { [key]: common }, first],
      ["the variable, before the file", {}, environment, own, { [key]: common }, second],
      ["the key of the account", {}, {}, own, { [key]: common }, third],
      ["the key for all accounts", {}, {}, {}, { [key]: common }, common],
      ["its default", {}, {}, {}, {}, defaultOf(name)],
    ])("%s", async (_, given, variables, ofAccount, atTop, expected) => {
      const file = await fileWith({ ...atTop, accounts: { uk: ofAccount, us: {} } });

      const values = readOptions(["config", "account", name], { ...given, account: "uk" }, variables, file);

      expect(values[name]).toEqual(expected);
    });
  },
);

test.each<[string, object, Record<string, string>, object, unknown]>([
  ["the options", { lift: ["a=/a"] }, { BRAND_LIFT: '["b=/b"]' }, [{ name: "c", pointer: "/c" }], "a"],
  ["the variable", {}, { BRAND_LIFT: '["b=/b"]' }, [{ name: "c", pointer: "/c" }], "b"],
  ["the file", {}, {}, [{ name: "c", pointer: "/c" }], "c"],
])("the columns come from %s", async (_, given, variables, lifted, expected) => {
  const file = await fileWith({ lifted, accounts: { uk: {} } });

  const { lift } = readOptions(["config", "account", "lift"], { ...given }, variables, file);

  expect(lift).toEqual([{ name: expected, pointer: `/${expected}` }]);
});

test("every setting of an account has an option and a key", () => {
  expect(Object.values(KEYS_OF_ACCOUNT)).toEqual(expect.arrayContaining(Object.keys(accountSettings.shape)));
});

test("every option that says where or how is in the file, but for the account and what is of one command", () => {
  const named = new Set<OptionName>([
    ...SERVICE_OPTIONS,
    ...RUN_OPTIONS,
    ...AUTHORIZE_OPTIONS,
    ...NOTIFY_OPTIONS,
  ]);

  expect([...named].filter((name) => !keyOf.has(name)).toSorted()).toEqual([
    "account",
    "config",
    "json",
    "logLevel",
  ]);
  expect([...keyOf.keys()].filter((name) => !Object.hasOwn(OPTIONS, name))).toEqual([]);
});

test("paths start from the file, other places stay", async () => {
  const cwd = await temporaryDirectory();
  const places = { warehouse: "s3://bucket/a", credentials: "../uk.json", tokens: "secretsmanager:uk" };
  writeFileSync(
    join(cwd, "brand-events.json"),
    JSON.stringify({ warehouse: "data", accounts: { uk: places, us: {} } }),
  );
  const names = ["config", "account", "warehouse", "credentials", "tokens"] as const;
  const file = openSettingsFile(join(cwd, "brand-events.json"), "/elsewhere");

  const uk = readOptions(names, { account: "uk" }, {}, file);
  const us = readOptions(names, { account: "us" }, {}, file);

  expect(uk).toMatchObject({ ...places, credentials: join(cwd, "..", "uk.json") });
  expect(us).toMatchObject({ warehouse: join(cwd, "data"), credentials: "./credentials.json" });
});
