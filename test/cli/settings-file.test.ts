// A settings file as its user has it: commands without options, and messages that help.

import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { laptop, lastJson, printedCommand, sync } from "./command-line.ts";

test("the file in the current directory says all that run, status, accept and query need", async () => {
  await using world = await laptop({ events: makeEvents(12) });
  const { cwd, simulator, command } = world;
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
    "give --base-url https://… or set BRAND_BASE_URL. Or write it into brand-events.json as baseUrl.",
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
