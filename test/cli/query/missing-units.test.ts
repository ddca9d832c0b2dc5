// What a query says that its tables lack: the units behind the tables that it names, and nothing else.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { missingUnits } from "../../../bin/cli/query/missing-units.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { eventRow, warehouse } from "../warehouse.ts";

const ONE = "2026-11-21T06-00-00.000Z";
const TWO = "2026-11-22T06-00-00.000Z";

it.each([
  [["events"], ["snapshot 2026-11-22T06-00-00.000Z true"]],
  [["events_typed"], ["snapshot 2026-11-22T06-00-00.000Z true"]],
  [
    ["event_snapshots", "publications"],
    ["snapshot 2026-11-21T06-00-00.000Z false", "snapshot 2026-11-22T06-00-00.000Z true"],
  ],
  [["event_changes"], ["changes 2026-11-22T06-00-00.000Z false"]],
  [["event_history"], ["changes 2026-11-22T06-00-00.000Z false"]],
  [["publications", "sync_runs"], []],
  [["others"], []],
])("%j lack %j", async (tables, expected) => {
  const made = await warehouse();
  await made.snapshot("uk", ONE, [eventRow("a")]);
  await made.publish("uk", { snapshot_id: ONE, events: 1, added: 0 });
  await made.snapshot("uk", TWO, [eventRow("a"), eventRow("b")]);
  await made.publish("uk", { publication: "0000000002", snapshot_id: TWO, events: 2, added: 1 });
  await rm(join(made.directory, layout("uk").part(ONE, 0)));
  await rm(join(made.directory, layout("uk").part(TWO, 0)));
  const { accounts } = await made.views.read();

  const found = missingUnits(
    accounts,
    new Set(tables),
    new GivenOptions({ warehouse: made.directory }, {}, "/"),
  );

  expect(found.map(({ holds, snapshot_id, is_head }) => `${holds} ${snapshot_id} ${is_head}`)).toEqual(
    expected,
  );
});

it("says of changes from before the last restart that they count no more, and of later ones how to restart", async () => {
  const made = await warehouse();
  const ids = [ONE, TWO, "2026-11-23T06-00-00.000Z"];
  for (const [index, snapshotId] of ids.entries()) {
    await made.snapshot("uk", snapshotId, [eventRow("a")]);
    const publication = `000000000${index + 1}`;
    await made.publish("uk", {
      publication,
      snapshot_id: snapshotId,
      base_snapshot_id: null,
      events: 1,
      added: 1,
    });
  }
  const { accounts } = await made.views.read();
  const given = new GivenOptions({ warehouse: made.directory }, {}, "/");

  const found = missingUnits(accounts, new Set(["event_changes"]), given);

  expect(
    found.map(({ message }) => [message.includes("counts no more"), message.includes("--over-damaged")]),
  ).toEqual([
    [true, false],
    [true, false],
    [false, true],
  ]);
});
