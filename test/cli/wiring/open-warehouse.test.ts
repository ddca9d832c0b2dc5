import { expect, test } from "vitest";
import { expireRuns } from "../../../bin/cli/commands/run.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { accountStore, type StoredKey } from "../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "../../job/storage/memory-store.ts";

const NOW = Date.UTC(2026, 10, 21, 6);
const silent = { warn: () => undefined };

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

  await expireRuns(accountStore(store, "uk"), NOW, silent);

  expect(store.keys()).toEqual(kept.toSorted());
});

test("what lies behind a refused link stays, each link is named once, and the rest is deleted", async () => {
  class Linked extends MemoryStore {
    override async *list(prefix: string): AsyncIterable<StoredKey> {
      for await (const file of super.list(prefix)) {
        yield file.key.includes("/2026-01-02T") ? { ...file, refusedLink: "/w/runs/uk/2026-01-02" } : file;
      }
    }
  }
  const store = new Linked();
  const kept = [0, 1].map((index) => layout("uk").record("2026-01-02T00-00-00.000Z", index));
  for (const key of [...kept, layout("uk").plan("2026-01-01T00-00-00.000Z")]) store.put(key, "x");
  const warnings: string[] = [];

  await expireRuns(accountStore(store, "uk"), NOW, { warn: (message) => warnings.push(message) });

  expect(store.keys()).toEqual(kept);
  expect(warnings).toEqual([
    expect.stringContaining("behind the link /w/runs/uk/2026-01-02: it does not belong"),
  ]);
});
