// Which files a query opens, as DuckDB counts them: those of its tables, and of these what its conditions in literals leave.

import { expect, it } from "vitest";
import { query } from "../../../bin/cli/query/query.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { fillWarehouse } from "../../job/run/old-warehouse.ts";
import { HOUR_MS } from "../../job/run/small-world.ts";
import { type Warehouse, warehouse } from "../warehouse.ts";

const PUBLICATIONS = 8;
const EACH = 2 * PUBLICATIONS;

/** Two accounts of so many publications, one an hour. */
async function oldWarehouse(): Promise<Warehouse> {
  const made = await warehouse();
  const age = { publications: PUBLICATIONS, stepMs: HOUR_MS, endMs: Date.UTC(2026, 0, 2) };
  for (const account of ["de", "uk"]) await fillWarehouse(accountStore(made.store, account), age);
  await made.views.refresh();
  return made;
}

/** How many files DuckDB opens, and how many the lists of the query's tables name. */
async function filesOf(
  old: Warehouse,
  sql: string,
): Promise<{ readonly opened: number; readonly listed: number }> {
  let listed = 0;
  const views = {
    directory: old.directory,
    read: async (tables?: ReadonlySet<string>) => {
      const made = await old.views.read(tables);
      // Each pattern of a list names the files of one folder, of which there is one here.
      listed = made.sql.match(/^ {2}'.*part-.*'/gm)?.length ?? 0;
      return made;
    },
  };
  const { rows } = await query(views, `EXPLAIN ANALYZE ${sql}`);
  const counts = [
    ...rows
      .flat()
      .join("\n")
      .matchAll(/Total Files Read: (\d+)/g),
  ];
  expect(counts).not.toEqual([]);
  return { opened: counts.reduce((sum, [, count]) => sum + Number(count), 0), listed };
}

it.each([
  ["what readers see", "FROM events", 2, 2],
  ["what readers see of an account", "FROM events WHERE account = 'uk'", 1, 2],
  ["all changes", "FROM event_changes", EACH, EACH],
  ["the newest changes", "FROM event_changes WHERE publication > '0000000005'", 6, EACH],
  [
    "the newest changes of an account",
    "FROM event_changes WHERE account = 'uk' AND publication > '0000000005'",
    3,
    EACH,
  ],
  ["one snapshot", "FROM event_snapshots WHERE snapshot_id = '2026-01-01T20-00-00.000Z'", 2, EACH],
  ["all publications", "FROM publications", EACH, 0],
  ["the attempts", "FROM sync_runs", EACH, 0],
])("a query of %s opens the files of these only", async (_, sql, opened, listed) => {
  expect(await filesOf(await oldWarehouse(), sql)).toEqual({ opened, listed });
});
