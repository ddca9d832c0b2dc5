// `--all`: each account of the settings file in turn; and how long a run that no person has started keeps trying while the
// service gives no response at all.

import { expect, onTestFinished, test } from "vitest";
import { httpServer } from "../job/service/http/local-server.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { acceleratedClock } from "../simulator/clocks.ts";
import { ManualClock } from "../simulator/manual-clock.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import {
  atTerminal,
  lastJson,
  printedCommand,
  type SyncOptions,
  stoppedAt,
  sync,
  writeAccounts,
} from "./command-line.ts";

/** Of the three accounts `us` has a wrong password. */
async function threeAccounts(simulator: Simulator, over: object = {}): Promise<string> {
  const cwd = await temporaryDirectory();
  const right = { method: "session", ...simulator.credentials };
  const accounts = { lab: right, us: { ...right, password: "wrong" }, uk: right };
  await writeAccounts(cwd, accounts, { baseUrl: simulator.url, ...over });
  return cwd;
}

const outcomesOf = (json: Record<string, unknown>): readonly unknown[] | undefined =>
  Array.isArray(json["accounts"])
    ? json["accounts"].map((each) => [each.account, each.outcome, each.error_code])
    : undefined;

test("three accounts, of which one is held and one refused, end each for itself, and every lease is free", async () => {
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  const cwd = await threeAccounts(simulator);
  await sync(["run", "--account", "lab"], { cwd });
  simulator.setEvents(makeEvents(6));

  const shown = await sync(["run", "--all"], { cwd });
  const json = await sync(["run", "--all", "--json"], { cwd });
  const accepted = await sync(printedCommand(shown.stdout, "accept"), { cwd });
  const skipped = await sync(["run", "--all"], { cwd });
  const status = await sync(["status", "--json"], { cwd });

  expect([shown, json, accepted, skipped].map(({ exitCode }) => exitCode)).toEqual([1, 3, 0, 4]);
  // For a person each account has its report, with commands to paste, and all have a line at the end.
  expect(shown.stdout).toMatch(
    /^account lab\nHELD .*\naccount us\nFAILED .*\naccount uk\nPUBLISHED .*\nall accounts\n {2}lab {2}HELD {8}6 events: \S+\n {2}us {3}FAILED {6}LOGIN_REFUSED\n {2}uk {3}PUBLISHED {3}6 events: 6 added, 0 changed, 0 removed\n$/s,
  );
  expect(outcomesOf(lastJson(json))).toEqual([
    ["lab", "HELD", null],
    // Its password was refused already.
    ["us", "SKIPPED", null],
    ["uk", "PUBLISHED", null],
  ]);
  expect(json.stdout.trimEnd().split("\n")).toHaveLength(1);
  expect(json.stderr).toMatch(
    /all accounts\n {2}lab {2}HELD .*\n {2}us {3}SKIPPED .*\n {2}uk {3}PUBLISHED .*\n$/,
  );
  expect(lastJson(status)).toMatchObject({
    accounts: [
      { account: "lab", lease: null },
      { account: "uk", lease: null },
      { account: "us", lease: null },
    ],
  });
});

test("run, check and discover go through all accounts, and one that cannot begin stops none", async () => {
  await using simulator = await Simulator.start({ events: makeEvents(6) });
  const cwd = await threeAccounts(simulator, {
    accounts: {
      lab: { credentials: "missing.json" },
      us: { credentials: "credentials/us.json" },
      uk: { credentials: "credentials/uk.json" },
    },
  });

  const discovered = await sync(["discover", "--all", "--json"], { cwd });
  const sql = await sync(["discover", "--all", "--sql"], { cwd });
  const checked = await sync(["check", "--all", "--json"], { cwd });
  const run = await sync(["run", "--all", "--fresh", "--json"], { cwd });

  expect(lastJson(discovered)).toMatchObject({
    accounts: [
      { account: "lab", outcome: "FAILED", error_code: "CREDENTIALS_INVALID" },
      { account: "us", outcome: "FAILED", error_code: "LOGIN_REFUSED" },
      { account: "uk", fields: expect.anything() },
    ],
  });
  // Nothing but SQL may stand between SQL.
  expect(sql.stdout).toMatch(/^-- After a run .*;\n$/s);
  expect(sql.stderr).toMatch(/all accounts\n {2}lab {2}FAILED /);
  expect(lastJson(checked)).toMatchObject({
    accounts: [
      { account: "lab", ok: false },
      { account: "us", ok: false },
      { account: "uk", ok: true },
    ],
  });
  expect(outcomesOf(lastJson(run))?.[0]).toEqual(["lab", "FAILED", "CREDENTIALS_INVALID"]);
  expect([discovered.exitCode, checked.exitCode, run.exitCode]).toEqual([1, 1, 2]);
});

test("an interruption ends the account at work and begins no other", async () => {
  await using simulator = await Simulator.start({ events: makeEvents(40) });
  const cwd = await threeAccounts(simulator);

  const ended = await sync(["run", "--all", "--json"], { cwd, ...stoppedAt("events are listed") });
  const status = await sync(["status", "--account", "lab", "--json"], { cwd });

  expect(ended.exitCode).toBe(130);
  expect(outcomesOf(lastJson(ended))).toEqual([
    ["lab", "FAILED", "INTERRUPTED"],
    ["us", "FAILED", "INTERRUPTED"],
    ["uk", "FAILED", "INTERRUPTED"],
  ]);
  expect(ended.stderr).toContain("  us   not begun\n  uk   not begun\n");
  expect(lastJson(status)).toMatchObject({ lease: null });
  expect(simulator.requests.filter(({ endpoint }) => endpoint === "login")).toHaveLength(1);
});

