// Columns of one's own, and `discover`, as a person uses them.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { customEvent, makeEvents } from "../simulator/simulated-event.ts";
import { against, type Ended, laptop, lastJson, shellWords, stoppedAt, sync } from "./command-line.ts";
import { readRows } from "./warehouse.ts";

test("an unfinished run that is not continued is named, with the options that continue it", async () => {
  const { cwd, simulator } = await laptop({ events: makeEvents(12) });
  const stop = new AbortController();
  const onRequest = ({ endpoint, n }: { endpoint: string; n: number }): void => {
    if (endpoint === "detail" && n > 7) stop.abort(new SyncError("INTERRUPTED", "Stopped."));
  };
  simulator.configure({ onRequest });
  const lift = ["--lift", "two=/two words"];
  const options = ["--concurrency", "1", ...against(simulator)];
  const stopped = await sync(["run", ...lift, ...options], { cwd, signal: stop.signal });
  simulator.configure({ onRequest: undefined });

  /** Stopped before it does anything. */
  const looked = (...args: readonly string[]): Promise<Ended> =>
    sync(["run", ...args, ...options], { cwd, ...stoppedAt("continues nothing") });
  const other = await looked();
  const old = await looked(...lift, "--resume-within", "0");
  const [, named = ""] = /; a run with (--lift .*) continues its \d+ of 12 events\n/.exec(other.stderr) ?? [];
  const resumed = await sync(["run", ...shellWords(named), ...options], { cwd });

  expect(stopped.exitCode).toBe(130);
  expect(other.stderr).toContain(" has other settings that shape rows; a run with --lift ");
  expect(old.stderr).toContain("with a longer --resume-within a run continues");
  expect(resumed.stderr).toMatch(/continues \S+Z, \d+ of 12 done/);
});

test("BRAND_LIFT is a JSON array, whose columns are in the tables", async () => {
  const world = await laptop({ events: makeEvents(3) });
  const env = { BRAND_LIFT: '["name=/name","sector=/sector/name"]' };

  const run = await sync(["run", "--json", ...against(world.simulator)], { cwd: world.cwd, env });
  const rows = await readRows(world.warehouse, "SELECT name, sector FROM events");

  expect(lastJson(run)).toMatchObject({ outcome: "PUBLISHED" });
  expect(rows).toHaveLength(3);
  expect(rows.flat().every((value) => typeof value === "string")).toBe(true);
});

test("discover prints fields, and options that run takes as they are", async () => {
  const hostile = `"it's":"x","nasty":{"$(touch pwned)":1,"\\u001b[2J":2}`;
  const { ask, command } = await laptop({ events: [...makeEvents(4), customEvent("x", hostile)] });

  const json = await ask("discover", "--json");
  const shown = await ask("discover", "--limit", "3");
  const found = lastJson(json);
  const options = texts(found["suggestions"]).flatMap((text) => ["--lift", text]);
  const run = await ask("run", "--fresh", "--json", ...options);

  expect([json, shown, run].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  expect(json.stdout.trimEnd().split("\n")).toHaveLength(1);
  expect(Object.keys(found)).toEqual(["fields", "duplicate_keys", "suggestions", "doubt"]);
  expect(found["fields"]).toContainEqual({ pointer: "/sector", types: ["object"], count: 4 });
  expect(found["fields"]).toContainEqual({ pointer: "/regions/*", types: ["string"], count: 4 });
  expect(found["suggestions"]).toEqual(
    expect.arrayContaining(["name=/name", "sector_name=/sector/name", "amount=/spend/amount:DECIMAL(18,2)"]),
  );
  expect(shown.stdout).toMatch(/^\/sector\/name +string +\d+ %$/m);
  expect(shown.stdout).toContain("3 of 5 listed events were read.");
  expect(shown.stdout).toContain("  --lift name=/name");
  expect(shown.stdout).toContain("  --lift 'regions=/regions:VARCHAR[]'");
  const [, asked = ""] = /^ {2}(SELECT .*)$/m.exec(shown.stdout) ?? [];
  const counted = await command("query", "--json", asked);
  expect(texts(lastJson(counted)["rows"]).flat().length).toBeGreaterThan(0);
});

test("the columns that discover suggests, and those that a refused run names, can be pasted, whatever fields are called", async () => {
  const members = `"it's":"x","$(touch pwned)":1,"two words":2,"\\u001b[2J":2`;
  const { ask } = await laptop({ events: [customEvent("x", members)] });

  const discovered = await ask("discover");
  const [, suggested = ""] = /without the options:\n([\s\S]*)/.exec(discovered.stdout) ?? [];
  const first = await ask("run", "--fresh", ...shellWords(suggested));
  const again = await ask("discover");
  const refused = await ask("run", "--lift", "other=/other");
  const [, named = ""] = /Give (--lift .*) first, in this order/.exec(refused.stderr) ?? [];
  const second = await ask("run", ...shellWords(named));

  // None that moves a terminal's cursor.
  expect(shellWords(suggested)).toHaveLength(6);
  expect(discovered.stdout).not.toContain("\u001b");
  expect(again.stdout).toContain("No other field that at least half of the events have");
  expect([first, refused, second].map(({ exitCode }) => exitCode)).toEqual([0, 2, 0]);
});

test("discover --sql prints the view in DuckDB's words, which it is after a run with the suggested columns", async () => {
  const { ask, warehouse } = await laptop({ events: makeEvents(4) });
  await ask("run", "--lift", "amount=/spend/amount");

  const before = await ask("discover", "--sql");
  const options = [...before.stdout.matchAll(/^-- {3}--lift '?([^'\n]+)'?$/gm)].flatMap(([, text = ""]) => [
    "--lift",
    text,
  ]);
  await ask("run", ...options);
  const after = await ask("discover", "--sql");

  expect([before.exitCode, after.exitCode]).toEqual([0, 0]);
  expect(options.slice(0, 2)).toEqual(["--lift", "amount=/spend/amount:DECIMAL(18,2)"]);
  expect(after.stdout).toMatch(/^CREATE OR REPLACE VIEW events_typed AS SELECT/);
  expect(before.stdout.endsWith(after.stdout)).toBe(true);
  expect(await readFile(join(warehouse, "views.sql"), "utf8")).toContain(after.stdout);
});

