// The end of the log, in random logs that others write while it is searched: numbers lost, names of others, entries of an
// earlier version, removals. It is the last entry that there was meanwhile, or damage; and who creates the number behind one
// that was found too low has lost.

import fc from "fast-check";
import { expect, it } from "vitest";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { publicationId } from "../../../lambdas/job/storage/layout.ts";
import {
  createRemoval,
  publish,
  readEnd,
  readLogSince,
} from "../../../lambdas/job/storage/publication-log.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import { watched } from "../run/interposed-store.ts";
import { MemoryStore } from "./memory-store.ts";
import { aPublication, uk } from "./publications.ts";

const FOLDER = "publications/uk/";
const LONGEST = 40;

/** What people, file managers and programs leave in the folder: before, between and behind the entries. */
const FOREIGN = [
  ".DS_Store",
  "!first",
  "0.ndjson",
  "000000001.ndjson",
  "00000000001.ndjson",
  "0000000001.ndjson.bak",
  "0000000007 (1).ndjson",
  "0000000030x.ndjson",
  "99999999999.ndjson",
  "old/0000000041.ndjson",
  "publication.ndjson",
  "~lock",
] as const;

type Kind = "publication" | "of an earlier version" | "remove";

/** What another process does before a step of ours. */
const ACTS = [
  "commits",
  "commits as an earlier version",
  "removes the account",
  "removes the account, and deletes its first entry",
  "removes the account, and deletes all below",
] as const;
type Act = (typeof ACTS)[number];

interface World {
  readonly kinds: readonly Kind[];
  /** Numbers whose entries are lost. */
  readonly lost: readonly number[];
  readonly foreign: readonly string[];
  /** What happens before which of our calls to the store. */
  readonly acts: ReadonlyMap<number, Act>;
  readonly near: number;
}

const WORLDS: fc.Arbitrary<World> = fc.record({
  kinds: fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constant<Kind>("publication") },
      { weight: 3, arbitrary: fc.constant<Kind>("of an earlier version") },
      { weight: 1, arbitrary: fc.constant<Kind>("remove") },
    ),
    { maxLength: LONGEST },
  ),
  lost: fc.oneof(
    fc.constant([]),
    fc.uniqueArray(fc.integer({ min: 1, max: LONGEST }), { minLength: 1, maxLength: 8 }),
  ),
  foreign: fc.subarray([...FOREIGN]),
  acts: fc
    .array(fc.tuple(fc.nat(24), fc.constantFrom(...ACTS)), { maxLength: 5 })
    .map((acts) => new Map(acts)),
  near: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: LONGEST + 5 })),
});

const keyOf = (number: number): string => `${FOLDER}${publicationId(number)}.ndjson`;

function lineOf(number: number, kind: Kind): string {
  const publication = aPublication({ publication: publicationId(number), write_id: `write ${number}` });
  if (kind === "remove")
    return `${JSON.stringify({ ...publication, action: "remove", snapshot_id: null, base_snapshot_id: null })}\n`;
  const counted =
    kind === "publication" ? { ...publication, files: { snapshot: 1, changes: 1 } } : publication;
  return `${JSON.stringify(counted)}\n`;
}

/** The numbers that are there, by a rule of its own for what an entry is called. */
const numbersIn = (store: MemoryStore): readonly number[] =>
  store.keys(FOLDER).flatMap((key) => {
    const name = key.slice(FOLDER.length);
    return name.length === 17 && /^\d+[.]ndjson$/.test(name) ? [Number(name.slice(0, 10))] : [];
  });
const lastIn = (store: MemoryStore): number => Math.max(0, ...numbersIn(store));

/** The store of a process, beside which others act. */
class Raced {
  readonly store = new MemoryStore();
  /** The last number that there was at each creation of ours. */
  readonly createdBehind: number[] = [];
  readonly #acts: ReadonlyMap<number, Act>;
  #calls = 0;

  constructor({ kinds, lost, foreign, acts }: World) {
    for (const [index, kind] of kinds.entries())
      if (!lost.includes(index + 1)) this.store.put(keyOf(index + 1), lineOf(index + 1, kind));
    for (const name of foreign) this.store.put(`${FOLDER}${name}`, lineOf(LONGEST + 1, "publication"));
    this.#acts = acts;
  }

  /** What our process sees. */
  get seen(): Store {
    const { store } = this;
    const happens = () => this.#happens();
    return {
      ...uk(store),
      read: async (key) => {
        await happens();
        return store.read(key);
      },
      async *list(prefix, after) {
        await happens();
        yield* store.list(prefix, after);
      },
      create: async (key, body) => {
        await happens();
        const last = lastIn(store);
        const created = await store.create(key, body);
        if (created !== undefined) this.createdBehind.push(last);
        return created;
      },
    };
  }

