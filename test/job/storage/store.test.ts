// The store in memory keeps the contract, what tests alone use of it works too, and objects of JSON are read from it.

import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { readJson } from "../../../lambdas/job/storage/store.ts";
import { toldBy } from "../../words/said.ts";
import { MemoryStore } from "./memory-store.ts";
import { storeContract } from "./store-contract.ts";

storeContract("MemoryStore", async () => new MemoryStore());

describe("MemoryStore", () => {
  it("shows keys and texts, and takes whatever a test puts", async () => {
    const store = new MemoryStore();
    await store.create("b", new TextEncoder().encode("created"));
    store.put("a/1", "put");
    store.put("b", "put over it");

    expect(store.keys()).toEqual(["a/1", "b"]);
    expect(store.keys("a/")).toEqual(["a/1"]);
    expect(store.text("b")).toBe("put over it");
    expect(store.text("c")).toBeUndefined();
  });

  it("stamps objects with the clock it was given", async () => {
    const clock = { now: () => 1_700_000_000_000 };
    const store = new MemoryStore(clock);
    store.put("key", "content");

    expect(await Array.fromAsync(store.list(""))).toEqual([
      { key: "key", modifiedAtMs: 1_700_000_000_000, bytes: 7 },
    ]);
  });

  it("lists what is archived with its storage class, and does not read it", async () => {
    const store = new MemoryStore();
    store.put("key", "content");
    store.archive("key");

    expect(await Array.fromAsync(store.list(""))).toEqual([
      { key: "key", modifiedAtMs: 0, bytes: 7, archivedAs: "GLACIER" },
    ]);
    for (const reading of [() => store.read("key"), () => store.open("key"), () => store.copy("key", "to")]) {
      await expect(reading()).rejects.toMatchObject({ code: "STORE_FAILED" });
    }
  });

  it("keeps its own copy of the bytes it takes and gives", async () => {
    const store = new MemoryStore();
    const given = new Uint8Array([1]);
    await store.create("key", given);
    given[0] = 2;
    const read = await store.read("key");
    read?.bytes.fill(3);

    expect([...((await store.read("key"))?.bytes ?? [])]).toEqual([1]);
  });
});

const KEY = "folder/object.json";
const SCHEMA = z
  .object({ a: z.object({ b: z.string() }) })
  .refine(({ a }) => a.b !== "", { error: "b is empty" });
const VALUE = { a: { b: "é" } };

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

describe("an object that is read", () => {
  it("is what was written, or none", async () => {
    store.put(KEY, JSON.stringify(VALUE));

    expect(await readJson(store, KEY, SCHEMA)).toEqual(VALUE);
    expect(await readJson(store, "folder/other.json", SCHEMA)).toBeUndefined();
  });

  it.each<[string, string | Uint8Array, string]>([
    ["no JSON", "{", "it is not JSON"],
    ["no UTF-8", Buffer.from('{"a":{"b":"\xe9"}}', "latin1"), "it is not JSON"],
    ["another type", '{"a":{"b":1}}', "a.b: Invalid input: expected string, received number"],
    ["values that do not fit", '{"a":{"b":""}}', "the object: b is empty"],
  ])("is damaged where it is %s", async (_, text, problem) => {
    store.put(KEY, text);

    expect(await toldBy(readJson(store, KEY, SCHEMA))).toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key: KEY },
      message: `The file ${KEY} is damaged: ${problem}. Restore it from a backup or an older version.`,
    });
  });
});
