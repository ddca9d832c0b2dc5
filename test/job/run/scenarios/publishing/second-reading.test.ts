// What looks damaged is read a second time before it counts as damage.

import { expect, test } from "vitest";
import { check } from "../../../../../lambdas/job/commands/check.ts";
import type { Store } from "../../../../../lambdas/job/storage/store.ts";
import { interposed } from "../../interposed-store.ts";
import { partOf, SmallWorld } from "../../small-world.ts";

/** The first so many readings of this file give other bytes. */
function failing(store: Store, key: string, times: number): Store {
  let left = times;
  return {
    ...interposed(store),
    open: async (asked) => {
      if (asked !== key || left === 0) return store.open(asked);
      left -= 1;
      return (async function* () {
        yield Buffer.from("for a moment");
      })();
    },
  };
}

test.each([
  { times: 1, outcome: "PUBLISHED", isOk: true },
  { times: 9, outcome: "FAILED", isOk: false },
])("a part that cannot be read $times times: a run ends as $outcome", async ({ times, outcome, isOk }) => {
  const world = new SmallWorld();
  const head = await world.publish(5);
  world.show(6, 2);
  const part = partOf(head);

  const checks = await check(world.ports({ store: failing(world.store, part, times) }), world.settings);
  const { row } = await world.run({}, { store: failing(world.store, part, times) });

  expect(checks.find(({ name }) => name === "snapshot")?.ok).toBe(isOk);
  expect(row.outcome).toBe(outcome);
});
