// Damage of one account ends no command of another one, which names it; as a person uses them.

import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, type Ended, lastJson, sync, writeCredentials } from "./command-line.ts";
import { readRows } from "./warehouse-reader.ts";

interface World {
  readonly warehouse: string;
  readonly command: (...args: readonly string[]) => Promise<Ended>;
  readonly run: (account: string, ...options: readonly string[]) => Promise<Ended>;
  /** Of `uk`, oldest first. */
  readonly ids: readonly string[];
}

/** `uk` has lifted a column. */
async function twoAccounts(simulator: Simulator): Promise<World> {
  const cwd = await temporaryDirectory();
  await writeCredentials(cwd, simulator);
  const command = (...args: readonly string[]): Promise<Ended> => sync(args, { cwd });
  const run: World["run"] = (account, ...options) =>
    command("run", "--json", "--account", account, ...options, ...against(simulator));
  const ids: string[] = [];
  for (const events of [3, 4]) {
    simulator.setEvents(makeEvents(events));
    ids.push(String(lastJson(await run("uk", "--lift", "sector=/sector/name"))["snapshot_id"]));
  }
  for (const events of [2, 3]) {
    simulator.setEvents(makeEvents(events));
    await run("fr");
  }
  return { warehouse: join(cwd, "warehouse"), command, run, ids };
}

/** What DuckDB and every parser refuse. */
async function damage(file: string): Promise<() => Promise<void>> {
  const bytes = await readFile(file);
  const flipped = Buffer.from(bytes);
  flipped.writeUInt8(bytes.readUInt8(0) ^ 1, 0);
  await writeFile(file, flipped);
  return () => writeFile(file, bytes);
}

const EVENTS = "SELECT account, count(*) FROM events GROUP BY 1 ORDER BY 1";
const SNAPSHOTS = "SELECT account, count(*) FROM event_snapshots GROUP BY 1 ORDER BY 1";

test.each([
  ["the newest publication", "publications/uk/0000000002.ndjson"],
  ["an older publication", "publications/uk/0000000001.ndjson"],
])("%s", async (_, key) => {
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const { warehouse, command, run } = await twoAccounts(simulator);
  const file = join(warehouse, key);
  const repair = await damage(file);
  const named = expect.stringMatching(
    new RegExp(
      `^warning: the account uk cannot be read, and its tables stay as they were: The publication ${key} is damaged: .*Restore`,
      "m",
    ),
  );
  const first = lastJson(
    await command("query", "--json", "SELECT min(snapshot_id) FROM event_snapshots WHERE account = 'fr'"),
  );

  const asked = await command("query", "--json", EVENTS);
  const ran = await run("fr");
  const checked = await command("check", "--account", "fr", "--json", ...against(simulator));
  const rolledBack = await command(
    "rollback",
    String(first["rows"]).replaceAll('"', ""),
    "--account",
    "fr",
    "--json",
  );
  const own = await run("uk");

  expect(asked).toMatchObject({ exitCode: 0, stderr: named });
  expect(lastJson(asked)).toMatchObject({
    rows: [
      ["fr", "3"],
      ["uk", "4"],
    ],
  });
  expect(lastJson(ran)).toMatchObject({ outcome: "PUBLISHED" });
  expect(ran).toMatchObject({ exitCode: 0, stderr: named });
  expect(checked).toMatchObject({ exitCode: 0, stderr: named });
  expect(rolledBack).toMatchObject({ exitCode: 0, stderr: named });
  expect(await readRows(warehouse, EVENTS)).toEqual([
    ["fr", "2"],
    ["uk", "4"],
  ]);
  expect(await readRows(warehouse, SNAPSHOTS)).toEqual([
    ["fr", "8"],
    ["uk", "7"],
  ]);
  expect(await readRows(warehouse, "SELECT count(*) FROM event_history WHERE account = 'fr'")).toEqual([
    ["4"],
  ]);
  expect(await readFile(join(warehouse, "views.sql"), "utf8")).toContain(
    `\n-- NOT READ: the account uk; its tables stay as they were. The publication ${key} is damaged`,
  );
  expect(lastJson(own)).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
  if (key.includes("0000000002")) {
    expect(await command("status", "--account", "fr")).toMatchObject({ exitCode: 0, stderr: named });
  }

  await rm(join(warehouse, "snapshots/uk"), { recursive: true });
  await run("fr");
  expect(await readRows(warehouse, EVENTS)).toEqual([["fr", "2"]]);
  const removed = await command("remove", "fr", "--yes");
  expect(removed).toMatchObject({ exitCode: 0, stderr: named });
  await repair();
  expect((await command("query", EVENTS)).stderr).not.toContain("warning");
});

