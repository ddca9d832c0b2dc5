// A run that no person has started keeps trying for ten minutes while the service gives no response at all.

import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { httpServer } from "../job/service/http/local-server.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { acceleratedClock } from "../simulator/clocks.ts";
import { ManualClock } from "../simulator/manual-clock.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { lastJson, type SyncOptions, sync, writeAccounts } from "./command-line.ts";

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
  const credentials = { method: "session", ...DEMO };
  await writeAccounts(cwd, { uk: credentials, us: credentials }, { baseUrl, notifyUrl: hook.url });
  return {
    told,
    command: (args: readonly string[], options: Partial<SyncOptions> = {}) =>
      sync(args, { cwd, clock, ...options }),
    [Symbol.asyncDispose]: () => hook[Symbol.asyncDispose](),
  };
}

const errorMessages = (json: Record<string, unknown>): readonly string[] =>
  Array.isArray(json["accounts"]) ? json["accounts"].map((each) => each.error_message) : [];

test("all accounts together wait ten minutes, and people are told only then", async () => {
  await using world = await twoAccounts(CLOSED);

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
  await using world = await twoAccounts(simulator.url);
  const onStderr = (text: string): void => {
    if (text.includes("keeps trying")) clock.advance(outage.ms);
  };

  const ended = await world.command(["run", "--all", "--json"], { onStderr });

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(simulator.counts).toMatchObject({ logins: 2, details: 6 });
  expect(world.told).toEqual([]);
});

test.each([
  ["a run at a terminal", ["run", "--account", "uk"], true],
  ["a check", ["check", "--account", "uk"], undefined],
])("%s does not wait", async (_, args, isTTY) => {
  await using world = await twoAccounts(CLOSED);
  const stdin = Object.assign(Readable.from([]), { isTTY });

  const ended = await world.command(args, { stdin });

  expect(ended.exitCode).toBe(1);
  expect(ended.stdout + ended.stderr).toContain("failed 6 times");
});

test("a signal ends the wait", async () => {
  await using world = await twoAccounts(CLOSED);
  const stop = new AbortController();
  const onStderr = (text: string): void => {
    if (text.includes("keeps trying")) stop.abort(new SyncError("INTERRUPTED", "Stopped by SIGTERM."));
  };

  const ended = await world.command(["run", "--all", "--json"], { signal: stop.signal, onStderr });

  expect(ended.exitCode).toBe(130);
  expect(world.told).toEqual([]);
});
