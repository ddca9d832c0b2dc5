// What the system refuses while a command is at work: a reader that leaves, a log that cannot be written, a disk that is full.
// None costs what is published, and none of them an outcome or a lease.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvent, makeEvents } from "../simulator/simulated-event.ts";
import { against, laptop, lastJson, SYNC } from "./command-line.ts";
import { readEvents } from "./warehouse-reader.ts";

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
    await using world = await laptop({ events: makeEvents(20), latencyMs: 20 });
    const { cwd, simulator, command } = world;
    // Others may read the credentials, so that there is a warning to write before the run begins.
    await chmod(join(cwd, "credentials.json"), 0o644);

    const ended = await inShell(into(redirected), ["run", "--json", ...against(simulator)], cwd);
    const status = lastJson(await command("status", "--account", "default", "--json"));

    expect(ended.code).toBe(0);
    expect(status).toMatchObject({ head: { events: 20 }, lease: null, runs: [{ outcome: "PUBLISHED" }] });
  },
);

test("a run that is held says so with its exit code where nothing can be written", async () => {
  await using world = await laptop();
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
  await using world = await laptop({ events: makeEvents(20) });
  const { cwd, simulator } = world;
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
  await using world = await laptop({ events: events.slice(0, 5) });
  const { cwd, warehouse, simulator, ask } = world;
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
