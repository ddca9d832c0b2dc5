// What the system does to a command at work: signals, SIGKILL, a reader that leaves, a log that cannot be written, a disk that
// is full. What is published stays whole, the account is free, the outcome is told, and the command line finishes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { evolve } from "../simulator/evolve.ts";
import { makeEvent, makeEvents } from "../simulator/simulated-event.ts";
import type { Simulator } from "../simulator/simulator.ts";
import {
  against,
  type Laptop,
  laptop,
  lastJson,
  type Started,
  SYNC,
  start,
  startSync,
} from "./command-line.ts";
import { readEvents } from "./warehouse.ts";

const DEMO = fileURLToPath(new URL("../../bin/demo.ts", import.meta.url));

/** A run of 40 slow details, two of which have arrived. */
async function working(): Promise<Laptop & { readonly run: Started }> {
  const world = await laptop({ events: makeEvents(40), latencyMs: 200 });
  const { cwd, simulator } = world;
  const run = startSync(["run", "--concurrency", "1", ...against(simulator)], { cwd });
  while (simulator.counts.details < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  return { ...world, run };
}

test.each(["SIGHUP", "SIGTERM"] as const)("%s frees the account and exits with 130", async (signal) => {
  const world = await working();

  world.run.process.kill(signal);
  const ended = await world.run.ended;
  const status = lastJson(await world.command("status", "--account", "default", "--json"));

  expect(ended).toMatchObject({ exitCode: 130, signal: null });
  expect(ended.stdout).toMatch(/^interrupted {2}run /);
  expect(ended.stdout).not.toContain("FAILED");
  expect(ended.stderr).toContain(`INTERRUPTED: Stopped by ${signal}.`);
  expect(status).toMatchObject({
    lease: null,
    runs: [expect.objectContaining({ outcome: "FAILED", error_code: "INTERRUPTED" })],
  });
});

test("a Ctrl-C that arrives twice, as npm passes it on, stops in good order and keeps what it fetched", async () => {
  const { run, simulator, command, ask } = await working();

  run.process.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 5));
  run.process.kill("SIGINT");
  const ended = await run.ended;
  const status = lastJson(await command("status", "--account", "default", "--json"));

  const sent = simulator.counts.details;
  const kept = Number(ended.stderr.match(/(\d+) of 40 events are kept/)?.[1]);
  simulator.configure({ latencyMs: 0 });
  const next = await ask("run", "--json");

  expect(ended.exitCode).toBe(130);
  expect(status["lease"]).toBeNull();
  expect(kept).toBeGreaterThanOrEqual(sent - 1); // one may have been under way
  expect(lastJson(next)).toMatchObject({ outcome: "PUBLISHED", attempt: 2 });
  expect(next.stderr).toContain(`, ${kept} of 40 done`);
  expect(simulator.counts.details).toBe(sent + 40 - kept);
});

test("the demonstration stops with its command and leaves no file behind", async () => {
  const cwd = await temporaryDirectory();
  const files = await temporaryDirectory();
  const demo = start(DEMO, [], { cwd, env: { TMPDIR: files } });
  await new Promise((resolve) => demo.process.stdout?.once("data", resolve));

  demo.process.kill("SIGINT");
  const ended = await demo.ended;

  expect(ended).toMatchObject({ exitCode: 130, signal: null });
  expect(ended.stderr).toContain("The demonstration was interrupted.");
  expect(await readdir(files)).toEqual([]);
});

test("a query that DuckDB does not stop ends within two seconds, and leaves no file", async () => {
  const world = await laptop({ events: makeEvents(1) });
  const { cwd } = world;
  await world.ask("run");
  const before = await readdir(cwd);
  const query = startSync(["query", "SELECT length(repeat('x', 1500000000))", "--out", "x.csv"], { cwd });
  while ((await readdir(cwd)).length === before.length)
    await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 1_000));

  const sentAtMs = performance.now();
  query.process.kill("SIGINT");
  const { signal, exitCode, stderr } = await query.ended;

  expect(performance.now() - sentAtMs).toBeLessThan(2_000);
  // A shell reports both as 130.
  expect([signal, exitCode]).toEqual(signal === null ? [null, 130] : ["SIGINT", null]);
  expect(stderr).toContain("INTERRUPTED: Stopped by SIGINT.");
  expect(await readdir(cwd)).toEqual(before);
});

