// `remove`: says what it would delete, and deletes it with --yes.

import { readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { livingLease } from "../job/run/living-lease.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, type Ended, lastJson, printedCommand, sync, writeCredentials } from "./command-line.ts";
import { readRows } from "./warehouse-reader.ts";

/** A warehouse with these accounts, each with one snapshot. */
async function withAccounts(...accounts: readonly string[]): Promise<{ cwd: string; warehouse: string }> {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);
  for (const account of accounts) await sync(["run", "--account", account, ...against(simulator)], { cwd });
  return { cwd, warehouse: join(cwd, "warehouse") };
}

const accountsIn = async (warehouse: string, table: string): Promise<readonly unknown[]> =>
  (await readRows(warehouse, `SELECT DISTINCT account FROM ${table} ORDER BY 1`)).flat();

const TABLES = ["events", "event_snapshots", "event_changes", "publications", "sync_runs"];

test("without --yes it says what it would delete, exits with 2 and prints the command that does it", async () => {
  const { cwd, warehouse } = await withAccounts("de", "fr", "uk");

  const asked = await sync(["remove", "fr"], { cwd });
  const json = await sync(["remove", "fr", "--json"], { cwd });
  const kept = await accountsIn(warehouse, "events");
  const removed = await sync(printedCommand(asked.stdout, "remove"), { cwd });

  expect([asked.exitCode, json.exitCode, removed.exitCode]).toEqual([2, 2, 0]);
  expect(asked.stdout).toMatch(
    /^remove fr would delete all of this account: 1 publication, 1 snapshot, \d+ files in all, and its rows in all tables\.\nNothing was deleted\./,
  );
  expect(json.stdout).toBe('{"ok":false}\n');
  expect(json.stderr).toContain("Nothing was deleted");
  expect(kept).toEqual(["de", "fr", "uk"]);
  expect(removed.stdout).toMatch(
    /^The account fr is removed: 1 publication, 1 snapshot, \d+ files in all\.\n/,
  );
  for (const table of TABLES) expect(await accountsIn(warehouse, table), table).toEqual(["de", "uk"]);
  expect(lastJson(await sync(["status", "--json"], { cwd }))["accounts"]).toMatchObject([
    { account: "de" },
    { account: "uk" },
  ]);
});

test("of the last account leaves tables without rows; a second time there is nothing to remove", async () => {
  const { cwd, warehouse } = await withAccounts("uk");

  const removed = await sync(["remove", "uk", "--yes", "--json"], { cwd });
  const again = await sync(["remove", "uk", "--yes", "--json"], { cwd });

  expect(removed).toEqual({ exitCode: 0, stdout: '{"ok":true}\n', stderr: expect.any(String) });
  for (const table of TABLES) expect(await accountsIn(warehouse, table), table).toEqual([]);
  expect(again).toMatchObject({ exitCode: 2, stdout: '{"ok":false}\n' });
  expect(again.stderr).toContain("There is no warehouse at ");
});

test.each([
  { account: "fr", says: "The warehouse has no account fr. Its accounts are: de, uk." },
  { account: "../uk", says: "The account: expected a name of 1 to 40" },
])("of $account, which does not exist, exits with 2", async ({ account, says }) => {
  const { cwd } = await withAccounts("de", "uk");

  const ended = await sync(["remove", account, "--yes"], { cwd });

  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain(says);
});

test("while a run is at work, or an execution has the lease, exits with 4 and deletes nothing", async () => {
  const { cwd, warehouse } = await withAccounts("uk");
  const lease = join(warehouse, "accounts/uk/lease.json");
  const execution = "arn:aws:states:eu-west-1:1:execution:m:uk-20260101T000000000Z-1";
  const held = { ...JSON.parse(livingLease(Date.now())), holder: null, expires_at: null, execution };
  const refused: Ended[] = [];

  for (const text of [livingLease(Date.now()), JSON.stringify(held)]) {
    await writeFile(lease, text);
    refused.push(await sync(["remove", "uk", "--yes", "--json"], { cwd }));
    expect(await readFile(lease, "utf8")).toBe(text);
  }

  for (const ended of refused) {
    expect(ended).toMatchObject({ exitCode: 4, stdout: '{"ok":false}\n' });
    expect(ended.stderr).toContain("SKIPPED: The run run-1 ");
  }
  expect(await accountsIn(warehouse, "events")).toEqual(["uk"]);
});

test("files of others stay and are named", async () => {
  const { cwd, warehouse } = await withAccounts("uk");
  const foreign = join(warehouse, "publications", "uk", "a copy (1).ndjson");
  await writeFile(foreign, "mine");

  const asked = await sync(["remove", "uk"], { cwd });
  const removed = await sync(["remove", "uk", "--yes"], { cwd });

  expect([asked.exitCode, removed.exitCode]).toEqual([2, 0]);
  for (const { stdout } of [asked, removed]) {
    expect(stdout).toContain(
      'Files that are not the warehouse\'s own stay: 1, the first is "publications/uk/a copy (1).ndjson".',
    );
  }
  expect(await readFile(foreign, "utf8")).toBe("mine");
});

test("what is a link in the place of a folder ends it before anything is deleted", async () => {
  const { cwd, warehouse } = await withAccounts("uk");
  const [id = ""] = await readdir(join(warehouse, "snapshots", "uk"));
  const link = join(warehouse, "snapshots", "uk", id);
  await rename(link, join(cwd, "moved"));
  await symlink(join(cwd, "moved"), link);

  const removed = await sync(["remove", "uk", "--yes"], { cwd });

  expect(removed).toMatchObject({ exitCode: 1, stdout: "" });
  expect(removed.stderr).toContain(`STORE_FAILED: Cannot use ${link}: it is neither a folder nor a file`);
  expect(await readdir(join(cwd, "moved"))).toContain("_manifest.json");
  expect(await accountsIn(warehouse, "publications")).toEqual(["uk"]);
});

test("of an account that is run again shows only what came after, under the next numbers", async () => {
  const { cwd, warehouse } = await withAccounts("de", "uk");
  await sync(["remove", "uk", "--yes"], { cwd });
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);

  const run = await sync(["run", "--account", "uk", ...against(simulator)], { cwd });

  expect(run.exitCode).toBe(0);
  const log = "SELECT publication, action, added FROM publications WHERE account = 'uk'";
  expect(await readRows(warehouse, log)).toEqual([["0000000003", "run", "3"]]);
  const history = "SELECT DISTINCT publication_from FROM event_history WHERE account = 'uk'";
  expect(await readRows(warehouse, history)).toEqual([["0000000003"]]);
});
