import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeEvents } from "../simulator/simulated-event.ts";
import { laptop, lastJson, writeAccounts } from "./command-line.ts";

test("check says how many events there are and how long a run of them takes", async () => {
  await using world = await laptop({ events: makeEvents(40) });
  const limits = ["--requests-per-minute", "20", "--bytes-per-minute", "unlimited"];

  const { exitCode, stdout } = await world.command("check", "--base-url", world.simulator.url, ...limits);

  expect(stdout).toContain("ok      list  40 events, about 2 min\n");
  expect(exitCode).toBe(0);
});

test("verify says what is the same, changed and gone; status shows it, and readers see what they saw", async () => {
  await using world = await laptop();
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
  await using world = await laptop({ events: makeEvents(3) });
  await mkdir(world.warehouse);

  const { exitCode, stderr } = await world.ask("verify");

  expect(exitCode).toBe(2);
  expect(stderr).toContain("Nothing is published for the account default yet");
  expect(world.simulator.counts.requests).toBe(0);
});

test("verify --all has each account verified", async () => {
  await using world = await laptop({ events: makeEvents(3) });
  const { cwd, warehouse, simulator, command } = world;
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
