// A removal cuts the log: every reader ignores what lies below it, whatever is left there.

import { expect, it } from "vitest";
import type { Publication } from "../../../lambdas/job/storage/publication.ts";
import {
  createRemoval,
  findPublication,
  isOfRun,
  newestReadable,
  publicationBefore,
  publish,
  readEnd,
  readHead,
  readLog,
  readLogSince,
} from "../../../lambdas/job/storage/publication-log.ts";
import type { AccountStore, Store } from "../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "./memory-store.ts";
import { aPublication, FIRST, logOf, SECOND, uk } from "./publications.ts";

const NAMED = { runId: "2026-11-23T06-00-00.000Z", atMs: Date.UTC(2026, 10, 23, 6), writeId: "removal" };
const AFTER = aPublication({
  publication: "0000000004",
  snapshot_id: "2026-11-24T06-00-00.000Z",
  run_id: "2026-11-24T06-00-00.000Z",
  write_id: "write-4",
});

async function removed(): Promise<MemoryStore> {
  const store = await logOf(FIRST, SECOND);
  await createRemoval(uk(store), NAMED);
  return store;
}

it("takes the next number, and has the keys of a publication", async () => {
  const store = await removed();

  expect(store.text("publications/uk/0000000003.ndjson")).toBe(
    '{"publication":"0000000003","action":"remove","snapshot_id":null,"base_snapshot_id":null,"published_at":"2026-11-23T06:00:00.000Z","events":0,"added":0,"changed":0,"removed":0,"run_id":"2026-11-23T06-00-00.000Z","pinned":false,"write_id":"removal"}\n',
  );
});

it("leaves no head and no publications, and the next number follows it", async () => {
  const store = await removed();

  expect(await readHead(uk(store))).toBeUndefined();
  expect(await readLog(uk(store))).toEqual([]);
  const isOfSecond = ({ snapshot_id }: Publication): boolean => snapshot_id === SECOND.snapshot_id;
  expect(await findPublication(uk(store), isOfSecond)).toBeUndefined();
  expect(await readEnd(uk(store))).toMatchObject({
    last: "0000000003",
    removal: { action: "remove" },
  });
  expect(await publish(uk(store), AFTER)).toBe("committed");
  expect(await readLog(uk(store))).toEqual([AFTER]);
  expect(await publicationBefore(uk(store), "0000000004")).toBeUndefined();
});

it.each([
  ["none", []],
  ["all of them", ["0000000001", "0000000002"]],
  ["the newer one", ["0000000002"]],
  ["the older one", ["0000000001"]],
])("cuts the log where of the publications below it are deleted: %s", async (_, deleted) => {
  const store = await removed();
  await publish(uk(store), AFTER);
  for (const id of deleted) await store.delete([`publications/uk/${id}.ndjson`]);

  expect(await readLog(uk(store))).toEqual([AFTER]);
  expect(await readHead(uk(store))).toEqual(AFTER);
  expect(await Array.fromAsync(newestReadable(uk(store)))).toEqual([AFTER]);
});

it("follows a file with a number that no log reaches, and the log goes on from there", async () => {
  const store = await logOf(FIRST, SECOND);
  store.put("publications/uk/5000000000.ndjson", "left by another program");
  await createRemoval(uk(store), NAMED);
  const after = { ...AFTER, publication: "5000000002" };
  await publish(uk(store), after);

  expect(await findPublication(uk(store), ({ run_id }) => run_id === AFTER.run_id)).toEqual(after);
  expect(await findPublication(uk(store), ({ run_id }) => run_id === FIRST.run_id)).toBeUndefined();
});

it("is what has to be restored where it is damaged itself, and not what it has deleted", async () => {
  const store = await removed();
  await store.delete(["publications/uk/0000000001.ndjson"]);
  await store.delete(["publications/uk/0000000002.ndjson"]);
  store.put("publications/uk/0000000003.ndjson", "damaged");

  await expect(readHead(uk(store))).rejects.toMatchObject({
    code: "STORE_CORRUPT",
    fields: { key: "publications/uk/0000000003.ndjson" },
  });
});

it("excuses no gap above it", async () => {
  const store = await removed();
  store.put(
    "publications/uk/0000000005.ndjson",
    `${JSON.stringify({ ...AFTER, publication: "0000000005" })}\n`,
  );

  await expect(readLog(uk(store))).rejects.toMatchObject({
    code: "STORE_CORRUPT",
    fields: { key: "publications/uk/0000000004.ndjson" },
  });
});

