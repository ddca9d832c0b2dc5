// `--credentials -`: the credentials come from standard input and are nowhere else.

import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, startSync } from "./command-line.ts";

const LOOPBACK = ["--base-url", "http://127.0.0.1:1"];

test("a process takes them from its pipe, and no list of processes, output or file shows them", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  let seen = "";

  const args = ["run", "--credentials", "-", ...against(simulator)];
  const { process: child, ended } = startSync(args, { cwd, stdin: "pipe" });
  simulator.configure({
    onRequest: async ({ n }) => {
      if (n === 5) seen = await readFile(`/proc/${child.pid}/cmdline`, "utf8");
    },
  });
  // In two pieces, over several lines.
  const json = JSON.stringify({ method: "session", ...simulator.credentials }, null, 2);
  child.stdin?.write(json.slice(0, 20));
  child.stdin?.end(json.slice(20));
  const { exitCode, stdout, stderr } = await ended;

  expect(exitCode, stderr).toBe(0);
  expect(stdout).toContain("12 events with details");
  expect(seen).toContain("--credentials");
  expect(seen + stdout + stderr).not.toContain(simulator.credentials.password);
  expect(await readdir(cwd)).toEqual(["warehouse"]);
}, 30_000);

test("a closed terminal ends a process whose input stays open", async () => {
  const cwd = await temporaryDirectory();

  const { process: child, ended } = startSync(["run", ...LOOPBACK, "--credentials", "-"], {
    cwd,
    stdin: "pipe",
  });
  await expect.poll(() => catchesHangUps(child.pid), { timeout: 20_000 }).toBe(true);
  child.kill("SIGHUP");
  const { exitCode, stderr } = await ended;

  expect([exitCode, stderr]).toEqual([130, expect.stringContaining("INTERRUPTED")]);
}, 30_000);

/** Node.js itself handles SIGINT and SIGTERM, but not this one: the first bit of the mask of signals that the process handles (proc_pid_status(5)). */
async function catchesHangUps(pid: number | undefined): Promise<boolean> {
  const [, mask = "0"] = /^SigCgt:\s*(\w+)$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return (BigInt(`0x${mask}`) & 1n) !== 0n;
}
