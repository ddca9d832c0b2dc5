import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { livingLease } from "../job/run/living-lease.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, sync, writeCredentials } from "./command-line.ts";

const LEASE = "warehouse/accounts/default/lease.json";

async function leased(cwd: string, content: string): Promise<void> {
  await mkdir(join(cwd, "warehouse/accounts/default"), { recursive: true });
  await writeFile(join(cwd, LEASE), content);
}

test("check and discover that meet a living lease send nothing and exit with 4", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);
  await leased(cwd, livingLease(Date.now()));

  const check = await sync(["check", "--json", ...against(simulator)], { cwd });
  const shown = await sync(["check", ...against(simulator)], { cwd });
  const discover = await sync(["discover", "--json", ...against(simulator)], { cwd });

  expect([check, shown, discover].map(({ exitCode }) => exitCode)).toEqual([4, 4, 4]);
  const explanation = expect.stringMatching(/^The run run-1 works on this account; its lease lasts until /);
  expect(lastJson(check)).toEqual({
    ok: false,
    checks: [
      { name: "credentials", ok: true, code: null, remedy: null },
      { name: "lease", ok: false, code: "LEASE_TAKEN", remedy: explanation },
      { name: "store", ok: true, code: null, remedy: null },
      { name: "catalog", ok: true, code: null, remedy: null },
      { name: "snapshot", ok: true, code: null, remedy: null },
    ],
  });
  expect(shown.stdout).toContain("FAILED  lease  LEASE_TAKEN: The run run-1 works on this account");
  expect(lastJson(discover)).toEqual({ outcome: "SKIPPED", reason: "LEASE_TAKEN", explanation });
  expect(discover.stderr).toMatch(/^SKIPPED: The run run-1 works on this account/m);
  expect(simulator.counts.requests).toBe(0);
});

test("run that meets the lease of an execution is skipped, and names it; status shows it", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start();
  await writeCredentials(cwd, simulator);
  const execution = "arn:aws:states:eu-west-1:123456789012:execution:Stack:default-20261121T060000000Z-1";
  const run_id = "2026-11-21T06-00-00.000Z";
  const renewed_at = "2026-11-21T06:10:00.000Z";
  await leased(
    cwd,
    JSON.stringify({
      ...{ run_id, holder: null, renewed_at, expires_at: null, execution },
      ...{ use: [], use_since: renewed_at },
    }),
  );

  const run = await sync(["run", "--json", ...against(simulator)], { cwd });
  const json = await sync(["status", "--account", "default", "--json"], { cwd });
  const shown = await sync(["status"], { cwd });

  expect(run.exitCode).toBe(4);
  expect(lastJson(run)).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
  expect(run.stderr + run.stdout).not.toContain("undefined");
  expect(lastJson(json)).toMatchObject({ lease: { run_id, expires_at: null, execution } });
  expect(shown.stdout).toContain(
    `  running      ${run_id}, in the execution default-20261121T060000000Z-1\n`,
  );
  expect(simulator.counts.requests).toBe(0);
});

test("check that meets a living lease exits with what is wrong besides", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start();
  await leased(cwd, livingLease(Date.now()));

  const { exitCode } = await sync(["check", ...against(simulator)], { cwd });

  expect(exitCode).toBe(2);
});

test("discover then run keep the limit together: run begins with what discover has left", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await writeCredentials(cwd, simulator);

  await sync(["discover", ...against(simulator)], { cwd });
  const { run_id, use } = JSON.parse(await readFile(join(cwd, LEASE), "utf8"));

  expect(run_id).toBeNull();
  const requests = use.reduce((sum: number, each: { requests: number }) => sum + each.requests, 0);
  expect(requests).toBe(simulator.counts.requests);
});

test("discover of more than 500 events exits with 2", async () => {
  const cwd = await temporaryDirectory();

  const { exitCode, stderr } = await sync(
    ["discover", "--limit", "501", "--base-url", "http://127.0.0.1:1"],
    { cwd },
  );

  expect(exitCode).toBe(2);
  expect(stderr).toContain("discover reads a sample of at most 500 events, and the limit is 501.");
});

test("a damaged lease stops neither status nor a run", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);
  await leased(cwd, '{"run_id":"2026-');

  const status = await sync(["status", "--account", "default", "--json"], { cwd });
  const run = await sync(["run", "--json", ...against(simulator)], { cwd });

  expect(lastJson(status)).toMatchObject({ lease: null });
  expect([status.exitCode, run.exitCode]).toEqual([0, 0]);
  expect(lastJson(run)).toMatchObject({ outcome: "PUBLISHED" });
  expect(run.stderr).toContain("accounts/default/lease.json is damaged; it is written again");
});
