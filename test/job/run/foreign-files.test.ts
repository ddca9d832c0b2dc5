// Files that are none of the warehouse's: a copy that a person or a program has left there changes nothing.

import { expect, test } from "vitest";
import { status } from "../../../lambdas/job/commands/status.ts";
import { attemptsOf } from "../../../lambdas/job/run/record/run-log.ts";
import { accountsIn, knownAccounts } from "../../../lambdas/job/storage/known-accounts.ts";
import { ACCOUNT, DAY_MS, SmallWorld } from "./small-world.ts";

test("runs, retention and status go by them", async () => {
  const world = new SmallWorld();
  const first = await world.publish(6, 1);
  const foreign = [
    "accounts/README.txt",
    "accounts/a copy (1)/lease.json",
    `accounts/${ACCOUNT}/lease (1).json`,
    "publications/notes.txt",
    "publications/UK/0000000001.ndjson",
    `publications/${ACCOUNT}/0000000001 (1).ndjson`,
    "run-log/Thumbs.db",
    `run-log/${ACCOUNT}/a copy (1).json`,
    `run-log/${ACCOUNT}/notes.ndjson`,
    `run-log/${ACCOUNT}/${first}-1 (1).ndjson`,
    "runs/a copy (1).json",
    `runs/${ACCOUNT}/2020-01-01T00-00-00.000Z/a copy (1).json`,
    `runs/${ACCOUNT}/${first}/kept-00001 (1).ndjson.gz`,
    `runs/${ACCOUNT}/9999-12-31T00-00-00.000Z/plan.ndjson.gz.bak`,
    `snapshots/${ACCOUNT}/2020-01-01T00-00-00.000Z/a copy (1).json`,
    `changes/${ACCOUNT}/a copy (1).json`,
  ].toSorted();
  for (const key of foreign) world.store.put(key, "not ours");
  world.clock.advance(40 * DAY_MS);
  world.show(6, 2);

  const { row } = await world.run();
  const { runs, head } = await status(world.own, world.clock.now());

  expect(row).toMatchObject({ outcome: "PUBLISHED", changed: 6 });
  expect(head).toMatchObject({ publication: "0000000002" });
  expect(runs).toHaveLength(2);
  expect(await Array.fromAsync(attemptsOf(world.own, first))).toHaveLength(1);
  expect(await accountsIn(world.store, "publications/")).toEqual([ACCOUNT]);
  expect(await knownAccounts(world.store)).toEqual([ACCOUNT]);
  expect(world.store.keys().filter((key) => foreign.includes(key))).toEqual(foreign);
});