test("discover of a warehouse with all columns still says which types fit them", async () => {
  const world = await laptop({ events: [customEvent("x", '"n":1')] });
  await world.ask("run", "--lift", "n=/n");

  const { stdout } = await world.ask("discover");

  expect(stdout).toContain("with types for the view events_typed:\n  --lift n=/n:BIGINT\n");
});

test("discover says which arrays it leaves out, with a query that reads one, and which texts look like numbers", async () => {
  const members = `"lines":[{"net":"1.5"}],"spend":{"net":"12.50","ids":[1,2]},"code":"007","tags":["a"]`;
  const { ask, command } = await laptop({ events: [customEvent("x", members)] });

  const { stdout } = await ask("discover");
  const run = await ask("run", "--fresh", "--lift", "net=/spend/net:DECIMAL(18,2)");
  const [, asked = ""] = /reads the elements:\n {2}(.*)\n/.exec(stdout) ?? [];
  const read = await command("query", "--json", asked);
  const typed = await ask("discover");

  expect(stdout).toContain(
    "1 column of text looks like numbers. To calculate with one give it a type, in place of its option above:\n  --lift 'net=/spend/net:DECIMAL(18,2)'\n",
  );
  expect(stdout).toContain(
    "2 arrays are left out, because a column holds no more than a list of texts: /lines, /spend/ids. This query",
  );
  expect(run.exitCode, run.stderr).toBe(0);
  expect(lastJson(read)["rows"]).toEqual([[expect.any(String), '{"net":"1.5"}']]);
  expect(typed.stdout).not.toContain("numbers");
});

test("discover says of how many events an object has a key twice, and which value counts where", async () => {
  const event = customEvent("1c48fc8e-ae9e-46d1-a7c1-4b108a0b85e6", '"name":"first","name":"last"');
  const world = await laptop({ events: [event] });

  const { stdout } = await world.ask("discover");
  await world.ask("run", "--fresh", "--lift", "name=/name");
  const read = await world.command(
    "query",
    "--json",
    "SELECT name, json_extract_scalar(event, '$.name') FROM events",
  );

  expect(stdout).toContain(
    "1 event of the sample has a key twice in one object: a column takes the last value, and json_extract_scalar the first.",
  );
  expect(lastJson(read)["rows"]).toEqual([["last", "first"]]);
});

test("discover of an account without events says so", async () => {
  const world = await laptop({ events: [] });

  const none = await world.ask("discover");

  expect(none).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("nothing to discover") });
});

test("a run says that new names stay, and names each empty column and each type that fits nothing, once", async () => {
  const world = await laptop({ events: makeEvents(5) });
  const wrong = ["name=/name", "nokey=/nothing", "sector_name=/Sector_Name", "badtype=/name:BIGINT"];
  const lift = wrong.flatMap((column) => ["--lift", column]);

  const tried = await world.ask("run", "--dry-run", ...lift);
  const triedJson = lastJson(await world.ask("run", "--dry-run", "--json", ...lift));
  const first = await world.ask("run", "--fresh", ...lift);
  const second = await world.ask("run");
  const corrected = await world.ask(
    "run",
    ...lift.map((text) => text.replace("/nothing", "/scope").replace("BIGINT", "VARCHAR")),
  );

  expect(tried.stdout).toMatch(
    /\n {2}name \(\/name\): "[^"]+", "[^"]+", "[^"]+"\n {2}nokey \(\/nothing\): empty in every row\n/,
  );
  expect(triedJson["columns"]).toContainEqual({ name: "nokey", pointer: "/nothing", values: [] });
  const said = first.stderr;
  expect(said).toContain("new columns: name, nokey, sector_name, badtype. A name stays once it is published");
  expect(said.indexOf("new columns")).toBeLessThan(said.indexOf("events are listed"));
  const lacking =
    "the tables have new columns: name, nokey, sector_name, badtype. They are null in older snapshots, and in other accounts until their next run";
  expect(said.indexOf(lacking)).toBeGreaterThan(said.indexOf("events are listed"));
  expect(said).toMatch(/the column nokey \(\/nothing\) is empty in all 5 rows; the events have \/\w+/);
  expect(said).toContain("the column sector_name (/Sector_Name) is empty in all 5 rows; the events have /");
  expect(said).toContain(
    "the column badtype (/name) has 5 values in all 5 rows, and none fits the type BIGINT",
  );
  expect(said).not.toContain("the column name ");
  expect(second.stderr).not.toContain("is empty in");
  expect(second.stderr).not.toContain("new columns");
  expect(corrected.stderr).not.toContain("new columns");
  expect(corrected.stderr).not.toContain("nokey (/scope) is empty");
});

function texts(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String);
  throw new Error("it is no list");
}
