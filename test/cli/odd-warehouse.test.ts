// Odd warehouses: with links and fifos, where no warehouse can be, and copied elsewhere, where `views` writes `views.sql` again.

import { access, chmod, cp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFifo } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { laptop, lastJson, sync } from "./command-line.ts";
import { eventRow, readRows, warehouse } from "./warehouse.ts";

/** A warehouse with the accounts de and uk, and a service for more runs. */
async function twoAccounts() {
  const world = await laptop({ events: makeEvents(3) });
  const run = (account: string) => world.ask("run", "--account", account, "--json");
  for (const account of ["de", "uk"]) await run(account);
  return { ...world, run };
}

test.skipIf(process.platform === "win32")(
  "a fifo in the place of the lock ends a run, which says so, and no query, which takes no lock",
  async () => {
    const world = await twoAccounts();
    const lock = join(world.warehouse, ".lock");
    await rm(lock);
    makeFifo(lock);

    const run = await world.run("uk");
    const queried = await world.command("query", "SELECT count(*) FROM events");

    expect([run.exitCode, queried.exitCode]).toEqual([1, 0]);
    expect(run.stderr).toContain(`Cannot use ${lock}: it is neither a folder nor a file`);
  },
);

test.each(["inside", "outside"])(
  "a link in the place of an account's folder is that account's damage, and stops no other: $0",
  async (where) => {
    const world = await twoAccounts();
    const { cwd, warehouse, command } = world;
    const link = join(warehouse, "publications", "latest");
    const own = join(warehouse, "publications", "uk");
    const elsewhere = join(cwd, "elsewhere");
    await cp(own, elsewhere, { recursive: true });
    await symlink(where === "inside" ? own : elsewhere, link);

    const run = await world.run("uk");
    const asked = await world.run("latest");
    const status = await command("status", "--json");
    const queried = await command("query", "--json", "SELECT DISTINCT account FROM publications ORDER BY 1");

    const said = `Cannot use ${link}: it is neither a folder nor a file`;
    expect([run.exitCode, asked.exitCode]).toEqual([0, 1]);
    expect(run.stderr).toContain(
      `warning: the account latest cannot be read, and its tables show nothing new: ${said}`,
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

test.each(["inside", "outside"])(
  "a link in the place of an account's run log is that account's damage, and every other one has its rows: $0",
  async (where) => {
    const world = await twoAccounts();
    const { cwd, warehouse, command } = world;
    const link = join(warehouse, "run-log", "de");
    const elsewhere = join(cwd, "elsewhere");
    await rename(link, elsewhere);
    await symlink(where === "inside" ? join(warehouse, "run-log", "uk") : elsewhere, link);

    const run = await world.run("uk");
    const asked = await world.run("de");
    const accounts = (table: string) =>
      command("query", "--json", `SELECT DISTINCT account FROM ${table} ORDER BY 1`);
    const [runs, publications] = [await accounts("sync_runs"), await accounts("publications")];

    const said = `Cannot use ${link}: it is neither a folder nor a file`;
    expect([run.exitCode, asked.exitCode]).toEqual([0, 1]);
    expect(lastJson(asked)["error_message"]).toContain(said);
    expect(lastJson(runs)["rows"]).toEqual([["uk"]]);
    expect(runs.stderr).toContain(said);
    expect(lastJson(publications)["rows"]).toEqual([["de"], ["uk"]]);
  },
);

/** In a folder of each account a link in the place of a file, or of a folder, so that it cannot be listed. */
const UNREADABLE = {
  log: "publications/log/0000000009.ndjson",
  parts: "snapshots/parts/2026-11-21T06-00-00.000Z",
  runs: "run-log/runs/2026-11-21T06-00-00.000Z-1.ndjson",
  lease: "accounts/lease/lease.json",
} as const;

test.skipIf(process.platform === "win32")(
  "an account of which a folder cannot be read stops no other one",
  async () => {
    const world = await laptop({ events: makeEvents(3) });
    const run = (account: string) => world.ask("run", "--account", account, "--json");
    for (const account of [...Object.keys(UNREADABLE), "uk"]) await run(account);
    for (const name of Object.values(UNREADABLE)) {
      const path = join(world.warehouse, name);
      await rm(path, { force: true });
      await symlink("nowhere", path);
    }

    const [ran, asked] = [await run("uk"), await run("log")];
    const views = await world.command("views");
    const status = await world.command("status", "--json");
    const accounts = async (table: string) =>
      world.command("query", "--json", `SELECT DISTINCT account FROM ${table} ORDER BY 1`);
    const [events, publications] = [await accounts("events"), await accounts("publications")];

    const warned = (account: string) =>
      `warning: the account ${account} cannot be read, and its tables show nothing new: `;
    expect([ran.exitCode, lastJson(asked)["error_code"]]).toEqual([0, "STORE_FAILED"]);
    // A run looks at its own account.
    expect(ran.stderr).not.toContain("cannot be read");
    expect(views.stderr).toContain(warned("log"));
    expect(views.stderr).toContain(warned("parts"));
    expect(status.exitCode).toBe(1);
    expect(lastJson(status)["accounts"]).toMatchObject([
      { account: "lease", error_code: "STORE_FAILED" },
      { account: "log", error_code: "STORE_FAILED" },
      { account: "parts", error_code: "STORE_FAILED" },
      { account: "runs", error_code: "STORE_FAILED" },
      { account: "uk", head: { publication: "0000000002" } },
    ]);
    expect([events.exitCode, lastJson(events)["rows"]]).toEqual([1, [["lease"], ["log"], ["runs"], ["uk"]]]);
    expect(events.stderr).toContain(join(world.warehouse, UNREADABLE.parts));
    // Nor are the publications of an account shown without its events and changes.
    expect([publications.exitCode, lastJson(publications)["rows"]]).toEqual([
      1,
      [["lease"], ["runs"], ["uk"]],
    ]);
  },
);

test.skipIf(process.platform === "win32" || process.getuid?.() === 0).each(["publications", "run-log"])(
  "an account whose folder in %s this user may not list stops no other one",
  async (name) => {
    const world = await twoAccounts();
    const folder = join(world.warehouse, name, "de");
    await chmod(folder, 0);
    onTestFinished(() => chmod(folder, 0o700));

    const run = await world.run("uk");
    const status = await world.command("status", "--json");
    const queried = await world.command("query", "--json", "SELECT DISTINCT account FROM events ORDER BY 1");
    const runs = await world.command("query", "--json", "SELECT DISTINCT account FROM sync_runs ORDER BY 1");

    expect(run.exitCode).toBe(0);
    expect(lastJson(status)["accounts"]).toMatchObject([
      {
        account: "de",
        error_code: "STORE_FAILED",
        error_message: expect.stringContaining("lacks the permission"),
      },
      { account: "uk", head: { publication: "0000000002" } },
    ]);
    expect([queried.exitCode, lastJson(queried)["rows"]]).toEqual([0, [["de"], ["uk"]]]);
    expect(lastJson(runs)["rows"]).toEqual(name === "run-log" ? [["uk"]] : [["de"], ["uk"]]);
    expect(runs.stderr).toContain("warning: the account de cannot be read");
  },
);

// Each error of the file system has its words in `test/job/storage/directory/file-error.test.ts`.
test.runIf(process.platform === "linux").each([
  { warehouse: "/proc/x", says: "the file system accepts no new directory there" },
  { warehouse: "/dev/null/x", says: "a file is where a directory should be" },
  { warehouse: "credentials.json", says: "a file is where a directory should be" },
])("a run with the warehouse $warehouse ends and says why", async ({ warehouse, says }) => {
  const world = await laptop({ events: makeEvents(3) });

  const ended = await world.ask("run", "--warehouse", warehouse);

  expect(ended.exitCode).toBe(1);
  expect(ended.stderr).toMatch(/^STORE_FAILED: Could not /m);
  expect(ended.stderr).toContain(says);
  expect(world.simulator.counts.logins).toBe(0);
});

const ONE = "2026-11-21T06-00-00.000Z";

/** The accounts uk and us in a folder that was copied to `copy`, and is gone. */
async function copied(): Promise<string> {
  const made = await warehouse();
  for (const account of ["uk", "us"]) {
    await made.snapshot(account, ONE, [eventRow(account)]);
    await made.publish(account, { snapshot_id: ONE, events: 1, added: 0 });
  }
  await made.views.refresh("uk");
  const cwd = join(made.directory, "..");
  await cp(made.directory, join(cwd, "copy"), { recursive: true });
  await rm(made.directory, { recursive: true });
  return cwd;
}

test("views makes a copied folder readable, and says where", async () => {
  const cwd = await copied();

  const { exitCode, stdout, stderr } = await sync(["views", "--warehouse", "copy", "--json"], { cwd });

  expect([exitCode, JSON.parse(stdout), stderr]).toEqual([0, { file: join(cwd, "copy", "views.sql") }, ""]);
  expect(await readRows(join(cwd, "copy"), "SELECT uuid FROM events ORDER BY uuid")).toEqual([
    ["uk"],
    ["us"],
  ]);
});

test("an account that is damaged is named, and the others are readable", async () => {
  const cwd = await copied();
  await writeFile(join(cwd, "copy", "publications", "uk", "0000000001.ndjson"), "{");

  const { exitCode, stderr } = await sync(["views", "--warehouse", "copy"], { cwd });

  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("the account uk cannot be read")]);
  expect(await readRows(join(cwd, "copy"), "SELECT uuid FROM events WHERE account = 'us'")).toEqual([["us"]]);
});

test.each(["nowhere", "s3://bucket"])("views makes no warehouse: %s", async (place) => {
  const cwd = await copied();

  expect((await sync(["views", "--warehouse", place], { cwd })).exitCode).toBe(2);
  await expect(access(join(cwd, "nowhere"))).rejects.toThrow();
});
