import { spawn } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { isGone, thisProcess } from "../../../bin/cli/wiring/this-process.ts";
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