test.each<[string, readonly string[], Record<string, string>, string]>([
  ["a named account", ["run", "--all", "--account", "uk"], {}, "cannot be used together: leave one out"],
  [
    "both variables",
    ["run"],
    { BRAND_ALL: "true", BRAND_ACCOUNT: "uk" },
    "cannot be used together: leave one out",
  ],
  ["credentials on standard input", ["run", "--all", "--credentials", "-"], {}, "--all cannot be used with"],
])("%s does not go with --all", async (_, args, env, says) => {
  await using simulator = await Simulator.start({ events: [] });
  const cwd = await threeAccounts(simulator);

  const ended = await sync(args, { cwd, env });

  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain(says);
});

test("without a settings file --all says that it needs one", async () => {
  const cwd = await temporaryDirectory();

  const ended = await sync(["check", "--all"], { cwd });

  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain(
    `--all needs a settings file with the accounts, and there is no brand-events.json in ${cwd}.`,
  );
});

test("an account as option beats BRAND_ALL, and --all beats BRAND_ACCOUNT", async () => {
  await using simulator = await Simulator.start({ events: makeEvents(2) });
  const cwd = await threeAccounts(simulator);

  const one = await sync(["run", "--account", "uk", "--json"], { cwd, env: { BRAND_ALL: "true" } });
  const all = await sync(["run", "--all", "--json"], { cwd, env: { BRAND_ACCOUNT: "uk" } });

  expect(lastJson(one)).toMatchObject({ outcome: "PUBLISHED" });
  expect(outcomesOf(lastJson(all))).toHaveLength(3);
});

const MINUTE = 60_000;
const CLOSED = "http://127.0.0.1:1";
const DEMO = { email: "demo@example.test", password: "demo-password" };

/** Two accounts, commands by a clock of their own, and the instants at which a notification came. */
async function twoAccounts(baseUrl: string) {
  const cwd = await temporaryDirectory();
  // Slow enough for what a run writes beside its requests.
  const clock = acceleratedClock(200);
  const told: number[] = [];
  const hook = await httpServer((_, response) => {
    told.push(clock.monotonicMs());
    response.end();
  });
  onTestFinished(() => hook[Symbol.asyncDispose]());
  const credentials = { method: "session", ...DEMO };
  await writeAccounts(cwd, { uk: credentials, us: credentials }, { baseUrl, notifyUrl: hook.url });
  return {
    told,
    command: (args: readonly string[], options: Partial<SyncOptions> = {}) =>
      sync(args, { cwd, clock, ...options }),
  };
}

const errorMessages = (json: Record<string, unknown>): readonly string[] =>
  Array.isArray(json["accounts"]) ? json["accounts"].map((each) => each.error_message) : [];

test("all accounts together wait ten minutes, and people are told only then", async () => {
  const world = await twoAccounts(CLOSED);

  const ended = await world.command(["run", "--all", "--json"]);

  expect(ended.exitCode).toBe(1);
  expect(errorMessages(lastJson(ended))).toEqual([
    expect.stringMatching(/failed \d+ times, the last time with no response \(ECONNREFUSED\)/),
    expect.stringMatching(/failed 6 times, the last time with no response \(ECONNREFUSED\)/),
  ]);
  expect(world.told).toHaveLength(2);
  expect(world.told[0]).toBeGreaterThanOrEqual(10 * MINUTE);
  expect(ended.stderr.match(/A run without a terminal keeps trying/g)).toHaveLength(1);
});

test("a service that comes back in time is read, and no person is told", async () => {
  const clock = new ManualClock(Date.now());
  const outage = { kind: "refuse", ms: 1 } as const;
  await using simulator = await Simulator.start({ clock, account: DEMO, outage, events: makeEvents(3) });
  const world = await twoAccounts(simulator.url);
  const onStderr = (text: string): void => {
    if (text.includes("keeps trying")) clock.advance(outage.ms);
  };

  const ended = await world.command(["run", "--all", "--json"], { onStderr });

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(simulator.counts).toMatchObject({ logins: 2, details: 6 });
  expect(world.told).toEqual([]);
});

test.each([
  ["a run at a terminal", ["run", "--account", "uk"], { stdin: atTerminal() }],
  ["a check", ["check", "--account", "uk"], {}],
])("%s does not wait", async (_, args, options) => {
  const world = await twoAccounts(CLOSED);

  const ended = await world.command(args, options);

  expect(ended.exitCode).toBe(1);
  expect(ended.stdout + ended.stderr).toContain("failed 6 times");
});

test("a signal ends the wait", async () => {
  const world = await twoAccounts(CLOSED);

  const ended = await world.command(["run", "--all", "--json"], stoppedAt("keeps trying"));

  expect(ended.exitCode).toBe(130);
  expect(world.told).toEqual([]);
});
