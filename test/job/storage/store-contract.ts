// What every store promises (lambdas/job/storage/store.ts), checked against the one that `make` gives.

import { describe, expect, it } from "vitest";
import type { Store } from "../../../lambdas/job/storage/store.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* chunks(...texts: readonly string[]): AsyncIterable<Uint8Array> {
  for (const text of texts) yield bytes(text);
}

async function text(store: Store, key: string): Promise<string | undefined> {
  const stored = await store.read(key);
  return stored && new TextDecoder().decode(stored.bytes);
}

/** Creates the object and returns its version; the key is free. */
async function created(store: Store, key: string, content: string): Promise<string> {
  const version = await store.create(key, bytes(content));
  if (version === undefined) throw new Error(`${key} was taken`);
  return version;
}

export function storeContract(name: string, make: () => Promise<Store>): void {
  listingContract(name, make);

  describe(`${name} as a store`, () => {
    it("has nothing at a key before it is created", async () => {
      const store = await make();

      expect(await store.read("a/b.json")).toBeUndefined();
      expect(await store.open("a/b.json")).toBeUndefined();
      expect(await keysOf(store, "")).toEqual([]);
    });

    it("reads back what was created, with the version that create gave", async () => {
      const store = await make();

      const version = await store.create("a/b.json", bytes("content"));

      expect(version).toBeTypeOf("string");
      expect((await store.read("a/b.json"))?.version).toBe(version);
      expect(await text(store, "a/b.json")).toBe("content");
    });

    it("creates from a stream, and an object without any bytes", async () => {
      const store = await make();

      const version = await store.create("streamed", chunks("one ", "two ", "three"));
      await store.create("empty", chunks());

      expect((await store.read("streamed"))?.version).toBe(version);
      expect(await text(store, "streamed")).toBe("one two three");
      expect(await text(store, "empty")).toBe("");
    });

    it("copies each chunk of a stream before it asks for the next", async () => {
      const store = await make();
      const buffer = new Uint8Array(1);
      async function* reused(): AsyncIterable<Uint8Array> {
        for (const digit of "123") {
          buffer.set(bytes(digit));
          yield buffer;
        }
      }

      await store.create("key", reused());

      expect(await text(store, "key")).toBe("123");
    });

    it("opens an object in chunks that add up to it", async () => {
      const store = await make();
      const content = new Uint8Array(1_000_000).map((_, index) => index % 251);
      await store.create("large", content);

      const opened: Uint8Array[] = [];
      for await (const chunk of (await store.open("large")) ?? []) opened.push(chunk);

      expect(opened.length).toBeGreaterThan(1);
      expect(Buffer.concat(opened).equals(content)).toBe(true);
    });

    it("refuses to create what exists and leaves it as it was", async () => {
      const store = await make();
      await store.create("key", bytes("first"));

      expect(await store.create("key", bytes("second"))).toBeUndefined();
      expect(await store.create("key", chunks("third"))).toBeUndefined();
      expect(await text(store, "key")).toBe("first");
    });

    it("consumes a body to its end, whether the key is free or taken", async () => {
      const store = await make();
      const consumed: string[] = [];
      async function* body(name: string): AsyncIterable<Uint8Array> {
        yield* chunks("one ", "two ", "three");
        consumed.push(name);
      }

      await store.create("key", body("free"));
      await store.create("key", body("taken"));

      expect(consumed).toEqual(["free", "taken"]);
    });

    it("lets exactly one of many creators win, and keeps the winner's content", async () => {
      const store = await make();

      const versions = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.create("key", chunks(`creator ${index}`))),
      );

      const winner = versions.findIndex((version) => version !== undefined);
      expect(versions.filter((version) => version !== undefined)).toHaveLength(1);
      expect(await text(store, "key")).toBe(`creator ${winner}`);
    });

    it("creates nothing when the body throws, and passes the error through unchanged", async () => {
      const store = await make();
      const failure = new RangeError("the producer failed");
      async function* failing(): AsyncIterable<Uint8Array> {
        yield bytes("half of it");
        throw failure;
      }

      await expect(store.create("key", failing())).rejects.toBe(failure);

      expect(await keysOf(store, "")).toEqual([]);
      expect(await store.create("key", bytes("later"))).toBeDefined();
    });

    it("copies an object to a free key, and leaves it where it is", async () => {
      const store = await make();
      const content = new Uint8Array(1_000_000).map((_, index) => index % 251);
      await store.create("runs/from", content);

      expect(await store.copy("runs/from", "snapshots/to")).toBe(true);

      for (const key of ["runs/from", "snapshots/to"])
        expect(Buffer.compare((await store.read(key))?.bytes ?? bytes("none"), content)).toBe(0);
      await store.delete(["runs/from"]);
      expect((await store.read("snapshots/to"))?.bytes).toHaveLength(content.length);
    });

    it("copies nothing to a key that is taken", async () => {
      const store = await make();
      await store.create("from", bytes("new"));
      await store.create("to", bytes("old"));

      expect(await store.copy("from", "to")).toBe(false);

      expect(await text(store, "to")).toBe("old");
      expect(await text(store, "from")).toBe("new");
    });

    it("lets exactly one of many copies win, and keeps the winner's content", async () => {
      const store = await make();
      const names = Array.from({ length: 8 }, (_, index) => `from/${index}`);
      for (const name of names) await store.create(name, bytes(name));

      const won = await Promise.all(names.map((name) => store.copy(name, "to")));

      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await text(store, "to")).toBe(names[won.indexOf(true)]);
    });

    it("fails to copy what is not there, and makes nothing of it", async () => {
      const store = await make();

      await expect(store.copy("from", "to")).rejects.toMatchObject({ code: "STORE_FAILED" });

      expect(await keysOf(store, "")).toEqual([]);
    });

    it("replaces an object that still has the version", async () => {
      const store = await make();
      const first = await created(store, "key", "one");

      const second = await store.replace("key", bytes("two"), first);

      expect(second).not.toBe(first);
      expect(await text(store, "key")).toBe("two");
      expect((await store.read("key"))?.version).toBe(second);
    });

    it("replaces nothing that has changed, is gone, or never was", async () => {
      const store = await make();
      const first = await created(store, "changed", "one");
      await store.replace("changed", bytes("two"), first);
      const gone = await created(store, "gone", "one");
      await store.delete(["gone"]);

      expect(await store.replace("changed", bytes("late"), first)).toBeUndefined();
      expect(await store.replace("gone", bytes("late"), gone)).toBeUndefined();
      expect(await store.replace("never", bytes("late"), first)).toBeUndefined();

      expect(await text(store, "changed")).toBe("two");
      expect(await keysOf(store, "")).toEqual(["changed"]);
    });

    it("loses no update of callers that read, add one and replace at once", async () => {
      const store = await make();
      await store.create("counter", bytes("0"));
      const increment = async (): Promise<void> => {
        for (;;) {
          const stored = await store.read("counter");
          const next = Number(new TextDecoder().decode(stored?.bytes)) + 1;
          if (await store.replace("counter", bytes(String(next)), stored?.version ?? "")) return;
        }
      };

      await Promise.all(Array.from({ length: 10 }, increment));

      expect(await text(store, "counter")).toBe("10");
    });

    it("deletes all objects of a list, wherever they are, and no others", async () => {
      const store = await make();
      const listed = ["a/1", "a/b/2", "a/b/3", "c/d/e/4", "5"];
      const others = ["a/10", "a/b/20", "c/6"];
      for (const key of [...listed, ...others]) await store.create(key, bytes("content"));

      await store.delete([...listed, "a/b/never", "no/such/key"]);
      await store.delete([]);

      expect(await keysOf(store, "")).toEqual(others.toSorted());
    });

    it("deletes an object, and a key without one is no error", async () => {
      const store = await make();
      await store.create("a/key", bytes("content"));

      await store.delete(["a/key"]);
      await store.delete(["a/key"]);
      await store.delete(["no/such/key"]);

      expect(await store.read("a/key")).toBeUndefined();
      expect(await store.create("a/key", bytes("again"))).toBeDefined();
    });

    it.each([
      "",
      "/a",
      "a/",
      "a//b",
      "../a",
      "a/../b",
      "a/./b",
      ".hidden",
      "a/.hidden",
      "a\\b",
      "a b",
      "ä",
      "a\n",
    ])("refuses the key %j", async (key) => {
      const store = await make();

      await expect(store.create(key, bytes("content"))).rejects.toThrow(TypeError);
      await expect(store.read(key)).rejects.toThrow(TypeError);
      await expect(store.open(key)).rejects.toThrow(TypeError);
      await expect(store.replace(key, bytes("content"), "version")).rejects.toThrow(TypeError);
      await store.create("kept", bytes("content"));
      await expect(store.delete(["kept", key])).rejects.toThrow(TypeError);
      expect(await text(store, "kept")).toBe("content");
      await expect(store.copy(key, "key")).rejects.toThrow(TypeError);
      await expect(store.copy("key", key)).rejects.toThrow(TypeError);
    });
  });
}

