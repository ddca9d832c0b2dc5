import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { isGone, stopSignals, thisProcess } from "../../../bin/cli/wiring/this-process.ts";
import type { Holder } from "../../../lambdas/job/run/lease/lease-file.ts";

const own = (changes: Partial<Holder> = {}): Holder => ({ token: "t", ...thisProcess(), ...changes });

/** The id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
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
