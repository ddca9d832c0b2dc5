// A removal cuts the log: every reader ignores what lies below it, whatever is left there.

import { expect, it } from "vitest";
import {
  createRemoval,
  findPublication,
  isOfRun,
  newestReadable,
  type Publication,
  publicationBefore,
  publish,
  readEnd,
  readHead,
  readLog,
  readLogSince,
} from "../../../lambdas/job/storage/publication-log.ts";
import { type AccountStore, accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "./memory-store.ts";
import { aPublication, FIRST, logOf, SECOND } from "./publications.ts";

const NAMED = { runId: "2026-11-23T06-00-00.000Z", atMs: Date.UTC(2026, 10, 23, 6), writeId: "removal" };
const AFTER = aPublication({
  publication: "0000000004",
  snapshot_id: "2026-11-24T06-00-00.000Z",
  run_id: "2026-11-24T06-00-00.000Z",
  write_id: "write-4",
});

async function removed(): Promise<MemoryStore> {
  const store = await logOf(FIRST, SECOND);
  await createRemoval(accountStore(store, "uk"), NAMED);
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

  expect(await readHead(accountStore(store, "uk"))).toBeUndefined();
  expect(await readLog(accountStore(store, "uk"))).toEqual([]);
  const isOfSecond = ({ snapshot_id }: Publication): boolean => snapshot_id === SECOND.snapshot_id;
  expect(await findPublication(accountStore(store, "uk"), isOfSecond)).toBeUndefined();
  expect(await readEnd(accountStore(store, "uk"))).toMatchObject({
    last: "0000000003",
    removal: { action: "remove" },
  });
  expect(await publish(accountStore(store, "uk"), AFTER)).toBe("committed");
  expect(await readLog(accountStore(store, "uk"))).toEqual([AFTER]);
  expect(await publicationBefore(accountStore(store, "uk"), "0000000004")).toBeUndefined();
});

it.each([
  ["all of them", ["0000000001", "0000000002"]],
  ["the newer one", ["0000000002"]],
  ["the older one", ["0000000001"]],
])("cuts the log where of the publications below it are deleted: %s", async (_, deleted) => {
  const store = await removed();
  await publish(accountStore(store, "uk"), AFTER);
  for (const id of deleted) await store.delete(`publications/uk/${id}.ndjson`);

  expect(await readLog(accountStore(store, "uk"))).toEqual([AFTER]);
  expect(await readHead(accountStore(store, "uk"))).toEqual(AFTER);
});

it("is what has to be restored where it is damaged itself, and not what it has deleted", async () => {
  const store = await removed();
  await store.delete("publications/uk/0000000001.ndjson");
  await store.delete("publications/uk/0000000002.ndjson");
  store.put("publications/uk/0000000003.ndjson", "damaged");

  await expect(readHead(accountStore(store, "uk"))).rejects.toMatchObject({
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

  await expect(readLog(accountStore(store, "uk"))).rejects.toMatchObject({
    code: "STORE_CORRUPT",
    fields: { key: "publications/uk/0000000004.ndjson" },
  });
});

it("is found whatever the log holds: damaged files, and a beginning that is missing", async () => {
  const store = new MemoryStore();
  store.put("publications/uk/0000000003.ndjson", "damaged");

  expect(await createRemoval(accountStore(store, "uk"), NAMED)).toBe("0000000004");
  expect(await readLogSince(accountStore(store, "uk"), "")).toMatchObject({
    last: "0000000004",
    publications: [],
  });
});

it("takes the number after that of a publication which comes between", async () => {
  const store = await logOf(FIRST);
  let isFirst = true;
  const raced: Store = {
    ...accountStore(store, "uk"),
    create: async (key, body) => {
      if (isFirst) await publish(accountStore(store, "uk"), SECOND);
      isFirst = false;
      return store.create(key, body);
    },
  };

  expect(await createRemoval(accountStore(raced, "uk"), NAMED)).toBe("0000000003");
});

it("makes a publication that is created below it a lost one", async () => {
  const store = await removed();
  await store.delete("publications/uk/0000000002.ndjson");

  expect(await publish(accountStore(store, "uk"), { ...SECOND, write_id: "late" })).toBe("lost");
  expect(await readLog(accountStore(store, "uk"))).toEqual([]);
});

/** As it is after the first file was asked for, when something happens before it is read. */
const beforeFirstRead = (store: Store, happens: () => Promise<unknown>): Store => {
  let isFirst = true;
  return {
    ...accountStore(store, "uk"),
    read: async (key) => {
      if (isFirst) {
        isFirst = false;
        await happens();
      }
      return store.read(key);
    },
  };
};

it.each([
  ["the log", readLog, []],
  ["the head", readHead, undefined],
  ["what a run has made", (store: AccountStore) => findPublication(store, isOfRun(SECOND.run_id)), undefined],
  ["what can be read", (store: AccountStore) => Array.fromAsync(newestReadable(store)), []],
])("is no damage to a reader of %s that had listed what it has deleted meanwhile", async (_, read, found) => {
  const store = await logOf(FIRST, SECOND);
  const slow = beforeFirstRead(store, async () => {
    await createRemoval(accountStore(store, "uk"), NAMED);
    for (const id of ["0000000001", "0000000002"]) await store.delete(`publications/uk/${id}.ndjson`);
  });

  expect(await read(accountStore(slow, "uk"))).toEqual(found);
});

it("is no damage to a reader either where another one deletes it", async () => {
  const store = await removed();
  await store.delete("publications/uk/0000000001.ndjson");
  const slow = beforeFirstRead(store, async () => {
    await createRemoval(accountStore(store, "uk"), { ...NAMED, writeId: "another" });
    for (const id of ["0000000002", "0000000003"]) await store.delete(`publications/uk/${id}.ndjson`);
  });

  expect(await readLog(accountStore(slow, "uk"))).toEqual([]);
});

it("ends what can be read, and is none of it", async () => {
  const store = await removed();
  await publish(accountStore(store, "uk"), AFTER);

  expect(await Array.fromAsync(newestReadable(accountStore(store, "uk")))).toEqual([AFTER]);
});

it("keeps its number where only the response to its creation was lost", async () => {
  const store = await logOf(FIRST, SECOND);
  const unsure: Store = {
    ...accountStore(store, "uk"),
    create: async (key, body) => {
      await store.create(key, body);
      return undefined;
    },
  };

  expect(await createRemoval(accountStore(unsure, "uk"), NAMED)).toBe("0000000003");
});

it("takes a number again that was taken and is free", async () => {
  const store = await logOf(FIRST);
  let isFirst = true;
  const raced: Store = {
    ...accountStore(store, "uk"),
    create: async (key, body) => {
      if (!isFirst) return store.create(key, body);
      isFirst = false;
      return undefined;
    },
  };

  expect(await createRemoval(accountStore(raced, "uk"), NAMED)).toBe("0000000002");
});