  async #happens(): Promise<void> {
    const act = this.#acts.get(this.#calls);
    this.#calls += 1;
    if (act === undefined) return;
    const { store } = this;
    const below = numbersIn(store);
    const last = lastIn(store);
    const kind = act === "commits" ? "publication" : "of an earlier version";
    if (!act.startsWith("removes")) return store.put(keyOf(last + 1), lineOf(last + 1, kind));
    const runId = "2026-11-23T06-00-00.000Z";
    await createRemoval(uk(store), { runId, atMs: 0, writeId: `removal behind ${last}` });
    if (act.endsWith("deletes its first entry")) await store.delete(below.slice(0, 1).map(keyOf));
    if (act.endsWith("deletes all below")) await store.delete(below.map(keyOf));
  }
}

const orDamage = async <Found>(found: Promise<Found>): Promise<Found | "damage"> => {
  try {
    return await found;
  } catch (error) {
    if (error instanceof SyncError && error.code === "STORE_CORRUPT") return "damage";
    throw error;
  }
};

const isSound = ({ lost, kinds }: World): boolean => !lost.some((number) => number <= kinds.length);
const RUNS = { numRuns: 1_500 };

it("is the last entry that there was meanwhile, and damage only where a number is lost", async () => {
  await fc.assert(
    fc.asyncProperty(WORLDS, async (world) => {
      const raced = new Raced(world);
      const before = lastIn(raced.store);

      const near = world.near === 0 ? undefined : publicationId(world.near);
      const end = await orDamage(readEnd(uk(raced.seen), near));

      if (end === "damage") {
        expect(isSound(world)).toBe(false);
        return;
      }
      const last = Number(end.last);
      expect(last).toBeGreaterThanOrEqual(before);
      expect(last).toBeLessThanOrEqual(lastIn(raced.store));
      const entry = end.head ?? end.removal;
      expect(entry?.publication ?? "").toBe(end.last);
    }),
    RUNS,
  );
});

it("leads to no fork: what is committed has the number behind the last one that there was", async () => {
  await fc.assert(
    fc.asyncProperty(WORLDS, async (world) => {
      const raced = new Raced(world);
      const own = uk(raced.seen);
      let near: string | undefined = world.near === 0 ? undefined : publicationId(world.near);

      for (let tries = 0; tries < 10; tries += 1) {
        const end = await orDamage(readEnd(own, near));
        if (end === "damage") {
          expect(isSound(world)).toBe(false);
          return;
        }
        const number = Number(end.last) + 1;
        const publication = publicationId(number);
        const outcome = await publish(own, aPublication({ publication, write_id: `ours ${tries}` }));
        if (outcome === "committed") {
          expect(raced.createdBehind.at(-1)).toBe(number - 1);
          return;
        }
        near = end.last;
      }
      // Others act five times at most.
      expect.unreachable("the search was repeated, and its number was always taken");
    }),
    RUNS,
  );
});

it("is damage where a number is lost behind what is known of the log, unless a removal lies above", async () => {
  const still = WORLDS.map((world) => ({ ...world, acts: new Map() }));
  await fc.assert(
    fc.asyncProperty(still, async (world) => {
      const { store } = new Raced(world);
      const there = numbersIn(store);
      const { near } = world;
      const known = publicationId(near);
      const gaps = there.filter((number) => number > 1 && !there.includes(number - 1));
      const lastRemoval = there.findLast((number) => world.kinds[number - 1] === "remove") ?? 0;
      const isDamaged = (gaps.at(-1) ?? 0) > lastRemoval;
      const isKnown = there.includes(near);
      const isWhole = isKnown && (gaps.at(-1) ?? 0) <= near;
      const [first = 1] = there;
      const begins = first === 1 || world.kinds[first - 1] === "remove";

      const since = await orDamage(readLogSince(uk(store), near === 0 ? "" : known));
      const end = await orDamage(readEnd(uk(store), near === 0 ? undefined : known));

      expect(since === "damage").toBe(isDamaged && !isWhole);
      const counting = there.filter((number) => number > Math.max(near, lastRemoval));
      if (since !== "damage")
        expect(since.publications.map(({ publication }) => Number(publication))).toEqual(counting);
      // Between two numbers that it tries, the search of the end sees no gap.
      if (!isDamaged || isWhole) expect(end).not.toBe("damage");
      else if (isKnown || !begins) expect(end).toBe("damage");
    }),
    RUNS,
  );
});

it.each([
  { first: 1, entries: 1, most: 3 },
  { first: 1, entries: 2, most: 5 },
  { first: 1, entries: 100, most: 16 },
  { first: 1, entries: 1_000, most: 22 },
  { first: 4, entries: 200, most: 20 },
])("is found among $entries entries from number $first on by $most reads and two lists", async (log) => {
  const { first, entries, most } = log;
  const memory = new MemoryStore();
  // A log that begins later begins with a removal, which has deleted what lay before it.
  for (let number = first; number < first + entries; number += 1)
    memory.put(keyOf(number), lineOf(number, number === first && first > 1 ? "remove" : "publication"));
  for (const name of [".DS_Store", "000.txt"]) memory.put(`${FOLDER}${name}`, "");
  const { store, reads, listed } = watched(memory);

  const { last } = await readEnd(uk(store));

  expect(last).toBe(publicationId(first + entries - 1));
  expect(reads.length).toBeLessThanOrEqual(most);
  expect(listed.length).toBeLessThanOrEqual(4);
});
