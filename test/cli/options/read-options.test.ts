// What is given: options, variables and the settings file, the messages for what is wrong there, and where --help shows an
// option.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, realpath, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { canListenOn } from "../../../bin/cli/commands/authorize.ts";
import { type OptionName, RUN_OPTIONS } from "../../../bin/cli/options/options.ts";
import {
  commandLineText,
  GivenOptions,
  PROGRAM_NAME,
  programName,
} from "../../../bin/cli/options/read-options.ts";
import { ACCOUNT_SETTINGS, type Setting } from "../../../lambdas/job/settings-file/settings.ts";
import { SHARED_SETTINGS } from "../../../lambdas/job/settings-file/settings-schema.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { laptop, lastJson, printedCommand, sync } from "../command-line.ts";

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
    { where: "in a clone", file: "clone/bin/cli/options/read-options.ts", name: () => "npm run sync --" },
    {
      where: "for all of the computer",
      file: "lib/node_modules/brand-events-sync/dist/chunks/x.js",
      name: () => "brand-events-sync",
    },
    {
      where: "by npx",
      file: ".npm/_npx/b9c7/node_modules/brand-events-sync/dist/chunks/x.js",
      there: ".npm/_npx/b9c7",
      name: (folder: string) => `${folder}/.npm/_npx/b9c7/node_modules/.bin/brand-events-sync`,
    },
    {
      where: "in the folder of an app",
      file: "my app/node_modules/brand-events-sync/dist/chunks/x.js",
      there: "my app",
      name: (folder: string) => `'${folder}/my app/node_modules/.bin/brand-events-sync'`,
    },
    {
      where: "in the folder of an app, by pnpm",
      file: "app/node_modules/.pnpm/brand-events-sync@0.1.0/node_modules/brand-events-sync/dist/x.js",
      there: "app",
      name: (folder: string) => `${folder}/app/node_modules/.bin/brand-events-sync`,
    },
  ])("is that of the program $where", async ({ file, there, name }) => {
    const folder = await realpath(await temporaryDirectory());
    if (there !== undefined) {
      const bin = join(folder, there, "node_modules/.bin");
      await mkdir(bin, { recursive: true });
      await writeFile(join(bin, "brand-events-sync"), "");
    }

    expect(programName(pathToFileURL(join(folder, file)).href)).toBe(name(folder));
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

test("the file in the current directory says all that run, status, accept and query need", async () => {
  const { cwd, simulator, command } = await laptop({ events: makeEvents(12) });
  const settings = {
    requestsPerMinute: "unlimited",
    bytesPerMinute: "unlimited",
    baseUrl: simulator.url,
    warehouse: "data",
    credentials: "keys/uk.json",
    lifted: [{ name: "brand", pointer: "/brand/name" }],
    accounts: { uk: {} },
  };
  await writeFile(join(cwd, "brand-events.json"), JSON.stringify(settings));
  await mkdir(join(cwd, "keys"));
  await rename(join(cwd, "credentials.json"), join(cwd, "keys", "uk.json"));

  const run = await command("run", "--json");
  simulator.setEvents(makeEvents(3));
  const held = await command("run");
  const accepted = await sync(printedCommand(held.stdout, "accept"), { cwd: await temporaryDirectory() });
  const status = await command("status", "--account", "uk", "--json");
  const queried = await command("query", "SELECT count(*), count(brand) FROM events", "--json");

  expect(lastJson(run)).toMatchObject({ outcome: "PUBLISHED" });
  expect(printedCommand(held.stdout, "accept").slice(2)).toEqual([
    "--config",
    join(cwd, "brand-events.json"),
  ]);
  expect([held.exitCode, accepted.exitCode]).toEqual([3, 0]);
  expect(lastJson(status)).toMatchObject({ account: "uk", head: { events: 3 } });
  expect(lastJson(queried)).toMatchObject({ rows: [["3", expect.any(String)]] });
});

test("a start without a set-up names the folder that has no file, and init", async () => {
  const cwd = await temporaryDirectory();

  const { exitCode, stderr } = await sync(["run"], { cwd });

  expect(exitCode).toBe(2);
  expect(stderr).toContain(`There is no brand-events.json in ${cwd}; init asks for all that is needed`);
  expect(stderr).toMatch(/: npm run sync -- init\n$/);
});

const TWO = { baseUrl: "https://s.example", accounts: { uk: { warehouse: "a" }, us: { warehouse: "b" } } };

test.each<[string, unknown, readonly string[], string]>([
  [
    "a file that is missing",
    TWO,
    ["run", "--config", "other.json"],
    "other.json does not exist. Check --config and BRAND_CONFIG.",
  ],
  [
    "a file that is no JSON",
    '{"password": "hunter2"',
    ["check"],
    "brand-events.json is not valid JSON at line 1, column 23.",
  ],
  [
    "a file that has an account and a key twice",
    '{\n  "accounts": {\n    "uk": {},\n    "uk": {"isListed": "any", "isListed": "true"}\n  }\n}',
    ["check"],
    "brand-events.json: these settings are not usable.\n    accounts.uk: expected once, and got twice, at 3:5 and 4:5 (line:column)\n    accounts.uk.isListed: expected once, and got twice, at 4:12 and 4:31 (line:column)\n",
  ],
  [
    "a key that is written like another, and one that is the beginning of another",
    { accounts: { uk: { concurency: 4, "max-missing": 2 } } },
    ["check"],
    "accounts.uk.concurency: there is no such key; did you mean concurrency?\n    accounts.uk.max-missing: there is no such key; did you mean maxMissingPercent?\n",
  ],
  [
    "several wrong keys",
    { accounts: { uk: { concurrency: 0, password: "hunter2" } }, isListed: true },
    ["check"],
    'CONFIG_INVALID: brand-events.json: these settings are not usable.\n    accounts.uk.concurrency: expected a whole number from 1 to 256, and got 0\n    accounts.uk.password: there is no such key; secrets belong in the credentials\n    isListed: expected "true", "false" or "any", and got true\n',
  ],
  [
    "several accounts and none chosen",
    TWO,
    ["run"],
    "brand-events.json has several accounts: uk, us. Give --account NAME, or set BRAND_ACCOUNT. With --all each has its turn.",
  ],
  [
    "an account that is not in the file",
    TWO,
    ["run", "--account", "ku"],
    "brand-events.json has no account ku. Its accounts are: uk, us. Check --account, or add it to the file.",
  ],
  [
    "accounts with warehouses of their own, and a query",
    TWO,
    ["query", "SELECT 1"],
    "brand-events.json: the accounts uk, us differ in warehouse. Give --warehouse.",
  ],
  [
    "accounts with warehouses of their own, and a status of all",
    TWO,
    ["status"],
    "brand-events.json: the accounts uk, us differ in warehouse. Give --warehouse.",
  ],
  [
    "no address anywhere",
    { accounts: { uk: {} } },
    ["check"],
    'The address of the service is missing: write it into brand-events.json as "baseUrl".',
  ],
  [
    "an address as file",
    TWO,
    ["run", "--config", "https://x:hunter2@y"],
    "--config: expected a file, and no URL",
  ],
])("%s ends with 2 and says what to do", async (_, settings, args, says) => {
  const cwd = await temporaryDirectory();
  const text = typeof settings === "string" ? settings : JSON.stringify(settings);
  await writeFile(join(cwd, "brand-events.json"), text);

  const ended = await sync(args, { cwd });

  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain(says);
  expect(ended.stdout + ended.stderr).not.toContain("hunter2");
});

/** Each heading, and the first words of the lines below it. */
async function groupsOf(...words: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const { stdout } = await sync([...words, "--help"], { cwd: "/" });
  const groups = new Map<string, string[]>();
  let names: string[] = [];
  for (const line of stdout.split("\n")) {
    const [, heading] = /^([A-Z][\w ]+):$/.exec(line) ?? [];
    if (heading !== undefined) {
      names = [];
      groups.set(heading, names);
    }
    const [, name] = /^ {2}(?:-\w, )?(\S+)/.exec(line) ?? [];
    if (name !== undefined) names.push(name);
  }
  return groups;
}

test("commands stand in groups", async () => {
  const groups = await groupsOf();

  expect([...groups.keys()]).toEqual(["Options", "Set up", "Every day", "Decide", "Repair"]);
  expect(groups.get("Decide")).toEqual(["diff", "accept", "rollback"]);
  expect(groups.get("Repair")).toEqual(["views", "retire", "remove"]);
});

test("options stand in groups, and those of this start only come last", async () => {
  const groups = await groupsOf("run");
  const settings = Object.values<Setting>({ ...ACCOUNT_SETTINGS, ...SHARED_SETTINGS });
  const flags = new Set(settings.map(({ flag }) => flag?.split(" ")[0]));

  expect([...groups.keys()].slice(0, 7)).toEqual([
    "Account and warehouse",
    "Service",
    "Limits",
    "Guards",
    "Columns",
    "Telling people",
    "This start",
  ]);
  expect(groups.get("This start")).toContain("--fresh");
  expect(groups.get("This start")?.filter((name) => flags.has(name))).toEqual(["--resume-within"]);
});

test.each([
  ["run", "--max-drop", "(BRAND_MAX_DROP, default 20)"],
  ["run", "--limit", "Fetch only this many events, the first by uuid; needs --dry-run (BRAND_LIMIT)"],
  ["discover", "--limit", "Read this many events, 500 at most; without it 50 (BRAND_LIMIT)"],
  ["diff", "--format", "table, vertical, csv, tsv, json or ndjson; without it table (BRAND_FORMAT)"],
  ["query", "--format", "ndjson or parquet; without it the ending of --out decides"],
])("%s --help says of %s: %s", async (command, option, says) => {
  const { exitCode, stdout } = await sync([command, "--help"], { cwd: "/" });

  const [, help = ""] = stdout.replaceAll(/\s+/g, " ").split(` ${option} <`);
  expect(exitCode).toBe(0);
  expect(help.split(/ --[\w-]+ </)[0]).toContain(says);
});
