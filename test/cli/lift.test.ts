// Columns of one's own and `discover`, as a person uses them: through the command line, read with any DuckDB.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { customEvent } from "../job/run/custom-event.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, type Ended, lastJson, shellWords, sync, writeCredentials } from "./command-line.ts";
import { readRows } from "./warehouse-reader.ts";

const NUMBERS = ["1.10", "1e400", "-0", "9007199254740993", "123456789012345678901234567890.10"];

test("a column that is lifted later shows numbers as they were, and null in older snapshots", async () => {
  const cwd = await temporaryDirectory();
  const events = NUMBERS.map((number, index) => customEvent(`n${index}`, `"spend":{"amount":${number}}`));
  await using simulator = await Simulator.start({ events });
  await writeCredentials(cwd, simulator);
  const first = lastJson(await sync(["run", "--json", ...against(simulator)], { cwd }));

  const lift = ["--lift", "amount=/spend/amount", "--lift", "currency=/spend/currency"];
  const second = lastJson(await sync(["run", "--json", ...lift, ...against(simulator)], { cwd }));

  const read = (sql: string): Promise<readonly (readonly unknown[])[]> =>
    readRows(join(cwd, "warehouse"), sql);
  const rows = await read("SELECT amount, currency FROM events");
  expect(rows.toSorted()).toEqual(NUMBERS.map((number) => [number, null]).toSorted());
  expect(
    await read("SELECT snapshot_id, count(*), count(amount) FROM event_snapshots GROUP BY ALL ORDER BY ALL"),
  ).toEqual([
    [first["snapshot_id"], "5", "0"],
    [second["snapshot_id"], "5", "5"],
  ]);
  expect(second).toMatchObject({ added: 0, changed: 0, removed: 0 });
});

test("an unfinished run that is not continued is named, with the options that continue it", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await writeCredentials(cwd, simulator);
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
  const looked = (...args: readonly string[]): Promise<Ended> => {
    const look = new AbortController();
    const onStderr = (text: string): void => {
      if (text.includes("continues nothing")) look.abort(new SyncError("INTERRUPTED", "Seen."));
    };
    return sync(["run", ...args, ...options], { cwd, signal: look.signal, onStderr });
  };
  const other = await looked();
  const old = await looked(...lift, "--resume-within", "0");
  const [, named = ""] = /; run (--lift .*) continues its \d+ of 12 events\n/.exec(other.stderr) ?? [];
  const resumed = await sync(["run", ...shellWords(named), ...options], { cwd });

  expect(stopped.exitCode).toBe(130);
  expect(other.stderr).toContain(" has other settings that shape rows; run --lift ");
  expect(old.stderr).toContain("older than --resume-within");
  expect(resumed.stderr).toMatch(/continues \S+Z, \d+ of 12 done/);
});

test("BRAND_LIFT is a JSON array; a run with fewer is refused with 2 and the options to give", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);
  const env = { BRAND_LIFT: '["name=/name","sector=/sector/name"]' };

  const run = await sync(["run", "--json", ...against(simulator)], { cwd, env });
  simulator.reset();
  const refused = await sync(["run", "--json", "--lift", "sector=/sector/name", ...against(simulator)], {
    cwd,
    env,
  });
  const rows = await readRows(join(cwd, "warehouse"), "SELECT name, sector FROM events");

  expect(lastJson(run)).toMatchObject({ outcome: "PUBLISHED" });
  expect(rows).toHaveLength(3);
  expect(rows.flat().every((value) => typeof value === "string")).toBe(true);
  expect(refused.exitCode).toBe(2);
  expect(lastJson(refused)).toMatchObject({ outcome: "FAILED", error_code: "CONFIG_INVALID" });
  expect(refused.stderr).toContain("Give --lift name=/name --lift sector=/sector/name first, in this order");
  expect(simulator.requests).toHaveLength(0);
});

test.each([
  {
    args: ["--lift", "brand"],
    says: '--lift: expected NAME=POINTER or NAME=POINTER:TYPE, for example brand=/brand/name, and got "brand"',
  },
  { args: ["--lift", "a=/a", "--lift", "a=/b"], says: "--lift: expected each name once" },
  {
    args: ["--lift", "a=/a:DECIMAL(40,2)"],
    says: "--lift: expected BIGINT, DOUBLE, DECIMAL(p,s) with p from 1",
  },
  { args: ["--lift", "event=/a"], says: "which are reserved" },
  { args: ["--lift"], says: "argument missing" },
  { args: [], env: { BRAND_LIFT: "a=/a" }, says: 'BRAND_LIFT: expected a JSON array of texts, such as ["' },
  { args: [], env: { BRAND_LIFT: '"a=/a"' }, says: "BRAND_LIFT: expected a JSON array" },
  { args: [], env: { BRAND_LIFT: "[1]" }, says: "BRAND_LIFT: expected a JSON array" },
  { args: [], env: { BRAND_LIFT: '["A=/a"]' }, says: "BRAND_LIFT: expected a name" },
])("$args $env.BRAND_LIFT exits with 2: $says", async ({ args, env = {}, says }) => {
  const cwd = await temporaryDirectory();

  const ended = await sync(["run", "--base-url", "http://127.0.0.1:1", ...args], { cwd, env });

  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain(says);
});

