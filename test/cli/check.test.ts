// `check` and `discover`: what they say, and that they send nothing while another process has the lease.

import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { livingLease } from "../job/run/lease/lease-world.ts";
import { rawServer } from "../job/service/http/local-server.ts";
import { ManualClock } from "../simulator/manual-clock.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { type Laptop, laptop, lastJson, stoppedAt, sync } from "./command-line.ts";

test("check says how many events there are and how long a run of them takes", async () => {
  const world = await laptop({ events: makeEvents(40) });
  const limits = ["--requests-per-minute", "20", "--bytes-per-minute", "unlimited"];

  const { exitCode, stdout } = await world.command("check", "--base-url", world.simulator.url, ...limits);

  expect(stdout).toContain("ok      list  40 events, about 2 min\n");
  expect(exitCode).toBe(0);
});

test("what a run of a list that is not whole says, check does: it says what it tried, and not to run check", async () => {
  const world = await laptop({
    events: makeEvents(10),
    list: { pageSize: 4, next: "none", members: { top: () => `"has_more":true` } },
  });

  const run = await world.ask("run");
  const check = await world.ask("check");

  expect(run.stderr).toMatch(/Check: `.* check .*` tries what asks for the next page/);
  expect(check.stdout).toMatch(
    /FAILED {2}list {2}LIST_INCOMPLETE: .* A partial snapshot is never published\. If no page/,
  );
  expect(check.stdout).not.toContain("Check: `");
});

test("check names a server that takes the connection and does not answer, within two seconds", async () => {
  const world = await laptop();
  const clock = new ManualClock(Date.now());
  await using silent = await rawServer(() => clock.advance(1_500));
  const options = { cwd: world.cwd, clock, ...stoppedAt("no answer") };

  const { stderr } = await sync(["check", "--base-url", silent.url], options);

  expect(stderr).toContain(`no answer yet from ${silent.url}\n`);
});

async function leased({ warehouse }: Laptop, content: string): Promise<void> {
  const file = join(warehouse, "accounts/default/lease.json");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

test("check and discover exit with 4", async () => {
  const world = await laptop({ events: makeEvents(3) });
  const { ask, simulator, snapshot } = world;
  await snapshot();
  await leased(world, livingLease(Date.now()));
  simulator.reset();

  const check = await ask("check", "--json");
  const shown = await ask("check");
  const discover = await ask("discover", "--json");

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
    doubt: null,
  });
  expect(shown.stdout).toContain("FAILED  lease  LEASE_TAKEN: The run run-1 works on this account");
  expect(lastJson(discover)).toEqual({ outcome: "SKIPPED", reason: "LEASE_TAKEN", explanation });
  expect(discover.stderr).toMatch(/^SKIPPED: The run run-1 works on this account/m);
  expect(simulator.counts.requests).toBe(0);
});

test.skipIf(process.platform === "win32")(
  "check exits with 1 where a link is in the place of the lease",
  async () => {
    const world = await laptop({ events: makeEvents(3) });
    await world.snapshot();
    const lease = join(world.warehouse, "accounts/default/lease.json");
    await rm(lease, { force: true });
    await symlink("elsewhere.json", lease);

    const { exitCode, stdout } = await world.ask("check");
    const run = await world.ask("run");

    expect([exitCode, run.exitCode]).toEqual([1, 1]);
    const [, said = ""] = /^FAILED {2}lease {2}(STORE_FAILED: .*)$/m.exec(stdout) ?? [];
    expect(run.stderr).toContain(said);
    expect(said).toContain("lease.json");
  },
);

test("check exits with what is wrong besides", async () => {
  const world = await laptop();
  await leased(world, livingLease(Date.now()));

  expect((await world.ask("check", "--credentials", "none.json")).exitCode).toBe(2);
});

test("run deletes what is too old, but not beside the process that has the lease", async () => {
  const world = await laptop({ events: makeEvents(3) });
  const old = join(world.warehouse, "runs/default/2020-01-01T00-00-00.000Z");
  await mkdir(old, { recursive: true });
  await writeFile(join(old, "outcome.json"), "");
  await leased(world, livingLease(Date.now()));

  const beside = await world.ask("run", "--fresh");
  const after = await readdir(old);
  await rm(join(world.warehouse, "accounts"), { recursive: true });
  const alone = await world.ask("run", "--fresh");

  expect([beside, alone].map(({ exitCode }) => exitCode)).toEqual([4, 0]);
  expect(after).toEqual(["outcome.json"]);
  await expect(readdir(old)).rejects.toThrow("ENOENT");
});

test("run that meets the lease of an execution is skipped, and names it; status shows it", async () => {
  const world = await laptop();
  const execution = "arn:aws:states:eu-west-1:123456789012:execution:Stack:default-20261121T060000000Z-1";
  const run_id = "2026-11-21T06-00-00.000Z";
  const renewed_at = "2026-11-21T06:10:00.000Z";
  const lease = { run_id, holder: null, renewed_at, expires_at: null, execution };
  await leased(world, JSON.stringify({ ...lease, use: [], use_since: renewed_at }));

  const run = await world.ask("run", "--fresh", "--json");
  const json = await world.command("status", "--account", "default", "--json");
  const shown = await world.command("status");

  expect(run.exitCode).toBe(4);
  expect(lastJson(run)).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
  expect(run.stderr + run.stdout).not.toContain("undefined");
  expect(lastJson(json)).toMatchObject({ lease: { run_id, expires_at: null, execution } });
  expect(shown.stdout).toContain(
    `  running      ${run_id}, in the execution default-20261121T060000000Z-1\n`,
  );
  expect(world.simulator.counts.requests).toBe(0);
});

test("a damaged lease stops no status", async () => {
  const world = await laptop();
  await leased(world, '{"run_id":"2026-');

  const status = await world.command("status", "--account", "default", "--json");

  expect(status.exitCode).toBe(0);
  expect(lastJson(status)).toMatchObject({ lease: null });
});
