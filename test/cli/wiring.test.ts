// What commands are wired with: where the tokens are without `--tokens`, what a link leads to, which files of runs expire; which
// process this is, and what ends it.

import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { expire } from "../../bin/cli/commands/run.ts";
import { GivenOptions } from "../../bin/cli/options/read-options.ts";
import { openTokens } from "../../bin/cli/wiring/open-warehouse.ts";
import { isGone, stopSignals, thisProcess } from "../../bin/cli/wiring/this-process.ts";
import { readProxies } from "../../lambdas/job/network/proxies.ts";
import type { Holder } from "../../lambdas/job/run/lease/lease-file.ts";
import { accountStore } from "../../lambdas/job/storage/store.ts";
import { sampleTokens } from "../job/credentials/tokens/memory-token-store.ts";
import { LogLines } from "../job/runtime/log-lines.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { MemoryStore } from "../job/storage/memory-store.ts";
import { toldBy } from "../words/said.ts";

const proxies = readProxies({});

it.each([
  ["credentials/uk.json", undefined, "credentials/uk.tokens.json"],
  ["./credentials.json", undefined, "credentials.tokens.json"],
  ["secret", undefined, "secret.tokens.json"],
  ["credentials/uk.json", "elsewhere/tokens.json", "elsewhere/tokens.json"],
  ["secretsmanager:uk", "tokens.json", "tokens.json"],
])("with the credentials %s and --tokens %s they are in %s", async (credentials, tokens, file) => {
  const cwd = await temporaryDirectory();

  const places = new GivenOptions({ credentials, tokens }, {}, cwd).read(["credentials", "tokens"]);
  const store = await openTokens(places, { proxies });

  expect(store.place).toBe(`the file ${join(cwd, file)}`);
});

it("with credentials in a secret the option is asked for", async () => {
  const opening = openTokens({ credentials: "secretsmanager:uk", tokens: undefined }, { proxies });

  expect(await toldBy(opening)).toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("--tokens secretsmanager:NAME"),
  });
});

it("a renewal replaces the file that a link leads to, not the link", async () => {
  const cwd = await realpath(await temporaryDirectory());
  await mkdir(join(cwd, "shared"));
  await writeFile(join(cwd, "shared/uk.tokens.json"), "{}", { mode: 0o600 });
  await symlink(join(cwd, "shared/uk.tokens.json"), join(cwd, "uk.tokens.json"));
  const where = { credentials: join(cwd, "uk.json"), tokens: undefined };

  const store = await openTokens(where, { proxies });
  const stored = await store.read();
  await store.replace(stored.version, sampleTokens("1"));

  const direct = await openTokens({ ...where, tokens: join(cwd, "shared/uk.tokens.json") }, { proxies });
  expect(await direct.read()).toMatchObject({ tokens: sampleTokens("1") });
  expect(store.place).toBe(direct.place);
});

it.each([
  [0o600, []],
  [0o640, ["other users of this machine may read"]],
  [0o644, ["other users of this machine may read"]],
])("a file with mode %o has these warnings: %j", async (mode, warnings) => {
  const cwd = await temporaryDirectory();
  const file = join(cwd, "uk.tokens.json");
  await writeFile(file, "{}");
  await chmod(file, mode);
  const log = new LogLines();

  await openTokens({ credentials: join(cwd, "uk.json"), tokens: undefined }, { proxies }, log);

  expect(log.lines).toEqual(warnings.map((text) => `warn ${text} ${file}: chmod 600 ${file} {}`));
});

it("a file that is not there has no warning", async () => {
  const log = new LogLines();

  await openTokens({ credentials: "/none/uk.json", tokens: undefined }, { proxies }, log);

  expect(log.lines).toEqual([]);
});

const NOW = Date.UTC(2026, 10, 21, 6);

test("what a run staged is deleted after 14 days, its line after 400, and nothing else is", async () => {
  const store = new MemoryStore();
  const kept = [
    "runs/de/2026-01-01T00-00-00.000Z/plan.ndjson.gz",
    "runs/uk/2026-11-07T06-00-00.000Z/plan.ndjson.gz",
    "runs/uk/2026-11-21T06-00-00.000Z/outcome.json",
    "runs/uk/check-token.json",
    "snapshots/uk/2026-01-01T00-00-00.000Z/part-00000.ndjson.gz",
    "snapshots/uk/2024-01-01T00-00-00.000Z/part-00000.ndjson.gz",
    "run-log/de/2024-01-01T00-00-00.000Z-1.ndjson",
    "run-log/uk/2024-01-01T00-00-00.000Z-1.ndjson.bak",
    "run-log/uk/2025-10-17T06-00-00.000Z-1.ndjson",
    "run-log/uk/a-run-1.ndjson",
    "publications/uk/0000000001.ndjson",
    "runs/uk/2026-01-01T00-00-00.000Z/a copy (1).json",
    "runs/uk/2026-01-01T00-00-00.000Z/z/plan.ndjson.gz",
  ];
  const old = [
    "runs/uk/2026-11-07T05-59-59.000Z/outcome.json",
    "runs/uk/2026-11-01T00-00-00.000Z/plan.ndjson.gz",
    "run-log/uk/2025-10-17T05-59-59.999Z-12.ndjson",
    "run-log/uk/2024-01-01T00-00-00.000Z-1.ndjson",
  ];
  for (const key of [...kept, ...old]) store.put(key, "x");

  await expire(accountStore(store, "uk"), NOW);

  expect(store.keys()).toEqual(kept.toSorted());
});

