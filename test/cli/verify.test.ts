import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { livingLease } from "../job/run/living-lease.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, sync, writeCredentials } from "./command-line.ts";

async function publishedIn(cwd: string, simulator: Simulator): Promise<void> {
  await writeCredentials(cwd, simulator);
  const { exitCode } = await sync(["run", ...against(simulator)], { cwd });
  expect(exitCode).toBe(0);
}

test("verify says what is the same, changed and gone; status shows it, and readers see what they saw", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await publishedIn(cwd, simulator);
  const [changed, gone, forbidden] = simulator.listed();
  if (!changed || !gone || !forbidden) throw new Error("too few events");
  simulator.change(changed.uuid, { source: `{"uuid":"${changed.uuid}"}` });
  simulator.vanish(gone.uuid);
  simulator.restrict(forbidden.uuid);

  const shown = await sync(["verify", ...against(simulator)], { cwd });
  const json = await sync(["verify", "--json", ...against(simulator)], { cwd });
  const part = await sync(["verify", "--sample", "5", "--json", ...against(simulator)], { cwd });
  const status = await sync(["status"], { cwd });

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
  expect(await readdir(join(cwd, "warehouse/publications/default"))).toHaveLength(1);
});

test("verify that meets a living lease sends nothing and exits with 4", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await publishedIn(cwd, simulator);
  await writeFile(join(cwd, "warehouse/accounts/default/lease.json"), livingLease(Date.now()));
  simulator.reset();

  const { exitCode, ...ended } = await sync(["verify", "--json", ...against(simulator)], { cwd });

  expect(exitCode).toBe(4);
  const explanation = expect.stringMatching(/^The run run-1 works on this account; /);
  expect(lastJson({ exitCode, ...ended })).toEqual({
    outcome: "SKIPPED",
    reason: "LEASE_TAKEN",
    explanation,
  });
  expect(simulator.counts.requests).toBe(0);
});

test.each([
  { what: "nothing published", args: [], says: "Nothing is published for the account default yet" },
  {
    what: "a sample of none",
    args: ["--sample", "0"],
    says: "--sample: expected a whole number from 1 to 10000, and got 0",
  },
])("verify with $what exits with 2", async ({ args, says }) => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);
  await mkdir(join(cwd, "warehouse"));

  const { exitCode, stderr } = await sync(["verify", ...args, ...against(simulator)], { cwd });

  expect(exitCode).toBe(2);
  expect(stderr).toContain(says);
  expect(simulator.counts.requests).toBe(0);
});

test("verify that fails exits with 1, with the code of the error", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await publishedIn(cwd, simulator);
  simulator.configure({ account: { disabled: true } });
  simulator.endSessions();

  const failed = await sync(["verify", "--json", ...against(simulator)], { cwd });

  expect(failed.exitCode).toBe(1);
  expect(lastJson(failed)).toMatchObject({ outcome: "FAILED", error_code: "ACCOUNT_DISABLED" });
});

test("verify --all has each account verified", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);
  const credentials = "credentials.json";
  const accounts = { uk: { credentials }, us: { credentials } };
  const file = { baseUrl: simulator.url, accounts };
  await writeFile(join(cwd, "brand-events.json"), JSON.stringify(file));
  await sync(["run", "--all"], { cwd });

  const all = await sync(["verify", "--all", "--sample", "2", "--json"], { cwd });

  expect(all.exitCode).toBe(0);
  expect(lastJson(all)).toEqual({
    accounts: [
      { account: "uk", same: 2, changed: 0, gone: 0 },
      { account: "us", same: 2, changed: 0, gone: 0 },
    ],
  });
  const status = await sync(["status"], { cwd });
  expect(status.stdout).toMatch(/^us .* PUBLISHED *$/m);
  const [file0 = ""] = (await readdir(join(cwd, "warehouse/run-log/us"))).slice(-1);
  expect(await readFile(join(cwd, "warehouse/run-log/us", file0), "utf8")).toContain('"trigger":"verify"');
});
