import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { canListenOn } from "../../../bin/cli/commands/authorize.ts";
import { type OptionName, RUN_OPTIONS } from "../../../bin/cli/options/options.ts";
import {
  commandLineText,
  GivenOptions,
  PROGRAM_NAME,
  programName,
} from "../../../bin/cli/options/read-options.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";

const ROOT = join(import.meta.dirname, "../../..");
const NAMES = ["config", "account", ...RUN_OPTIONS] as const;

// What the value of a setting may be is judged in `test/lib/settings`: here is a value of each kind of text, and each option
// that is no setting.
describe("a wrong value is refused with its option or its variable, with what was expected and what came", () => {
  test.each<[OptionName, object, string]>([
    ["maxDropPercent", { maxDrop: "120" }, "--max-drop: expected a percentage from 0 to 100, and got 120"],
    [
      "requestsPerMinute",
      { requestsPerMinute: "fast" },
      '--requests-per-minute: expected a whole number from 1 to 1000000000000, or "unlimited", and got "fast"',
    ],
    ["isListed", { isListed: "maybe" }, '--is-listed: expected "true", "false" or "any", and got "maybe"'],
    ["notifyOn", { notifyOn: "held,later" }, '"published", "held" and "failed", and got "later"'],
    [
      "require",
      { require: ["date"] },
      '--require: expected a JSON Pointer to a part of the detail, such as /date, and got "date"',
    ],
    [
      "lifted",
      { lift: ["brand"] },
      '--lift: expected NAME=POINTER or NAME=POINTER:TYPE, for example brand=/brand/name, and got "brand"',
    ],
    ["baseUrl", { baseUrl: "http://service.example" }, "--base-url: expected https:, because http: sends"],
    ["account", { account: "UK" }, "--account: expected a name of 1 to 40 characters"],
    ["file", { file: "https://x:secret-word@y" }, "--file: expected a file, and no URL"],
    ["warehouse", { warehouse: " " }, "--warehouse: expected a directory, or s3://bucket/prefix"],
    ["warehouse", { warehouse: "gs:/secret-word" }, "--warehouse: expected a directory, or s3://bucket"],
    ["warehouse", { warehouse: "abfss://secret-word@x/y" }, "--warehouse: expected a directory, or s3:"],
    ["warehouse", { warehouse: "s3:/bucket" }, "--warehouse: expected s3://bucket or s3://bucket/prefix"],
    ["credentials", { credentials: "secretsmanager:" }, "--credentials: expected a file, or secretsmanager:"],
    ["limit", { limit: "0" }, "--limit: expected a whole number from 1 to 1000000000, and got 0"],
    ["sample", { sample: "0" }, "--sample: expected a whole number from 1 to 10000, and got 0"],
    ["maxAge", { maxAge: "0" }, "--max-age: expected a number of hours above 0, and got 0"],
    ["maxAge", { maxAge: "-1" }, '--max-age: expected a number of hours above 0, and got "-1"'],
    ["maxAge", { maxAge: "a day" }, '--max-age: expected a number of hours above 0, and got "a day"'],
    ["maxAge", { maxAge: "" }, "--max-age: expected a number of hours above 0, and got"],
    ["since", { since: "2026-02-30" }, "--since: expected a date or an instant, such as 2026-11-21"],
    ["format", { format: "xml" }, "--format: expected table, vertical, csv, tsv, json, ndjson or parquet"],
    ["logLevel", { logLevel: "all" }, '--log-level: expected error, warn, info or debug, and got "all"'],
    ["method", { method: "token" }, "--method: expected session, basic or oauth, and got"],
    ["email", { email: " " }, "--email: expected a text that is not empty, and got nothing"],
  ])("%s as %j", (name, given, says) => {
    const read = (): unknown => new GivenOptions({ ...given }, {}, "/").read([name]);

    expect(read).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(read).toThrow(says);
    expect(read).not.toThrow("secret-word");
  });

  test.each<[OptionName, Readonly<Record<string, string>>, string]>([
    ["dryRun", { BRAND_DRY_RUN: "maybe" }, 'BRAND_DRY_RUN: expected true or false, and got "maybe"'],
    [
      "require",
      { BRAND_REQUIRE: "/date" },
      'BRAND_REQUIRE: expected a JSON array of JSON Pointers, such as ["/date"], and got "/date"',
    ],
    ["lifted", { BRAND_LIFT: "a=/a" }, 'BRAND_LIFT: expected a JSON array of texts, such as ["'],
    ["lifted", { BRAND_LIFT: '"a=/a"' }, "BRAND_LIFT: expected a JSON array"],
    ["lifted", { BRAND_LIFT: "[1]" }, "BRAND_LIFT: expected a JSON array"],
    ["lifted", { BRAND_LIFT: '["A=/a"]' }, "BRAND_LIFT: expected a name"],
  ])("%s in %j", (name, variables, says) => {
    expect(() => new GivenOptions({}, variables, "/").read([name])).toThrow(says);
  });
});

