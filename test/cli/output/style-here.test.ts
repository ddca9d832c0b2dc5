// A message names the key of a setting and the file that has it, and an option only where that is what holds.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { styleHere, styleOf } from "../../../bin/cli/output/next-command.ts";
import { type Advice, advise, setting } from "../../../lambdas/job/errors/advice.ts";
import { say } from "../../../lambdas/words/style.ts";
import { httpServer } from "../../job/service/http/local-server.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { laptop } from "../command-line.ts";

async function styleFor(given: Readonly<Record<string, string>>, account = "uk") {
  const cwd = await temporaryDirectory();
  const accounts = { uk: { baseUrl: "https://uk.example", retainDays: 9 } };
  await writeFile(join(cwd, "brand-events.json"), JSON.stringify({ concurrency: 4, accounts }));
  return styleOf(new GivenOptions(given, {}, cwd).withFile().ofAccount(account));
}

const OF_UK = "of the account uk in brand-events.json";

test.each<[string, Advice, string]>([
  ["a setting", advise`Check ${setting("baseUrl")}.`, `Check "baseUrl" ${OF_UK}.`],
  [
    "several, of which the first names the file",
    advise`Check that ${setting("baseUrl")} and ${setting("authUrl")} belong together, then ${setting("baseUrl")} again.`,
    `Check that "baseUrl" ${OF_UK} and "authUrl" belong together, then "baseUrl" again.`,
  ],
  [
    "a number",
    advise`Or allow as many: ${setting("maxMissingPercent", 3)}.`,
    `Or allow as many: "maxMissingPercent": 3 ${OF_UK}.`,
  ],
])("advice with %s names the key, and the file that has it", async (_, advice, said) => {
  expect(say(advice, await styleFor({}))).toBe(said);
});

test("an option that is given stays: the file does not hold", async () => {
  const advice = advise`Check ${setting("baseUrl")}, or lower ${setting("concurrency")}.`;
  const options = "Check --base-url, or lower --concurrency.";

  expect(say(advice, await styleFor({ baseUrl: "https://other.example" }))).toBe(
    'Check --base-url, or lower "concurrency".',
  );
  expect(say(advice, await styleFor({}, "us"))).toBe(options);
  expect(say(advice, styleHere({}))).toBe(options);
});

test("commands name the key where the file has the setting, and the option where it is given", async () => {
  await using service = await httpServer((_, response) => response.writeHead(404).end());
  const { cwd, command } = await laptop();
  const accounts = { uk: { baseUrl: service.url } };
  await writeFile(join(cwd, "brand-events.json"), JSON.stringify({ accounts }));

  const query = await command("query", "SELECT 1");
  const run = await command("run", "--fresh");
  const status = await command("status");
  const check = await command("check");
  const json = await command("check", "--json");
  const given = await command("check", "--base-url", `${service.url}/other`);

  expect(query.stderr).toContain(
    'Check "warehouse" in brand-events.json, or make the first snapshot with run.',
  );
  for (const { stdout, stderr } of [check, run, status, json]) {
    expect(stdout + stderr).toMatch(/check \\?"baseUrl\\?" of the account uk in brand-events\.json/i);
    expect(stdout + stderr).not.toContain("heck --base-url");
  }
  expect(given.stdout).toMatch(/check --base-url/i);
});
