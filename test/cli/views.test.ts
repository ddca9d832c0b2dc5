// A folder that was copied works elsewhere: `views` writes `views.sql` again, offline and for every account that can be read.

import { access, cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sync } from "./command-line.ts";
import { eventRow, warehouse } from "./warehouse.ts";
import { readRows } from "./warehouse-reader.ts";

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
