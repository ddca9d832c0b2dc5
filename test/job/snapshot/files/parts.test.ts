import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { readParts, writeParts } from "../../../../lambdas/job/snapshot/files/parts.ts";
import { toldBy } from "../../../words/said.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { streamOf } from "./streams.ts";

const PREFIX = "snapshots/uk/s/";
const key = (index: number): string => `${PREFIX}part-0000${index}.ndjson.gz`;

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

async function textOf(index: number): Promise<string | undefined> {
  const stored = await store.read(key(index));
  return stored && gunzipSync(stored.bytes).toString();
}

async function storedAs(index: number): Promise<object> {
  const { bytes = Buffer.alloc(0) } = (await store.read(key(index))) ?? {};
  return { bytes: bytes.length, sha256: hash("sha256", bytes, "hex") };
}

const write = (lines: readonly string[], maxBytes?: number) =>
  writeParts({ store, key, lines: streamOf(...lines), ...(maxBytes === undefined ? {} : { maxBytes }) });

describe("writeParts", () => {
  it("writes one file and says what is in it", async () => {
    const parts = await write(["a", "é"]);

    expect(parts).toEqual([
      {
        file: "part-00000.ndjson.gz",
        rows: 2,
        bytes: 5,
        // printf 'a\né\n' | sha256sum
        sha256: "3b8e79201784bc682391208841e1a8828ef127e472db56268550ec614ae629b8",
        stored: await storedAs(0),
      },
    ]);
    expect(await textOf(0)).toBe("a\né\n");
  });

  it("writes no file when there are no lines", async () => {
    expect(await write([])).toEqual([]);
    expect(store.keys()).toEqual([]);
  });

  it.each([
    ["exactly full", ["aaaa", "bbbb", "cccc"], 10, ["aaaa\nbbbb\n", "cccc\n"]],
    ["a byte short", ["aaaa", "bbbb", "cccc"], 9, ["aaaa\n", "bbbb\n", "cccc\n"]],
    ["bytes, not characters", ["é", "é", "é"], 6, ["é\né\n", "é\n"]],
    ["a line that is too long for any part", ["a", "bbbbbbbbbb", "c"], 4, ["a\n", "bbbbbbbbbb\n", "c\n"]],
    ["room left for a later, shorter line", ["aa", "bbbbb", "c"], 6, ["aa\n", "bbbbb\n", "c\n"]],
  ])("cuts greedily: %s", async (_, lines, maxBytes, expected) => {
    const parts = await write(lines, maxBytes);

    expect(await Promise.all(parts.map((_part, index) => textOf(index)))).toEqual(expected);
    expect(store.keys()).toHaveLength(expected.length);
    expect(parts.map(({ bytes }) => bytes)).toEqual(expected.map((text) => Buffer.byteLength(text)));
  });

  it("passes an error of the lines through unchanged, closes them, and leaves nothing of that part", async () => {
    const failure = new Error("a damaged line");
    let closed = false;
    async function* lines(): AsyncGenerator<string> {
      try {
        for (let line = 0; line < 20; line += 1) yield "a".repeat(100_000);
        throw failure;
      } finally {
        closed = true;
      }
    }

    await expect(writeParts({ store, key, lines: lines(), maxBytes: 1_000_000 })).rejects.toBe(failure);

    expect(store.keys()).toEqual([key(0), key(1)]);
    expect(closed).toBe(true);
  });

  it("passes an error of the store through unchanged once the lines are closed", async () => {
    const failure = new Error("the disk is full");
    let closed = false;
    store.create = async (_key, body) => {
      if (body instanceof Uint8Array) return undefined;
      for await (const _ of body) throw failure;
      return undefined;
    };
    async function* lines(): AsyncGenerator<string> {
      try {
        for (;;) yield "a".repeat(1_000);
      } finally {
        await setImmediate();
        closed = true;
      }
    }

    await expect(writeParts({ store, key, lines: lines() })).rejects.toBe(failure);

    expect(closed).toBe(true);
  });
});

describe("a part that is there already", () => {
  const LINES = ["aaaa", "bbbb", "cccc", "dddd", "eeee"];

  it("is used when it holds the same lines, and the others are written", async () => {
    const undisturbed = await writeParts({
      store: new MemoryStore(),
      key,
      lines: streamOf(...LINES),
      maxBytes: 10,
    });
    store.put(key(0), gzipSync("aaaa\nbbbb\n", { level: 1 }));
    store.put(key(1), gzipSync("cccc\ndddd\n", { level: 9 }));

    const parts = await write(LINES, 10);

    expect(parts).toEqual(
      await Promise.all(undisturbed.map(async (part, index) => ({ ...part, stored: await storedAs(index) }))),
    );
    expect(await textOf(2)).toBe("eeee\n");
  });

  it.each([
    ["another line", "aaaa\nbbbB\n"],
    ["a line less", "aaaa\n"],
    ["a line more", "aaaa\nbbbb\ncccc\n"],
    ["another order", "bbbb\naaaa\n"],
    ["half a line", "aaaa\nbb"],
  ])("is refused by name with the remedy when it holds %s", async (_what, text) => {
    store.put(key(0), gzipSync(text));

    expect(await toldBy(write(LINES, 10))).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(
        /part-00000\.ndjson\.gz is damaged: .* Delete this file and start again\.$/,
      ),
    });
  });

  it("is compared whole, however many chunks it has", async () => {
    // What does not compress, so that gzip gives more than one chunk, and from a source that takes its time.
    const many = Array.from({ length: 5_000 }, (_unused, index) => hash("sha256", `${index}`));
    async function* slowly(lines: readonly string[]): AsyncGenerator<string> {
      for (const [index, line] of lines.entries()) {
        if (index % 50 === 0) await setImmediate();
        yield line;
      }
    }
    const [first] = await writeParts({ store, key, lines: slowly(many) });

    const again = await writeParts({ store, key, lines: slowly(many) });
    const other = writeParts({ store, key, lines: slowly([...many.slice(0, -1), "other"]) });

    expect(again).toEqual([first]);
    await expect(other).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });
});

describe("readParts", () => {
  it("gives the lines of all parts in order", async () => {
    const parts = await write(["aaaa", "bbbb", "cccc"], 10);

    expect(await Array.fromAsync(readParts(store, PREFIX, parts))).toEqual(["aaaa", "bbbb", "cccc"]);
    expect(await Array.fromAsync(readParts(store, PREFIX, parts.slice(1)))).toEqual(["cccc"]);
    expect(await Array.fromAsync(readParts(store, PREFIX, []))).toEqual([]);
  });

  it.each([
    ["missing", undefined],
    ["cut off", gzipSync("aaaa\n").subarray(0, 20)],
    ["another file, with as many rows", gzipSync("xxxx\nbbbb\n")],
    ["a row short", gzipSync("aaaa\n")],
  ])("refuses a part that is %s by name, to be restored and not deleted", async (_, bytes) => {
    const [part] = await write(["aaaa", "bbbb"], 100);
    await store.delete([key(0)]);
    if (bytes) store.put(key(0), bytes);

    expect(await toldBy(Array.fromAsync(readParts(store, PREFIX, part ? [part] : [])))).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(/part-00000\.ndjson\.gz is damaged: .* Restore it from a backup/),
    });
  });

  it("refuses a part with as many rows as it was written with where its manifest says another number", async () => {
    const [part] = await write(["aaaa", "bbbb"], 100);

    await expect(
      Array.fromAsync(readParts(store, PREFIX, part ? [{ ...part, rows: 3 }] : [])),
    ).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining("its 2 rows are not the 3 rows it was made of"),
    });
  });
});