export async function keysOf(store: Store, prefix: string, after?: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { key } of store.list(prefix, after)) found.push(key);
  return found;
}

export function listingContract(name: string, make: () => Promise<Store>): void {
  const CONTENT = new TextEncoder().encode("content");

  describe(`a list of ${name}`, () => {
    // "-" and "." sort before "/", digits and letters after it: folders and files mix as in a bucket.
    const SORTED = ["a-b/x", "a.txt", "a/b/c", "a/b0", "a0", "aB/x", "b/1", "b/1.x/y", "b/10"];

    it.each([
      { prefix: "", after: undefined, expected: SORTED },
      { prefix: "a/", after: undefined, expected: ["a/b/c", "a/b0"] },
      { prefix: "a/b", after: undefined, expected: ["a/b/c", "a/b0"] },
      { prefix: "b/1", after: undefined, expected: ["b/1", "b/1.x/y", "b/10"] },
      { prefix: "", after: "a/b/c", expected: ["a/b0", "a0", "aB/x", "b/1", "b/1.x/y", "b/10"] },
      { prefix: "", after: "a/b/a", expected: ["a/b/c", "a/b0", "a0", "aB/x", "b/1", "b/1.x/y", "b/10"] },
      { prefix: "", after: "a/", expected: ["a/b/c", "a/b0", "a0", "aB/x", "b/1", "b/1.x/y", "b/10"] },
      { prefix: "b/", after: "b/1", expected: ["b/1.x/y", "b/10"] },
      { prefix: "b/", after: "b/10", expected: [] },
      { prefix: "c/", after: undefined, expected: [] },
      { prefix: "a/b/c/d", after: undefined, expected: [] },
    ])("lists, of prefix '$prefix' after '$after', $expected", async ({ prefix, after, expected }) => {
      const store = await make();
      for (const key of SORTED.toReversed()) await store.create(key, CONTENT);

      const listed = await keysOf(store, prefix, after);

      expect(listed).toEqual(expected);
    });

    it("gives the time of modification and the size of each listed key", async () => {
      const store = await make();
      await store.create("key", CONTENT);

      const [listed] = await Array.fromAsync(store.list(""));

      expect(listed?.modifiedAtMs).toBeTypeOf("number");
      expect(listed?.bytes).toBe(CONTENT.length);
    });
  });
}
