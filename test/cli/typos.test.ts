// Typing errors in the place of a warehouse or the name of an account are refused: they must not look like empty data.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { laptop, lastJson, sync } from "./command-line.ts";
import { Warehouse } from "./warehouse.ts";

const RUN = "2026-01-01T00-00-00.000Z";

test.each([
  ["accept", RUN],
  ["rollback", RUN],
  ["retire", RUN],
  ["remove", "uk", "--yes"],
  ["diff", "held"],
  ["status"],
  ["report"],
  ["query", "SELECT 1"],
  ["columns"],
  ["views"],
])("%s makes no warehouse, and says where there is none", async (...args) => {
  const cwd = await temporaryDirectory();

  const ended = await sync([...args, "--warehouse", "./wharehouse"], { cwd });

  expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
  expect(ended.stderr).toContain(`There is no warehouse at ${join(cwd, "wharehouse")}. Check --warehouse`);
  expect(await readdir(cwd)).toEqual([]);
});

test("the line of JSON says it as well; of one account status shows that it has nothing", async () => {
  const cwd = await temporaryDirectory();

  const all = await sync(["status", "--json", "--max-age", "1"], { cwd });
  const one = await sync(["status", "--json"], { cwd, env: { BRAND_ACCOUNT: "uk" } });

  expect(lastJson(all)).toEqual({
    error_code: "CONFIG_INVALID",
    error_message: expect.stringContaining("There is no warehouse at"),
  });
  expect(lastJson(one)).toEqual({ account: "uk", head: null, lease: null, held: [], runs: [] });
});

test.each([
  ["status", "--account", "nosuch"],
  ["diff", "held", "--account", "nosuch"],
  ["report", "--account", "nosuch"],
  ["remove", "nosuch", "--yes"],
])("%s %s of an account that does not exist exits with 2 and lists those that do", async (...args) => {
  const cwd = await temporaryDirectory();
  const warehouse = new Warehouse(join(cwd, "warehouse"));
  for (const account of ["uk", "de", "de-2"]) await warehouse.publish(account, {});

  const ended = await sync(args, { cwd });

  expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
  expect(ended.stderr).toContain("The warehouse has no account nosuch. Its accounts are: de, de-2, uk.");
});

test("a base URL with a pasted endpoint works", async () => {
  await using world = await laptop({ events: makeEvents(3) });

  const ended = await world.command("check", "--base-url", `${world.simulator.url}/v1/events`);

  expect(ended.exitCode).toBe(0);
});
