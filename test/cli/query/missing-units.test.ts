// What a query says that its tables lack: the units behind the tables that it names, and nothing else; and what helps.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { missingUnits } from "../../../bin/cli/query/missing-units.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { eventRow, warehouse } from "../warehouse.ts";

const ONE = "2026-11-21T06-00-00.000Z";
const TWO = "2026-11-22T06-00-00.000Z";
const THREE = "2026-11-23T06-00-00.000Z";

type Warehouse = Awaited<ReturnType<typeof warehouse>>;

/** Whether it is the head, and what helps. */
async function missing(
  { directory, views }: Warehouse,
  tables: readonly string[],
): Promise<readonly string[]> {
  const { accounts } = await views.read();
  const found = missingUnits(accounts, new Set(tables), new GivenOptions({ warehouse: directory }, {}, "/"));
  return found.map(({ holds, snapshot_id, is_head, message }) => {
    const [remedy] = /retire \S+|--over-damaged|counts no more/.exec(message) ?? [];
    return `${holds} ${snapshot_id} ${is_head}: ${remedy}`;
  });
}

it.each([
  [["events"], [`snapshot ${TWO} true: --over-damaged`]],
  [["events_typed"], [`snapshot ${TWO} true: --over-damaged`]],
  [
    ["event_snapshots", "publications"],
    [`snapshot ${ONE} false: retire ${ONE}`, `snapshot ${TWO} true: --over-damaged`],
  ],
  [["event_changes"], [`changes ${TWO} false: --over-damaged`]],
  [["event_history"], [`changes ${TWO} false: --over-damaged`]],
  [["publications", "sync_runs"], []],
  [["others"], []],
])("%j lack %j", async (tables, expected) => {
  const made = await warehouse();
  await made.snapshot("uk", ONE, [eventRow("a")]);
  await made.publish("uk", { snapshot_id: ONE, events: 1, added: 0 });
  await made.snapshot("uk", TWO, [eventRow("a"), eventRow("b")]);
  await made.publish("uk", {
    publication: "0000000002",
    snapshot_id: TWO,
    base_snapshot_id: ONE,
    events: 2,
    added: 1,
  });
  await rm(join(made.directory, layout("uk").part(ONE, 0)));
  await rm(join(made.directory, layout("uk").part(TWO, 0)));

  expect(await missing(made, tables)).toEqual(expected);
});

it("changes from before the last restart count no more", async () => {
  const made = await warehouse();
  for (const [index, snapshot_id] of [ONE, TWO, THREE].entries()) {
    await made.snapshot("uk", snapshot_id, [eventRow("a")]);
    await made.publish("uk", {
      publication: `000000000${index + 1}`,
      snapshot_id,
      base_snapshot_id: null,
      events: 1,
      added: 1,
    });
  }

  expect(await missing(made, ["event_changes"])).toEqual([
    `changes ${ONE} false: counts no more`,
    `changes ${TWO} false: counts no more`,
    `changes ${THREE} false: --over-damaged`,
  ]);
});
