// The log read in part: what came after a publication, and what can be of a run, newest first.

import { expect, it } from "vitest";
import { publicationsSince, publish, readLogSince } from "../../../lambdas/job/storage/publication-log.ts";
import { accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "./memory-store.ts";
import { aPublication } from "./publications.ts";

/** Publications 1 to `count`, one a day from 1 November 2026; and the keys that are read from then on. */
async function logOf(count: number): Promise<{ readonly store: Store; readonly reads: readonly string[] }> {
  const reads: string[] = [];
  class WatchedStore extends MemoryStore {
    override read(key: string): ReturnType<MemoryStore["read"]> {
      reads.push(key.slice("publications/uk/".length));
      return super.read(key);
    }
  }
  const store = new WatchedStore();
  for (let day = 1; day <= count; day += 1) {
    const publication = `000000000${day}`;
    await publish(
      accountStore(store, "uk"),
      aPublication({ publication, published_at: `2026-11-0${day}T12:00:00.000Z` }),
    );
  }
  return { store, reads };
}

it("reads only the publications after the one that is named", async () => {
  const { store, reads } = await logOf(4);

  const { publications } = await readLogSince(accountStore(store, "uk"), "0000000002");

  expect(publications.map(({ publication }) => publication)).toEqual(["0000000003", "0000000004"]);
  expect(reads).toEqual(["0000000004.ndjson", "0000000003.ndjson"]);
});

it("finds a gap also before the one that is named", async () => {
  const { store } = await logOf(4);
  await store.delete("publications/uk/0000000001.ndjson");

  await expect(readLogSince(accountStore(store, "uk"), "0000000002")).rejects.toMatchObject({
    code: "STORE_CORRUPT",
  });
});

it.each(["2026-11-05T06-00-00.000Z", "2026-11-05T12-00-00.000Z"])(
  "gives the publications since the run %s, newest first, and ends a day before it began",
  async (runId) => {
    const { store } = await logOf(6);

    const since = await Array.fromAsync(publicationsSince(accountStore(store, "uk"), runId));

    expect(since.map(({ publication }) => publication)).toEqual([
      "0000000006",
      "0000000005",
      "0000000004",
      "0000000003",
    ]);
  },
);

it("reads a publication when it is asked for, and none before", async () => {
  const { store, reads } = await logOf(6);

  for await (const { publication } of publicationsSince(
    accountStore(store, "uk"),
    "2026-11-01T06-00-00.000Z",
  )) {
    if (publication === "0000000005") break;
  }

  expect(reads).toEqual(["0000000006.ndjson", "0000000005.ndjson"]);
});
