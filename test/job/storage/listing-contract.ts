// What every store promises of its lists: the order of a bucket, by code unit of the whole key.

import { describe, expect, it } from "vitest";
import type { Store } from "../../../lambdas/job/storage/store.ts";

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