test.each(["status", "status --account uk", "report"])(
  "%s ends with Ctrl-C while S3 accepts connections and answers nothing",
  async (command) => {
    const cwd = await temporaryDirectory();
    await using silent = createServer((socket) => socket.resume()).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const env = {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${Object(silent.address()).port}`,
      AWS_REGION: "eu-west-1",
      AWS_ACCESS_KEY_ID: "any",
      AWS_SECRET_ACCESS_KEY: "any",
    };
    const { process, ended } = startSync([...command.split(" "), "--warehouse", "s3://any"], { cwd, env });
    await once(silent, "connection");

    const sentAtMs = performance.now();
    process.kill("SIGINT");
    const { stdout, stderr } = await ended;

    expect(performance.now() - sentAtMs).toBeLessThan(2_000);
    expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "INTERRUPTED: Stopped by SIGINT.\n" });
  },
);

const PROGRAM = fileURLToPath(new URL("killed-run.ts", import.meta.url));
/** The killed run's ranges hold 20 of its 72 events. What is staged is not fetched again. */
const truth = (simulator: Simulator): ReadonlyMap<string, string> =>
  new Map(
    simulator
      .listed()
      .map(({ uuid }): [string, string] => [uuid, simulator.detailSource(uuid)])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

test.each([
  { when: "after the plan", args: ["--at", "plan", "--moment", "after"], fetches: [72], sees: "old" },
  { when: "in the middle of the second range", args: ["--done", "30"], fetches: [52], sees: "old" },
  {
    when: "after the first part",
    args: ["--at", "part-00000", "--moment", "after"],
    fetches: [0],
    sees: "old",
  },
  { when: "before the publication", args: ["--at", "publications/"], fetches: [0], sees: "old" },
  {
    when: "after the publication",
    args: ["--at", "publications/", "--moment", "after"],
    fetches: [72],
    sees: "old",
  },
  { when: "after the catalog", args: ["--at", "views.sql", "--moment", "after"], fetches: [72], sees: "new" },
])(
  "a process killed $when leaves the $sees snapshot whole, and the next run finishes",
  async ({ args, fetches, sees }) => {
    const { cwd, warehouse, simulator, ask } = await laptop({ events: makeEvents(70) });
    await ask("run");
    const old = await readEvents(warehouse);
    evolve(simulator);

    const credentials = join(cwd, "credentials.json");
    const where = ["--base-url", `${simulator.url}/`, "--credentials", credentials, "--warehouse", warehouse];
    const killed = await start(PROGRAM, [...where, ...args], { cwd }).ended;
    const seen = await readEvents(warehouse);
    simulator.reset();
    const next = await ask("run", "--json");

    expect(killed).toMatchObject({ signal: "SIGKILL", stdout: "" });
    expect(old.size).toBe(70);
    expect(seen).toEqual(sees === "old" ? old : truth(simulator));
    expect(next).toMatchObject({ exitCode: 0 });
    expect(lastJson(next)).toMatchObject({ outcome: "PUBLISHED", events: 72 });
    expect(await readEvents(warehouse)).toEqual(truth(simulator));
    expect(fetches).toContain(simulator.counts.details);
  },
);

/** The command line, `"$@"`, in a shell that runs this script. */
async function inShell(
  script: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly code: number; readonly output: string }> {
  const shell = ["-c", script, "shell", process.execPath, SYNC, ...args];
  const child = spawn("bash", shell, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  const output = text(child.stdout);
  const [code] = await once(child, "close");
  return { code, output: await output };
}

const into = (redirected: string): string => `"$@" ${redirected}; exit \${PIPESTATUS[0]}`;

test.each(["2>&1 | true", "2>&1 | head -1", "> /dev/full 2>&1", "2> /dev/full", ">&- 2>&-"])(
  "a run with `%s` publishes, exits with 0 and frees its lease",
  async (redirected) => {
    const { cwd, simulator, command } = await laptop({ events: makeEvents(20), latencyMs: 20 });
    // Others may read the credentials, so that there is a warning to write before the run begins.
    await chmod(join(cwd, "credentials.json"), 0o644);

    const ended = await inShell(into(redirected), ["run", "--json", ...against(simulator)], cwd);
    const status = lastJson(await command("status", "--account", "default", "--json"));

    expect(ended.code).toBe(0);
    expect(status).toMatchObject({ head: { events: 20 }, lease: null, runs: [{ outcome: "PUBLISHED" }] });
  },
);

test("a run that is held says so with its exit code where nothing can be written", async () => {
  const world = await laptop();
  await world.snapshot(20);
  world.simulator.setEvents(makeEvents(10));

  const ended = await inShell(into("> /dev/full 2>&1"), ["run", ...against(world.simulator)], world.cwd);

  expect(ended.code).toBe(3);
});

test.each([
  {
    what: "reader leaves after a line ends quietly",
    redirected: "2>&1 | head -1",
    form: [],
    code: 0,
    says: /^range\n$/,
  },
  {
    what: "result cannot be written to the end fails, for the rows that are there are not all",
    redirected: "2>&1 > /dev/full",
    form: ["--format", "csv"],
    code: 1,
    says: /^QUERY_FAILED: The result cannot be written to standard output: the disk is full \(ENOSPC\)/,
  },
])("a query whose $what", async ({ redirected, form, code, says }) => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "warehouse/accounts/default"), { recursive: true });
  await writeFile(join(cwd, "warehouse/accounts/default/lease.json"), "{}\n");

  const ended = await inShell(into(redirected), ["query", "SELECT * FROM range(50000)", ...form], cwd);

  expect(ended).toEqual({ code, output: expect.stringMatching(says) });
});

test("a run whose result cannot be written says what it came to, and a status fails", async () => {
  const { cwd, simulator } = await laptop({ events: makeEvents(20) });
  const full = "The result cannot be written to standard output: the disk is full (ENOSPC).";

  const run = await inShell(into("2>&1 > /dev/full"), ["run", "--json", ...against(simulator)], cwd);
  const status = await inShell(into("2>&1 > /dev/full"), ["status"], cwd);

  expect(run.code).toBe(0);
  expect(run.output).toContain(`${full} PUBLISHED 20 events: 20 added, 0 changed, 0 removed.\n`);
  expect(status).toEqual({ code: 1, output: `QUERY_FAILED: ${full}\n` });
});

test("a text of which a file takes only a part fails", async () => {
  const cwd = await temporaryDirectory();

  const ended = await inShell(`ulimit -f 1; ${into("2>&1 > help.txt")}`, ["--help"], cwd);

  expect(ended.code).toBe(1);
  expect(ended.output).toContain("cannot be written to standard output: it would be larger than the limit");
});

test("a disk that fills in mid-write fails the run as STORE_FAILED, and the next run finishes", async () => {
  const noise = (n: number): string =>
    `"noise":"${Buffer.from(`${n}`.repeat(3)).toString("hex").repeat(40)}"`;
  const events = makeEvents(300).map((_, n) => makeEvent(n + 1, { extra: noise(n) }));
  const { cwd, warehouse, simulator, ask } = await laptop({ events: events.slice(0, 5) });
  await ask("run");
  const before = await readEvents(warehouse);
  simulator.setEvents(events);

  // No file grows beyond that, as with a quota.
  const full = await inShell('ulimit -f 16; exec "$@" 2>&1', ["run", ...against(simulator)], cwd);
  const seen = await readEvents(warehouse);
  const next = await ask("run", "--json");

  expect(full.code).toBe(1);
  expect(full.output).toMatch(/STORE_FAILED: Could not write .* Raise it and start again/);
  expect(seen).toEqual(before);
  expect(lastJson(next)).toMatchObject({ outcome: "PUBLISHED", events: 300, added: 295 });
});
