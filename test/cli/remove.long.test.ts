// `remove`: says what it would delete, and deletes it with --yes.

import { readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { livingLease } from "../job/run/lease/lease-world.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { type Laptop, laptop, lastJson, printedCommand } from "./command-line.ts";
import { readRows } from "./warehouse.ts";

/** A warehouse with these accounts, each with one snapshot. */
async function withAccounts(...accounts: readonly string[]): Promise<Laptop> {
  const world = await laptop({ events: makeEvents(3) });
  for (const account of accounts) await world.ask("run", "--account", account);
  return world;
}

const accountsIn = async (warehouse: string, table: string): Promise<readonly unknown[]> =>
  (await readRows(warehouse, `SELECT DISTINCT account FROM ${table} ORDER BY 1`)).flat();

const TABLES = ["events", "event_snapshots", "event_changes", "publications", "sync_runs"];

test("without --yes it says what it would delete, exits with 2 and prints the command that does it", async () => {
  const { warehouse, command } = await withAccounts("de", "fr", "uk");

  const asked = await command("remove", "fr");
  const json = await command("remove", "fr", "--json");
  const kept = await accountsIn(warehouse, "events");
  const removed = await command(...printedCommand(asked.stdout, "remove"));

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
  expect(lastJson(await command("status", "--json"))["accounts"]).toMatchObject([
    { account: "de" },
    { account: "uk" },
  ]);
});

test("of the last account leaves tables without rows; a second time there is nothing to remove", async () => {
  const { warehouse, command } = await withAccounts("uk");

  const removed = await command("remove", "uk", "--yes", "--json");
  const again = await command("remove", "uk", "--yes", "--json");

  expect(removed).toEqual({ exitCode: 0, stdout: '{"ok":true}\n', stderr: expect.any(String) });
  for (const table of TABLES) expect(await accountsIn(warehouse, table), table).toEqual([]);
  expect(again).toMatchObject({ exitCode: 2, stdout: '{"ok":false}\n' });
  expect(again.stderr).toContain("There is no warehouse at ");
});

test("of what can be no account exits with 2", async () => {
  const world = await withAccounts("de");

  const ended = await world.command("remove", "../uk", "--yes");

  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain("The account: expected a name of 1 to 40");
});

test("while a run is at work exits with 4 and deletes nothing", async () => {
  const world = await withAccounts("uk");
  await writeFile(join(world.warehouse, "accounts/uk/lease.json"), livingLease(Date.now()));

  const refused = await world.command("remove", "uk", "--yes", "--json");

  expect(refused).toMatchObject({ exitCode: 4, stdout: '{"ok":false}\n' });
  expect(refused.stderr).toContain("SKIPPED: The run run-1 ");
  expect(await accountsIn(world.warehouse, "events")).toEqual(["uk"]);
});

test("files of others stay and are named", async () => {
  const { warehouse, command } = await withAccounts("uk");
  const foreign = join(warehouse, "publications", "uk", "a copy (1).ndjson");
  await writeFile(foreign, "mine");

  const asked = await command("remove", "uk");
  const removed = await command("remove", "uk", "--yes");

  expect([asked.exitCode, removed.exitCode]).toEqual([2, 0]);
  for (const { stdout } of [asked, removed]) {
    expect(stdout).toContain(
      'Files that are not the warehouse\'s own stay: 1, the first is "publications/uk/a copy (1).ndjson".',
    );
  }
  expect(await readFile(foreign, "utf8")).toBe("mine");
});

test("what is a link in the place of a folder ends it before anything is deleted", async () => {
  const { cwd, warehouse, command } = await withAccounts("uk");
  const [id = ""] = await readdir(join(warehouse, "snapshots", "uk"));
  const link = join(warehouse, "snapshots", "uk", id);
  await rename(link, join(cwd, "moved"));
  await symlink(join(cwd, "moved"), link);

  const removed = await command("remove", "uk", "--yes");

  expect(removed).toMatchObject({ exitCode: 1, stdout: "" });
  expect(removed.stderr).toContain(`STORE_FAILED: Cannot use ${link}: it is neither a folder nor a file`);
  expect(await readdir(join(cwd, "moved"))).toContain("_manifest.json");
  expect(await accountsIn(warehouse, "publications")).toEqual(["uk"]);
});
