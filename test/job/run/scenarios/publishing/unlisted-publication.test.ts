// A publication that exists and that no listing shows: an error that names it, never an endless loop.

import { expect, test } from "vitest";
import type { Store } from "../../../../../lambdas/job/storage/store.ts";
import { interposed } from "../../interposed-store.ts";
import { SmallWorld } from "../../small-world.ts";

test("a commit that is refused while the log does not move fails, and the next run finishes it", async () => {
  const world = new SmallWorld();
  world.show(5, 1);
  await world.run();
  world.show(5, 2);
  let commits = 0;
  const counting = interposed(world.store, async (key) => {
    if (key.startsWith("publications/")) commits += 1;
    if (commits > 100) throw new Error("endless");
  });
  const blind: Store = {
    read: counting.read,
    open: counting.open,
    create: counting.create,
    copy: counting.copy,
    replace: counting.replace,
    delete: counting.delete,
    list: (prefix, after) =>
      prefix.startsWith("publications/") ? (async function* () {})() : counting.list(prefix, after),
  };

  const failed = await world.run({}, { store: blind });
  const next = await world.run();

  expect(failed.row).toMatchObject({ outcome: "FAILED", error_code: "STORE_FAILED" });
  expect(failed.error?.message).toContain("publications/uk/0000000001.ndjson exists, but listing");
  expect(next.row).toMatchObject({ outcome: "PUBLISHED", run_id: failed.row.run_id, changed: 5 });
});
