// Odd warehouses: with links and fifos, and where no warehouse can be.

import { cp, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFifo, temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, sync, writeCredentials } from "./command-line.ts";

/** A warehouse with the accounts de and uk, and a service for more runs. */
async function twoAccounts() {
  const cwd = await temporaryDirectory();
  const simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);
  const run = (account: string) =>
    sync(["run", "--account", account, "--json", ...against(simulator)], { cwd });
  for (const account of ["de", "uk"]) await run(account);
  const warehouse = join(cwd, "warehouse");
  return { cwd, warehouse, run, [Symbol.asyncDispose]: () => simulator[Symbol.asyncDispose]() };
}

test.skipIf(process.platform === "win32").each([".lock", "columns.json"])(
  "a fifo in the place of %s ends a run and a query, which say so",
  async (name) => {
    await using world = await twoAccounts();
    const { cwd, warehouse } = world;
    await rm(join(warehouse, name));
    makeFifo(join(warehouse, name));

    const run = await world.run("uk");
    const queried = await sync(["query", "SELECT count(*) FROM events"], { cwd });

    const said = `Cannot use ${join(warehouse, name)}: it is neither a folder nor a file`;
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toContain(said);
    // A query takes no lock.
    expect(queried.exitCode).toBe(name === ".lock" ? 0 : 1);
    if (name !== ".lock") expect(queried.stderr).toContain(said);
  },
);

test.each(["inside", "outside"])(
  "a link in the place of an account's folder is that account's damage, and stops no other: $0",
  async (where) => {
    await using world = await twoAccounts();
    const { cwd, warehouse } = world;
    const link = join(warehouse, "publications", "latest");
    const own = join(warehouse, "publications", "uk");
    const elsewhere = join(cwd, "elsewhere");
    await cp(own, elsewhere, { recursive: true });
    await symlink(where === "inside" ? own : elsewhere, link);

    const run = await world.run("uk");
    const asked = await world.run("latest");
    const status = await sync(["status", "--json"], { cwd });
    const queried = await sync(["query", "--json", "SELECT DISTINCT account FROM publications ORDER BY 1"], {
      cwd,
    });

    const said = `Cannot use ${link}: it is neither a folder nor a file`;
    expect([run.exitCode, asked.exitCode]).toEqual([0, 1]);
    expect(run.stderr).toContain(
      `warning: the account latest cannot be read, and its tables stay as they were: ${said}`,
    );
    expect(lastJson(asked)).toMatchObject({
      error_code: "STORE_CORRUPT",
      error_message: expect.stringContaining(said),
    });
    expect(lastJson(status)["accounts"]).toMatchObject([
      { account: "de", head: { publication: "0000000001" } },
      { account: "latest" },
      { account: "uk", head: { publication: "0000000002" } },
    ]);
    expect(lastJson(queried)["rows"]).toEqual([["de"], ["uk"]]);
  },
);

test.runIf(process.platform === "linux").each([
  { warehouse: "/proc/x", says: "the file system accepts no new directory there" },
  { warehouse: "/proc/x/y/z", says: "the file system accepts no new directory there" },
  { warehouse: "/dev/null", says: "a file is where a directory should be" },
  { warehouse: "/dev/null/x", says: "a file is where a directory should be" },
  { warehouse: "/sys/x", says: "--warehouse" },
  { warehouse: "file", says: "a file is where a directory should be" },
])("a run with the warehouse $warehouse ends and says why", async ({ warehouse, says }) => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "file"), "");
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);

  const ended = await sync(["run", ...against(simulator), "--warehouse", warehouse], { cwd });

  expect(ended.exitCode).toBe(1);
  expect(ended.stderr).toMatch(/^STORE_FAILED: Could not /m);
  expect(ended.stderr).toContain(says);
  expect(simulator.counts.logins).toBe(0);
});
