// While a run of the command line is under way, and after it, no secret is in its process, its output or its files, wherever
// the credentials come from.

import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { METHODS } from "../../lambdas/job/credentials/credentials.ts";
import { tokensText } from "../../lambdas/job/credentials/tokens/token-store.ts";
import { Authorized } from "../job/service/auth/oauth/authorized.ts";
import { secrets } from "../job/service/connection.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { realClock } from "../simulator/clocks.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, startSync } from "./command-line.ts";

const TOKENS = "credentials.tokens.json";

test.each(METHODS)(
  "with the method %s no secret is in the process list, the output or a file",
  async (method) => {
    const cwd = await temporaryDirectory();
    await using authorized = await Authorized.start(realClock());
    const { provider, place } = authorized;
    await using simulator = await Simulator.start({ events: makeEvents(30), bearer: provider });
    const credentials = method === "oauth" ? provider.credentials : { method, ...simulator.credentials };
    await writeFile(join(cwd, "credentials.json"), JSON.stringify(credentials), { mode: 0o600 });
    if (place.tokens) await writeFile(join(cwd, TOKENS), tokensText(place.tokens), { mode: 0o600 });
    // The token is renewed in the middle of the run.
    provider.configure({ accessToken: { maxRequests: 10 } });
    let seen = "";

    const args = ["run", ...against(simulator), "--auth-url", provider.url, "--log-level", "debug"];
    const { process: child, ended } = startSync(args, { cwd });
    simulator.configure({
      onRequest: async ({ n }) => {
        if (n === 20) {
          const shown = ["cmdline", "environ", "comm"].map((name) => readFile(`/proc/${child.pid}/${name}`));
          seen = (await Promise.all(shown)).join("\n");
        }
      },
    });
    const { exitCode, stdout, stderr } = await ended;

    expect(exitCode, stderr).toBe(0);
    expect(seen).toContain("sync.ts");
    expect(leaksIn(seen)).toEqual([]);
    expect(leaksIn(stdout + stderr)).toEqual([]);
    expect(leaksIn(await filesBelow(cwd))).toEqual([]);
    if (method === "oauth") {
      expect(provider.counts.refreshes).toBeGreaterThan(1);
      expect((await stat(join(cwd, TOKENS))).mode & 0o777).toBe(0o600);
    }
  },
  60_000,
);

const leaksIn = (text: string): readonly string[] => secrets.filter((secret) => text.includes(secret));

/** The text of every file but the two that hold secrets. */
async function filesBelow(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter(
    (entry) => entry.isFile() && entry.name !== "credentials.json" && entry.name !== TOKENS,
  );
  const texts = files.map(async ({ parentPath, name }) => {
    const bytes = await readFile(join(parentPath, name));
    return `${name}\n${name.endsWith(".gz") ? gunzipSync(bytes) : bytes}`;
  });
  return (await Promise.all(texts)).join("\n");
}

const LOOPBACK = ["--base-url", "http://127.0.0.1:1"];

test("a process takes them from its pipe, and no list of processes, output or file shows them", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  let seen = "";

  const args = ["run", "--fresh", "--credentials", "-", ...against(simulator)];
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
