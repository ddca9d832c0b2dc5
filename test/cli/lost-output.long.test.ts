// A reader that leaves and a log that cannot be written: neither costs a run, its outcome or its lease.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, SYNC, sync, writeCredentials } from "./command-line.ts";

/** The command line in a shell that does with its output what `redirected` says. */
async function syncInto(
  redirected: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly code: number; readonly output: string }> {
  const script = `"$@" ${redirected}; exit \${PIPESTATUS[0]}`;
  const shell = ["-c", script, "shell", process.execPath, SYNC, ...args];
  const child = spawn("bash", shell, {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = text(child.stdout);
  const [code] = await once(child, "close");
  return { code, output: await output };
}

test.each(["2>&1 | true", "2>&1 | head -1", "> /dev/full 2>&1", "2> /dev/full", ">&- 2>&-"])(
  "a run with `%s` publishes, exits with 0 and frees its lease",
  async (redirected) => {
    const cwd = await temporaryDirectory();
    await using simulator = await Simulator.start({ events: makeEvents(20), latencyMs: 20 });
    // Others may read the credentials, so that there is a warning to write before the run begins.
    await chmod(await writeCredentials(cwd, simulator), 0o644);

    const ended = await syncInto(redirected, ["run", "--json", ...against(simulator)], cwd);
    const status = lastJson(await sync(["status", "--account", "default", "--json"], { cwd }));

    expect(ended.code).toBe(0);
    expect(status).toMatchObject({ head: { events: 20 }, lease: null, runs: [{ outcome: "PUBLISHED" }] });
  },
);

test("a run that is held says so with its exit code where nothing can be written", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(20) });
  await writeCredentials(cwd, simulator);
  await sync(["run", ...against(simulator)], { cwd });
  simulator.setEvents(makeEvents(10));

  const ended = await syncInto("> /dev/full 2>&1", ["run", ...against(simulator)], cwd);

  expect(ended.code).toBe(3);
});

test("a query whose reader leaves after a line ends quietly", async () => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "warehouse/accounts/default"), { recursive: true });
  await writeFile(join(cwd, "warehouse/accounts/default/lease.json"), "{}\n");

  const ended = await syncInto("2>&1 | head -1", ["query", "SELECT * FROM range(50000)"], cwd);

  expect(ended).toEqual({ code: 0, output: "range\n" });
});

test("a query whose result cannot be written to the end fails, for the rows that are there are not all", async () => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "warehouse/accounts/default"), { recursive: true });
  await writeFile(join(cwd, "warehouse/accounts/default/lease.json"), "{}\n");
  const query = ["query", "SELECT * FROM range(50000)", "--format", "csv"];

  const full = await syncInto("2>&1 > /dev/full", query, cwd);

  expect(full.code).toBe(1);
  expect(full.output).toContain("cannot be written to standard output: the disk is full (ENOSPC)");
});
