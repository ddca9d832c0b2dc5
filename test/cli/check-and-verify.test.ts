// `check`, `verify` and `discover`: what they say, and that they send nothing while another process has the lease.

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { livingLease } from "../job/run/lease/lease-world.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { type Laptop, laptop, lastJson, writeAccounts } from "./command-line.ts";

test("check says how many events there are and how long a run of them takes", async () => {
  const world = await laptop({ events: makeEvents(40) });
  const limits = ["--requests-per-minute", "20", "--bytes-per-minute", "unlimited"];

  const { exitCode, stdout } = await world.command("check", "--base-url", world.simulator.url, ...limits);

  expect(stdout).toContain("ok      list  40 events, about 2 min\n");
  expect(exitCode).toBe(0);
});

test("verify says what is the same, changed and gone; status shows it, and readers see what they saw", async () => {
  const world = await laptop();
  const { simulator, command, ask, snapshot } = world;
  await snapshot(12);
  const [changed, gone, forbidden] = simulator.listed();
  if (!changed || !gone || !forbidden) throw new Error("too few events");
  simulator.change(changed.uuid, { source: `{"uuid":"${changed.uuid}"}` });
  simulator.vanish(gone.uuid);
  simulator.restrict(forbidden.uuid);

  const shown = await ask("verify");
  const json = await ask("verify", "--json");
  const part = await ask("verify", "--sample", "5", "--json");
  const status = await command("status");

  expect(shown.exitCode).toBe(0);
  expect(shown.stdout.split("\n")).toEqual([
    expect.stringMatching(
      /^all events of the 12 events that readers see \(snapshot \S+Z, \d+ s ago\), fetched again$/,
    ),
    "  9 same, 1 changed since, 2 gone (1 forbidden)",
    `  changed    ${changed.uuid}`,
    `  gone       ${gone.uuid}`,
    `  forbidden  ${forbidden.uuid}`,
    "  The next run brings what the service has now.",
    "",
  ]);
  expect(lastJson(json)).toEqual({ same: 9, changed: 1, gone: 2 });
  expect(part.exitCode).toBe(0);
  const counts = Object.values(lastJson(part)).map(Number);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5);
  expect(status.stdout).toMatch(/DRY_RUN +\d+ s +10 events by verify$/m);
  expect(status.stdout).toContain("readers see  12 events");
  expect(await readdir(join(world.warehouse, "publications/default"))).toHaveLength(1);
});

test("verify with nothing published exits with 2, and sends nothing", async () => {
  const world = await laptop({ events: makeEvents(3) });
  await mkdir(world.warehouse);

  const { exitCode, stderr } = await world.ask("verify");

  expect(exitCode).toBe(2);
  expect(stderr).toContain("Nothing is published for the account default yet");
  expect(world.simulator.counts.requests).toBe(0);
});

test("verify --all has each account verified", async () => {
  const { cwd, warehouse, simulator, command } = await laptop({ events: makeEvents(3) });
  const credentials = { method: "session", ...simulator.credentials };
  await writeAccounts(cwd, { uk: credentials, us: credentials }, { baseUrl: simulator.url });
  await command("run", "--all");

  const all = await command("verify", "--all", "--sample", "2", "--json");

  expect(all.exitCode).toBe(0);
  expect(lastJson(all)).toEqual({
    accounts: [
      { account: "uk", same: 2, changed: 0, gone: 0 },
      { account: "us", same: 2, changed: 0, gone: 0 },
    ],
  });
  const status = await command("status");
  expect(status.stdout).toMatch(/^us .* PUBLISHED *$/m);
  const [verified = ""] = (await readdir(join(warehouse, "run-log/us"))).slice(-1);
  expect(await readFile(join(warehouse, "run-log/us", verified), "utf8")).toContain('"trigger":"verify"');
});

async function leased({ warehouse }: Laptop, content: string): Promise<void> {
  const file = join(warehouse, "accounts/default/lease.json");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

test("check, discover and verify exit with 4", async () => {
  const world = await laptop({ events: makeEvents(3) });
  const { ask, simulator, snapshot } = world;
  await snapshot();
  await leased(world, livingLease(Date.now()));
  simulator.reset();

  const check = await ask("check", "--json");
  const shown = await ask("check");
  const discover = await ask("discover", "--json");
  const verify = await ask("verify", "--json");

  expect([check, shown, discover, verify].map(({ exitCode }) => exitCode)).toEqual([4, 4, 4, 4]);
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
  for (const ended of [discover, verify])
    expect(lastJson(ended)).toEqual({ outcome: "SKIPPED", reason: "LEASE_TAKEN", explanation });
  expect(discover.stderr).toMatch(/^SKIPPED: The run run-1 works on this account/m);
  expect(simulator.counts.requests).toBe(0);
});

test("check exits with what is wrong besides", async () => {
  const world = await laptop();
  await leased(world, livingLease(Date.now()));

  expect((await world.ask("check", "--credentials", "none.json")).exitCode).toBe(2);
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
