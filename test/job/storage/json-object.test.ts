import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { ensureJson, readJson } from "../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "./memory-store.ts";

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

    await expect(readJson(store, KEY, SCHEMA)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key: KEY },
      message: `The file ${KEY} is damaged: ${problem}. Restore it from a backup or an older version.`,
    });
  });
});

describe("an object that is to be there", () => {
  const ensure = (): Promise<void> => ensureJson(store, KEY, SCHEMA, VALUE);

  it("is created, and not read again", async () => {
    store.read = () => Promise.reject(new Error("read"));

    await ensure();

    expect(store.text(KEY)).toBe(`${JSON.stringify(VALUE)}\n`);
  });

  it("stays as it is", async () => {
    store.put(KEY, '{"a":{"b":"other"}}');

    await ensure();

    expect(store.text(KEY)).toBe('{"a":{"b":"other"}}');
  });

  it("is made again where it is damaged, however long the store takes", async () => {
    store.put(KEY, "{");
    const [create, remove] = [store.create.bind(store), store.delete.bind(store)];
    store.create = async (key, body) => {
      await setImmediate();
      return await create(key, body);
    };
    store.delete = async (key) => {
      await setImmediate();
      await remove(key);
    };

    await ensure();

    expect(store.text(KEY)).toBe(`${JSON.stringify(VALUE)}\n`);
  });

  it("is left alone where the store fails", async () => {
    store.put(KEY, "{");
    const failure = new SyncError("STORE_FAILED", "The disk does not answer.");
    store.read = () => Promise.reject(failure);

    await expect(ensure()).rejects.toBe(failure);
    expect(store.text(KEY)).toBe("{");
  });
});
