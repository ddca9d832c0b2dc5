// Warehouses in odd places: with linked folders, and where no warehouse can be.

import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, sync, writeCredentials } from "./command-line.ts";
import { readRows } from "./warehouse-reader.ts";

test("a warehouse whose folders are links can be written, read and queried", async () => {
  const cwd = await temporaryDirectory();
  const warehouse = join(cwd, "warehouse");
  await mkdir(warehouse);
  for (const folder of ["publications", "snapshots", "changes", "runs", "run-log", "accounts"]) {
    await mkdir(join(cwd, "disk", folder), { recursive: true });
    await symlink(join(cwd, "disk", folder), join(warehouse, folder));
  }
  await using simulator = await Simulator.start({ events: makeEvents(5) });
  await writeCredentials(cwd, simulator);

  await sync(["run", ...against(simulator)], { cwd });
  simulator.setEvents(makeEvents(6));
  const second = await sync(["run", "--json", ...against(simulator)], { cwd });
  const status = await sync(["status", "--account", "default", "--json"], { cwd });
  const sql =
    "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM publications), (SELECT count(*) FROM sync_runs)";
  const queried = await sync(["query", "--json", sql], { cwd });

  expect(lastJson(second)).toMatchObject({ outcome: "PUBLISHED", events: 6, added: 1 });
  expect(lastJson(status)).toMatchObject({ head: { publication: "0000000002" } });
  expect(lastJson(queried)["rows"]).toEqual([["6", "2", "2"]]);
  expect(await readRows(warehouse, sql)).toEqual([["6", "2", "2"]]);
});

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