test("an empty variable counts as absent", () => {
  expect(new GivenOptions({}, { BRAND_ACCOUNT: "" }, "/").read(["account"]).account).toBe("default");
});

test.each([
  ["what the file says", {}, "run"],
  ["the same as the file", { require: ["/date", "/it's"] }, "run"],
  ["other fields", { require: ["/date", "/two words"] }, "run --require /date --require '/two words'"],
  ["a limit of growth", { maxGrowth: "50" }, "run --max-growth 50"],
])("a command to paste has %s", async (_, given, expected) => {
  const cwd = await temporaryDirectory();
  const settings = { require: ["/date", "/it's"], accounts: { uk: {} } };
  writeFileSync(join(cwd, "brand-events.json"), JSON.stringify(settings));
  const values = new GivenOptions(given, {}, cwd).withFile().read(NAMES);

  const text = commandLineText(["run"], NAMES, values);

  const [command = "", ...options] = expected.split(" ");
  const named = [command, "--config", join(cwd, "brand-events.json"), ...options];
  expect(text.endsWith(` -- ${named.join(" ")}`)).toBe(true);
});

describe("the redirect address", () => {
  const redirectAddress = (redirectUri: string): string =>
    new GivenOptions({ redirectUri }, {}, "/").read(["redirectUri"]).redirectUri;

  test.each([
    ["http://127.0.0.1:8912/callback", true],
    ["http://127.0.0.1:8912", true],
    ["http://localhost/callback", true],
    ["http://[::1]:8912/", true],
    ["https://127.0.0.1:8912/callback", false],
    ["https://app.example/brand/callback", false],
  ])("%s is taken as it is; can be listened on: %s", (text, expected) => {
    expect(redirectAddress(text)).toBe(text);
    expect(canListenOn(text)).toBe(expected);
  });

  test.each([
    ["callback", "absolute URL"],
    ["ftp://127.0.0.1/callback", "absolute URL"],
    ["http://app.example/callback", "https:"],
    ["http://127.0.0.1.example/callback", "https:"],
    ["http://127.0.0.1:0/callback", "port"],
    ["http://user:secret-word@127.0.0.1:8912/", "user name"],
    ["https://app.example/?code=secret-word", "query"],
    ["https://app.example/#x", "fragment"],
  ])("%s is refused: expected %s", (text, expected) => {
    const take = (): string => redirectAddress(text);

    expect(take).toThrow(expected);
    expect(take).not.toThrow("secret-word");
  });
});

describe("the name of the program", () => {
  test.each([
    ["npm run sync --", "file:///clone/bin/cli/options/read-options.ts"],
    ["brand-events-sync", "file:///usr/lib/node_modules/brand-events-sync/dist/chunks/command-line.js"],
    [
      "/home/ann/.npm/_npx/b9c7/node_modules/.bin/brand-events-sync",
      "file:///home/ann/.npm/_npx/b9c7/node_modules/brand-events-sync/dist/chunks/command-line.js",
    ],
    [
      "'/home/ann lee/.npm/_npx/b9c7/node_modules/.bin/brand-events-sync'",
      "file:///home/ann%20lee/.npm/_npx/b9c7/node_modules/brand-events-sync/dist/chunks/command-line.js",
    ],
  ])("is %s in %s", (name, file) => {
    expect(programName(file)).toBe(name);
  });

  test("is that of a clone in these tests", () => {
    expect(PROGRAM_NAME).toBe("npm run sync --");
  });

  test("is in no other file of the command line", () => {
    const files = globSync("bin/**/*.ts", { cwd: ROOT }).filter((path) =>
      /npm run sync|brand-events-sync (?:run|check|status)/.test(readFileSync(join(ROOT, path), "utf8")),
    );

    expect(files).toEqual([join("bin", "cli", "options", "read-options.ts")]);
  });
});