test("discover prints fields, and options that run takes as they are", async () => {
  const cwd = await temporaryDirectory();
  const hostile = `"it's":"x","nasty":{"$(touch pwned)":1,"\\u001b[2J":2}`;
  await using simulator = await Simulator.start({ events: [...makeEvents(4), customEvent("x", hostile)] });
  await writeCredentials(cwd, simulator);

  const json = await sync(["discover", "--json", ...against(simulator)], { cwd });
  const shown = await sync(["discover", "--limit", "3", ...against(simulator)], { cwd });
  const found = lastJson(json);
  const options = texts(found["suggestions"]).flatMap((text) => ["--lift", text]);
  const run = await sync(["run", "--json", ...options, ...against(simulator)], { cwd });

  expect([json, shown, run].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  expect(json.stdout.trimEnd().split("\n")).toHaveLength(1);
  expect(Object.keys(found)).toEqual(["fields", "suggestions"]);
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
  const counted = await sync(["query", "--json", asked], { cwd });
  expect(texts(lastJson(counted)["rows"]).flat().length).toBeGreaterThan(0);
  expect(shown.stdout).not.toContain("\u001b");
});

test("discover --sql prints the view in DuckDB's words, which it is after a run with the suggested columns", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(4) });
  await writeCredentials(cwd, simulator);
  await sync(["run", "--lift", "amount=/spend/amount", ...against(simulator)], { cwd });

  const before = await sync(["discover", "--sql", ...against(simulator)], { cwd });
  const options = [...before.stdout.matchAll(/^-- {3}--lift '?([^'\n]+)'?$/gm)].flatMap(([, text = ""]) => [
    "--lift",
    text,
  ]);
  await sync(["run", ...options, ...against(simulator)], { cwd });
  const after = await sync(["discover", "--sql", ...against(simulator)], { cwd });

  expect([before.exitCode, after.exitCode]).toEqual([0, 0]);
  expect(options.slice(0, 2)).toEqual(["--lift", "amount=/spend/amount:DECIMAL(18,2)"]);
  expect(after.stdout).toMatch(/^CREATE OR REPLACE VIEW events_typed AS SELECT/);
  expect(before.stdout.endsWith(after.stdout)).toBe(true);
  expect(await readFile(join(cwd, "warehouse", "views.sql"), "utf8")).toContain(after.stdout);
});

test("discover of a warehouse with all columns still says which types fit them", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: [customEvent("x", '"n":1')] });
  await writeCredentials(cwd, simulator);
  await sync(["run", "--lift", "n=/n", ...against(simulator)], { cwd });

  const { stdout } = await sync(["discover", ...against(simulator)], { cwd });

  expect(stdout).toContain("with types for the view events_typed:\n  --lift n=/n:BIGINT\n");
});

test("discover quotes what a shell would read, and suggests nothing that moves a terminal's cursor", async () => {
  const cwd = await temporaryDirectory();
  const members = `"it's":"x","$(touch pwned)":1,"\\u001b[2J":2`;
  await using simulator = await Simulator.start({ events: [customEvent("x", members)] });
  await writeCredentials(cwd, simulator);

  const { stdout } = await sync(["discover", ...against(simulator)], { cwd });

  expect(stdout).toContain(String.raw`--lift 'it_s=/it'\''s'`);
  expect(stdout).toContain("--lift 'touch_pwned=/$(touch pwned):BIGINT'");
  expect(stdout.match(/--lift/g)).toHaveLength(2);
  expect(stdout).not.toContain("\u001b");
});

test.each([
  { what: "no base URL", args: [], exitCode: 2, says: "--base-url" },
  {
    what: "no credentials",
    args: ["--base-url", "http://127.0.0.1:1"],
    exitCode: 2,
    says: "CREDENTIALS_INVALID",
  },
  { what: "two forms", args: ["--sql", "--json"], exitCode: 2, says: "two forms of the result" },
  { what: "a limit of none", args: ["--limit", "0"], exitCode: 2, says: "--limit: expected a whole number" },
])("discover with $what exits with $exitCode", async ({ args, exitCode, says }) => {
  const ended = await sync(["discover", ...args], { cwd: await temporaryDirectory() });

  expect(ended.exitCode).toBe(exitCode);
  expect(ended.stderr).toContain(says);
  if (args.includes("--json")) expect(lastJson(ended)["error_code"]).toBe("CONFIG_INVALID");
  else expect(ended.stdout).toBe("");
});

test("discover of an account without events says so, and one that is refused ends with its error", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: [] });
  await writeCredentials(cwd, simulator);

  const none = await sync(["discover", ...against(simulator)], { cwd });
  simulator.configure({ account: { disabled: true } });
  simulator.endSessions();
  const refused = await sync(["discover", "--json", ...against(simulator)], { cwd });

  expect(none).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("nothing to discover") });
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("ACCOUNT_DISABLED");
});

function texts(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String);
  throw new Error("it is no list");
}
