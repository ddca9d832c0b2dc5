// What is asked about a long log is found without reading all of it, and is what a reading of all of it says.

import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { formatRunId, publicationId } from "../../../lambdas/job/storage/layout.ts";
import { newestRemoval, publishedAmong } from "../../../lambdas/job/storage/log-search.ts";
import {
  createRemoval,
  publish,
  readLog,
  readLogSince,
} from "../../../lambdas/job/storage/publication-log.ts";
import { type AccountStore, accountStore } from "../../../lambdas/job/storage/store.ts";
import { watched } from "../run/interposed-store.ts";
import { MemoryStore } from "./memory-store.ts";
import { aPublication, uk } from "./publications.ts";

const nameOf = (hour: number): string => formatRunId(Date.UTC(2026, 0, 1, hour));

/** Writes the entries one after the other: the hour that names the snapshot of a publication, or a removal. */
async function logOf(entries: readonly (number | "remove")[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  const own = uk(store);
  let base: string | null = null;
  for (const [index, entry] of entries.entries()) {
    if (entry === "remove") {
      await createRemoval(own, { runId: nameOf(index), atMs: 0, writeId: randomUUID() });
      base = null;
      continue;
    }
    const publication = publicationId(index + 1);
    const snapshot_id = nameOf(entry);
    const written = { publication, snapshot_id, base_snapshot_id: base, write_id: randomUUID() };
    await publish(own, aPublication(written));
    base = snapshot_id;
  }
  return store;
}

const HOURS = fc.integer({ min: 0, max: 12 });
const LOGS = fc.array(
  fc.oneof({ weight: 5, arbitrary: HOURS }, { weight: 1, arbitrary: fc.constant("remove" as const) }),
  {
    maxLength: 30,
  },
);

it("the newest removal is that of the whole log", async () => {
  await fc.assert(
    fc.asyncProperty(LOGS, fc.nat(31), async (entries, place) => {
      const own = accountStore(await logOf(entries), "uk");
      const after = place === 0 ? "" : publicationId(place);

      expect(await newestRemoval(own, after)).toEqual((await readLogSince(own, after)).removal);
    }),
  );
});

it("the snapshots that are published are those of the whole log, wherever they are named", async () => {
  await fc.assert(
    fc.asyncProperty(LOGS, fc.array(fc.tuple(HOURS, fc.option(fc.nat(31)))), async (entries, asked) => {
      const own = accountStore(await logOf(entries), "uk");
      const log = await readLog(own);
      // No publication up to the end of a plan names its snapshot.
      const firstOf = (name: string): number =>
        Number(log.find(({ snapshot_id }) => snapshot_id === name)?.publication ?? 32);
      const planned = new Map(
        asked.map(([hour, place]): [string, string | undefined] => {
          const known = place === null ? undefined : Math.min(place, firstOf(nameOf(hour)) - 1);
          return [nameOf(hour), known === undefined ? undefined : publicationId(known)];
        }),
      );

      const found = await publishedAmong(own, planned);

      const published = new Set(log.map(({ snapshot_id }) => snapshot_id));
      expect([...found.keys()].sort()).toEqual([...planned.keys()].filter((id) => published.has(id)).sort());
      for (const publication of found.values()) expect(log).toContainEqual(publication);
    }),
  );
});

/** A log of a year of hours in which the snapshot of the first hour is published a second time at the end. */
async function aYear(): Promise<{ readonly own: AccountStore; readonly reads: readonly string[] }> {
  const { store, reads } = watched(await logOf([...Array.from({ length: 2_000 }, (_, hour) => hour + 1), 7]));
  return { own: uk(store), reads };
}

it.each<[string, number, string | undefined, number]>([
  ["planned at a known place", 1_000, publicationId(999), 10],
  ["that does not say where it was planned", 1_000, undefined, 40],
  ["published long ago, and again just now", 7, undefined, 40],
])("a snapshot %s is found with few reads", async (_, hour, place, most) => {
  const { own, reads } = await aYear();

  const found = await publishedAmong(own, new Map([[nameOf(hour), place]]));

  expect(found.get(nameOf(hour))?.snapshot_id).toBe(nameOf(hour));
  expect(reads.length).toBeLessThan(most);
});

it("no publication is read to learn that there is no removal", async () => {
  const { own, reads } = await aYear();

  expect(await newestRemoval(own, publicationId(1))).toBeUndefined();
  expect(reads).toEqual([]);
});
