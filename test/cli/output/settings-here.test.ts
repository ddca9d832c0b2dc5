// A message names the key of a setting and the file that has it, and an option only where that is what holds.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GivenOptions, PROGRAM_NAME } from "../../../bin/cli/options/read-options.ts";
import { nextValues } from "../../../bin/cli/output/next-command.ts";
import { withSettings } from "../../../bin/cli/output/settings-here.ts";
import { httpServer } from "../../job/service/http/local-server.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { laptop } from "../command-line.ts";

async function valuesOf(given: Readonly<Record<string, string>>, account = "uk") {
  const cwd = await temporaryDirectory();
  const accounts = { uk: { baseUrl: "https://uk.example", retainDays: 9 } };
  await writeFile(join(cwd, "brand-events.json"), JSON.stringify({ concurrency: 4, accounts }));
  return nextValues(new GivenOptions(given, {}, cwd).withFile(), account);
}

test.each([
  ["Check --base-url.", 'Check "baseUrl" in brand-events.json.'],
  [
    "Check that --base-url and --auth-url belong together, then --base-url again.",
    'Check that "baseUrl" in brand-events.json and "authUrl" belong together, then "baseUrl" again.',
  ],
  [
    "the limit is 20 % (--max-drop; maxDropPercent in AWS). Missing: none.",
    'the limit is 20 % ("maxDropPercent" in brand-events.json). Missing: none.',
  ],
  [
    'Or allow as many: "maxMissingPercent": 3 in brand-events.json or cdk.json, --max-missing 3.',
    'Or allow as many: "maxMissingPercent": 3 in brand-events.json.',
  ],
  [
    "set --list-pointer (listPointer) to the place of the list: --list-pointer /result/items; it must",
    'set "listPointer" in brand-events.json to the place of the list: "listPointer": "/result/items"; it must',
  ],
  [
    "Set --next-page 'page={page}&n=1' (nextPage in a settings file or cdk.json).",
    'Set "nextPage": "page={page}&n=1" in brand-events.json.',
  ],
  [
    "less than 180 requests a minute; try --requests-per-minute 150",
    'less than 180 requests a minute; try "requestsPerMinute": 150 in brand-events.json',
  ],
  [
    "so does --limit-window 600 (limitWindowSeconds) if the service",
    'so does "limitWindowSeconds": 600 in brand-events.json if the service',
  ],
  [
    "is older than --resume-within (60 minutes); with more",
    'is older than "resumeWithinMinutes" in brand-events.json (60 minutes); with more',
  ],
  [
    "lack a required field (--require; require in AWS): /a",
    'lack a required field ("require" in brand-events.json): /a',
  ],
])("%s", async (text, said) => {
  expect(withSettings(text, await valuesOf({}))).toBe(said);
});

test.each([
  ["of one start", "Start again with --fresh, or --over-damaged; give --account us or --config other.json."],
  ["of columns, which are named once", "Give --lift a=/a --lift 'b=/b:DECIMAL(18,2)' first, in this order."],
  ["of a command to paste", `To check: ${PROGRAM_NAME} check --warehouse /data --credentials /a.json`],
  ["of a command in quotes", "Use `brand-events-sync run --concurrency 2`, then look."],
])("an option %s stays", async (_, text) => {
  expect(withSettings(text, await valuesOf({}))).toBe(text);
});

test("an option that is given stays: the file does not hold", async () => {
  const text = "Check --base-url, or lower --concurrency.";

  expect(withSettings(text, await valuesOf({ baseUrl: "https://other.example" }))).toBe(
    'Check --base-url, or lower "concurrency" in brand-events.json.',
  );
  expect(withSettings(text, await valuesOf({}, "us"))).toBe(text);
  expect(withSettings(text, {})).toBe(text);
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