test("nothing is deleted before a day's worth is due, so that few queries meet it", async () => {
  const store = new MemoryStore();
  const line = "run-log/uk/2025-10-16T06-00-00.000Z-1.ndjson";
  const keys = [line, "run-log/uk/2025-10-17T05-59-59.999Z-1.ndjson"];
  for (const key of keys) store.put(key, "x");

  await expire(accountStore(store, "uk"), NOW);
  const before = store.keys();
  await expire(accountStore(store, "uk"), NOW + 1);

  expect(before).toEqual(keys);
  expect(store.keys()).toEqual([]);
});

const own = (changes: Partial<Holder> = {}): Holder => ({ token: "t", ...thisProcess(), ...changes });

/** The id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn("sh", ["-c", "true"], { stdio: "ignore" });
  await once(child, "exit");
  if (child.pid === undefined) throw new Error("it did not start");
  return child.pid;
}

describe.runIf(process.platform === "linux")("on Linux a process", () => {
  test("says which one it is, as no other process could", () => {
    expect(thisProcess()).toEqual({
      host: hostname(),
      pid: process.pid,
      boot_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      pid_namespace: expect.stringMatching(/^pid:\[\d+\]$/),
      start_ticks: expect.stringMatching(/^\d+$/),
    });
  });

  test("that works is not gone", () => {
    expect(isGone(own())).toBe(false);
  });

  test("that has ended is gone", async () => {
    expect(isGone(own({ pid: await deadPid() }))).toBe(true);
  });

  test("that was killed is gone, also before its parent asks how it ended", async () => {
    // The shell becomes a program that asks for no child.
    const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"]);
    const [output] = await once(parent.stdout, "data");
    const pid = Number(output);
    const stat = (): string => readFileSync(`/proc/${pid}/stat`, "utf8");
    const start_ticks = stat().split(" ")[21] ?? "";
    expect(isGone(own({ pid, start_ticks }))).toBe(false);
    await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, "utf8")).toBe("sleep\n");

    process.kill(pid, "SIGKILL");
    await expect.poll(stat).toContain(") Z ");

    expect(isGone(own({ pid, start_ticks }))).toBe(true);
    parent.kill();
  });

  test("is gone when another one has its id", () => {
    expect(isGone(own({ start_ticks: "1" }))).toBe(true);
  });

  test.each([
    { where: "in another container of this computer", changes: { pid_namespace: "pid:[1]" } },
    { where: "on another computer of this name", changes: { boot_id: "another" } },
    { where: "before the computer was started again", changes: { boot_id: "another", start_ticks: "1" } },
    { where: "on a computer of another name", changes: { host: "another" } },
    { where: "where the system does not say which process it is", changes: { boot_id: undefined } },
    { where: "where the namespace is not known", changes: { pid_namespace: undefined } },
    { where: "where its start is not known", changes: { start_ticks: undefined } },
  ])("that ran $where is not known to be gone", async ({ changes }) => {
    const { boot_id, pid_namespace, start_ticks, ...rest } = own({ pid: await deadPid() });
    const known = Object.entries({ boot_id, pid_namespace, start_ticks, ...changes });
    const holder = { ...rest, ...Object.fromEntries(known.filter(([, value]) => value !== undefined)) };

    expect(isGone(holder)).toBe(false);
  });

  test("of an earlier version, which said less, is not known to be gone", async () => {
    expect(isGone({ token: "t", host: hostname(), pid: await deadPid() })).toBe(false);
  });
});

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"])("%s aborts as INTERRUPTED and names the signal", (name) => {
  const process = new FakeProcess();
  const signal = stopSignals({ process, elapsedMs: () => 0 });

  process.emit(name);

  expect(signal.reason).toMatchObject({ code: "INTERRUPTED", message: `Stopped by ${name}.` });
  expect(process.exits).toEqual([]);
});

test.each([
  { first: "SIGINT", second: "SIGINT", afterMs: 20, does: "nothing more: npm passes Ctrl-C on", exits: [] },
  { first: "SIGTERM", second: "SIGHUP", afterMs: 5_000, does: "nothing more: no person asks", exits: [] },
  { first: "SIGINT", second: "SIGINT", afterMs: 500, does: "ends the process at once", exits: [130] },
  { first: "SIGHUP", second: "SIGTERM", afterMs: 5_000, does: "ends the process at once", exits: [130] },
])("$second $afterMs ms after $first does $does", ({ first, second, afterMs, exits }) => {
  const process = new FakeProcess();
  let elapsedMs = 7;
  stopSignals({ process, elapsedMs: () => elapsedMs });

  process.emit(first);
  elapsedMs += afterMs;
  process.emit(second);

  expect(process.exits).toEqual(exits);
});
