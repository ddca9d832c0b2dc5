// The project in examples/dbt works as it stands there: its model has the rows of `events`, whatever was published.

import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { DuckdbCatalog } from "../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { removeAccount } from "../../lambdas/job/commands/decisions.ts";
import { DirectoryStore } from "../../lambdas/job/storage/directory/directory-store.ts";
import { makeDatabase } from "../duckdb/database-file.ts";
import { PYTHON, runIn } from "../duckdb/duckdb-versions.ts";
import { SmallWorld } from "../job/run/small-world.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";

const DBT = fileURLToPath(new URL("../../.dbt/", import.meta.url));
const EXAMPLE = fileURLToPath(new URL("../../examples/dbt/", import.meta.url));
const isSkipped = !existsSync(join(DBT, "dbt")) && process.env["CI"] !== "true";
if (isSkipped) process.stderr.write("The test with dbt is skipped: npm run setup:dbt\n");

/** What dbt printed. It sends nothing. */
function dbt(cwd: string, ...args: readonly string[]): string {
  const env = { ...process.env, PYTHONPATH: DBT, DBT_SEND_ANONYMOUS_USAGE_STATS: "false" };
  const command = ["-c", "from dbt.cli.main import cli; cli()", "--no-use-colors", ...args];
  const { status, stdout, stderr } = spawnSync(PYTHON, command, { cwd, env, encoding: "utf8" });
  expect(status, stdout + stderr).toBe(0);
  return stdout;
}

/** The model after `dbt build`: how many rows of each publication. Fails unless it has the rows of `events`. */
function build(cwd: string): readonly string[] {
  makeDatabase(DBT, readFileSync(join(cwd, "warehouse/views.sql"), "utf8"), cwd);
  expect(dbt(cwd, "build")).toContain("PASS=1 WARN=0 ERROR=0 SKIP=0");

  const rows = "SELECT account, uuid, event FROM";
  const [, events, current, counts = []] = runIn(
    DBT,
    [
      "ATTACH 'brand-events.duckdb' AS brand_events (READ_ONLY)",
      `${rows} brand_events.events ORDER BY ALL`,
      `${rows} current_events WHERE NOT is_deleted ORDER BY ALL`,
      `SELECT account, publication::INTEGER, if(is_deleted, 'removed', 'live'), count(*)
       FROM current_events GROUP BY ALL ORDER BY ALL`,
    ],
    { cwd, database: "analytics.duckdb" },
  );
  expect(current).toEqual(events);
  return counts.map((row) => row.join(" "));
}

/** A project beside a warehouse of an account `uk`; `run` publishes what the world shows. */
async function project() {
  const cwd = await temporaryDirectory();
  const directory = join(cwd, "warehouse");
  const store = new DirectoryStore({ directory, random: { token: () => randomUUID() } });
  const ports = { store, catalog: new DuckdbCatalog({ store, directory }) };
  const world = new SmallWorld();
  const run = async (account: string): Promise<void> => {
    world.account = account;
    expect((await world.run({}, ports)).row.outcome).toBe("PUBLISHED");
  };
  cpSync(EXAMPLE, cwd, { recursive: true });
  return { cwd, directory, ports, world, run };
}

test.skipIf(isSkipped)("the model of examples/dbt follows events", { timeout: 300_000 }, async () => {
  const { cwd, ports, world, run } = await project();

  world.show(6);
  await run("de");
  await run("uk");
  expect(build(cwd)).toEqual(["de 1 live 6", "uk 1 live 6"]);

  // Two publications of uk, and one of de with a lower number: only what changed is written.
  world.events.set(1, 2).set(7, 1).delete(6);
  await run("uk");
  world.events.set(2, 2);
  await run("uk");
  await run("de");
  const de = ["de 1 live 3", "de 2 live 3", "de 2 removed 1"];
  expect(build(cwd)).toEqual([...de, "uk 1 live 3", "uk 2 live 2", "uk 2 removed 1", "uk 3 live 1"]);

  world.account = "uk";
  expect(await removeAccount(world.ports(ports))).toBe("removed");
  expect(build(cwd)).toEqual([...de, "uk 3 removed 7"]);

  // Its numbers go on: the account begins again from its events. Those of de are still lower.
  world.events.set(3, 2);
  await run("uk");
  await run("de");
  expect(build(cwd)).toEqual([
    ...["de 1 live 2", "de 2 live 3", "de 2 removed 1", "de 3 live 1"],
    ...["uk 5 live 6", "uk 5 removed 1"],
  ]);

  expect(dbt(cwd, "source", "freshness")).toContain("WARN freshness of brand_events.publications");
});

test.skipIf(isSkipped)("it begins again where the warehouse was restored", { timeout: 300_000 }, async () => {
  const { cwd, directory, world, run } = await project();
  const backup = join(cwd, "backup");
  const restore = (): void => {
    rmSync(directory, { recursive: true });
    cpSync(backup, directory, { recursive: true });
  };
  world.show(6);
  await run("uk");
  await run("de");
  cpSync(directory, backup, { recursive: true });
  world.show(6, 2);
  await run("uk");
  expect(build(cwd)).toEqual(["de 1 live 6", "uk 2 live 6"]);

  // The restored log has no publication of the number that was applied.
  restore();
  expect(build(cwd)).toEqual(["de 1 live 6", "uk 1 live 6"]);

  // The restored log has another publication of that number.
  world.show(6, 3);
  await run("uk");
  expect(build(cwd)).toEqual(["de 1 live 6", "uk 2 live 6"]);
  restore();
  world.show(5, 4);
  await run("uk");
  await run("uk");
  expect(build(cwd)).toEqual(["de 1 live 6", "uk 3 live 5", "uk 3 removed 1"]);
});