test("the manifest of the head", async () => {
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const { warehouse, command, run, ids } = await twoAccounts(simulator);
  const key = `snapshots/uk/${ids[1]}/_manifest.json`;
  await damage(join(warehouse, key));

  const asked = await command("query", "--json", EVENTS);
  const changes = await command("query", "--json", "SELECT count(*) FROM event_changes");
  const ran = await run("fr");
  const checked = await command("check", "--account", "fr", ...against(simulator));
  const status = await command("status", "--account", "fr");
  const shown = await readRows(warehouse, EVENTS);
  simulator.setEvents(makeEvents(4));
  const own = await run("uk");
  const over = await run("uk", "--over-damaged");

  // Its parts are as they were when the manifest could be read.
  expect(asked).toMatchObject({ exitCode: 0, stderr: "" });
  expect(lastJson(asked)["rows"]).toEqual(shown);
  expect(lastJson(changes)).toMatchObject({ rows: [["7"]] });
  for (const ended of [ran, checked, status]) expect(ended).toMatchObject({ exitCode: 0 });
  expect(shown).toEqual([
    ["fr", "3"],
    ["uk", "4"],
  ]);
  expect(lastJson(own)).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
  expect(own.stderr).toContain("--over-damaged");
  expect(lastJson(over)).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD" });
  expect(await readRows(warehouse, EVENTS)).toEqual([
    ["fr", "3"],
    ["uk", "4"],
  ]);
  expect(await readRows(warehouse, "SELECT count(sector) > 0 FROM events WHERE account = 'uk'")).toEqual([
    [true],
  ]);
});

test("one account is published over its damaged head while another one is damaged too", async () => {
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const { warehouse, run, command, ids } = await twoAccounts(simulator);
  await damage(join(warehouse, `snapshots/uk/${ids[1]}/_manifest.json`));
  await damage(join(warehouse, "publications/fr/0000000002.ndjson"));

  simulator.setEvents(makeEvents(4));
  const over = await run("uk", "--over-damaged");

  expect(lastJson(over)).toMatchObject({ outcome: "PUBLISHED", reason: "DAMAGED_HEAD" });
  expect(over.stderr).toContain("warning: the account fr cannot be read");
  expect(await readRows(warehouse, EVENTS)).toEqual([
    ["fr", "3"],
    ["uk", "4"],
  ]);
  const back = await command("rollback", String(ids[0]), "--account", "uk", "--json");
  expect(lastJson(back)).toMatchObject({ outcome: "PUBLISHED" });
});

test("an account whose log is damaged and that views.sql does not list is in no table, which a query refuses", async () => {
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const { warehouse, command } = await twoAccounts(simulator);
  await rm(join(warehouse, "views.sql"));
  await damage(join(warehouse, "publications/uk/0000000002.ndjson"));

  const asked = await command("query", "--json", EVENTS);
  await damage(join(warehouse, "run-log/uk", (await readdir(join(warehouse, "run-log/uk")))[0] ?? ""));
  const others = await command("query", "--json", "SELECT count(run_id), count(*) FROM sync_runs");

  expect(asked.exitCode).toBe(1);
  expect(asked.stderr).toContain("left out: The publication publications/uk/0000000002.ndjson is damaged");
  expect(lastJson(asked)).toMatchObject({ rows: [["fr", "3"]], missing: [{ account: "uk" }] });
  expect(lastJson(others)).toMatchObject({ rows: [["3", "4"]] });
});