it("is found whatever the log holds: damaged files, and a beginning that is missing", async () => {
  const store = new MemoryStore();
  store.put("publications/uk/0000000003.ndjson", "damaged");

  expect(await createRemoval(uk(store), NAMED)).toBe("0000000004");
  expect(await readLogSince(uk(store), "")).toMatchObject({
    last: "0000000004",
    publications: [],
  });
});

/** What becomes of the first creation of a file. */
type Creation = (
  store: MemoryStore,
  create: () => Promise<string | undefined>,
) => Promise<string | undefined>;

it.each<[string, readonly Publication[], Creation, string]>([
  [
    "after that of a publication which comes between",
    [FIRST],
    async (store, create) => {
      await publish(uk(store), SECOND);
      return create();
    },
    "0000000003",
  ],
  [
    "that it has where only the response to its creation was lost",
    [FIRST, SECOND],
    async (_, create) => {
      await create();
      return undefined;
    },
    "0000000003",
  ],
  ["that was taken and is free", [FIRST], async () => undefined, "0000000002"],
])("takes the number %s", async (_, log, happens, number) => {
  const store = await logOf(...log);
  let isFirst = true;
  const raced: Store = {
    ...uk(store),
    create: async (key, body) => {
      const create = () => store.create(key, body);
      if (!isFirst) return create();
      isFirst = false;
      return happens(store, create);
    },
  };

  expect(await createRemoval(uk(raced), NAMED)).toBe(number);
});

it("makes a publication that is created below it a lost one", async () => {
  const store = await removed();
  await store.delete(["publications/uk/0000000002.ndjson"]);

  expect(await publish(uk(store), { ...SECOND, write_id: "late" })).toBe("lost");
  expect(await readLog(uk(store))).toEqual([]);
});

/** As it is after the nth file was asked for, when something happens before it is read. */
const beforeRead = (nth: number, store: Store, happens: () => Promise<unknown>): Store => {
  let reads = 0;
  return {
    ...uk(store),
    read: async (key) => {
      reads += 1;
      if (reads === nth) await happens();
      return store.read(key);
    },
  };
};

/** Each with the number of its reads until the newest publication is read. */
it.each<[string, number, (store: AccountStore) => Promise<unknown>, unknown]>([
  ["the log", 2, readLog, []],
  ["the head", 3, readHead, undefined],
  ["what a run has made", 3, (store) => findPublication(store, isOfRun(SECOND.run_id)), undefined],
  ["what can be read", 1, (store) => Array.fromAsync(newestReadable(store)), []],
])(
  "is no damage to a reader of %s that had listed what it has deleted meanwhile",
  async (_, reads, read, found) => {
    for (let nth = 1; nth <= reads; nth += 1) {
      const store = await logOf(FIRST, SECOND);
      let isRemoved = false;
      const slow = beforeRead(nth, store, async () => {
        isRemoved = true;
        await createRemoval(uk(store), NAMED);
        for (const id of ["0000000001", "0000000002"]) await store.delete([`publications/uk/${id}.ndjson`]);
      });

      expect(await read(uk(slow)), `before read ${nth}`).toEqual(found);
      expect(isRemoved).toBe(true);
    }
  },
);

it("hides what is damaged below it, also where that is read at the same time", async () => {
  const store = await logOf(FIRST);
  store.put("publications/uk/0000000001.ndjson", "damaged");
  await createRemoval(uk(store), NAMED);
  await publish(uk(store), { ...AFTER, publication: "0000000003" });

  expect(await findPublication(uk(store), () => false)).toBeUndefined();
});

it("is no damage to a reader either where another one deletes it", async () => {
  const store = await removed();
  await store.delete(["publications/uk/0000000001.ndjson"]);
  const slow = beforeRead(1, store, async () => {
    await createRemoval(uk(store), { ...NAMED, writeId: "another" });
    for (const id of ["0000000002", "0000000003"]) await store.delete([`publications/uk/${id}.ndjson`]);
  });

  expect(await readLog(uk(slow))).toEqual([]);
});

it("is no damage to who listed the log before it, when it has deleted one entry and is one itself", async () => {
  const store = await removed();
  await store.delete(["publications/uk/0000000001.ndjson", "publications/uk/0000000002.ndjson"]);
  await publish(uk(store), AFTER);
  // The first is that of the whole log, which is listed already.
  const raced = beforeRead(1, store, async () => {
    await createRemoval(uk(store), { ...NAMED, writeId: "another" });
    await store.delete(["publications/uk/0000000003.ndjson"]);
  });

  expect(await readLogSince(uk(raced), "")).toMatchObject({ last: "0000000005", publications: [] });
});
