import { expect, test } from "vitest";
import { expireRuns } from "../../../bin/cli/commands/run.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "../../job/storage/memory-store.ts";

const NOW = Date.UTC(2026, 10, 21, 6);

test("what a run staged is deleted after 14 days, and nothing else is", async () => {
  const store = new MemoryStore();
  const kept = [
    "runs/de/2026-01-01T00-00-00.000Z/plan.ndjson.gz",
    "runs/uk/2026-11-07T06-00-00.000Z/plan.ndjson.gz",
    "runs/uk/2026-11-21T06-00-00.000Z/outcome.json",
    "runs/uk/check-token.json",
    "snapshots/uk/2026-01-01T00-00-00.000Z/part-00000.ndjson.gz",
    "runs/uk/2026-01-01T00-00-00.000Z/a copy (1).json",
    "runs/uk/2026-01-01T00-00-00.000Z/z/plan.ndjson.gz",
  ];
  const old = [
    "runs/uk/2026-11-07T05-59-59.000Z/outcome.json",
    "runs/uk/2026-11-01T00-00-00.000Z/plan.ndjson.gz",
  ];
  for (const key of [...kept, ...old]) store.put(key, "x");

  await expireRuns(accountStore(store, "uk"), NOW);

  expect(store.keys()).toEqual(kept.toSorted());
});
