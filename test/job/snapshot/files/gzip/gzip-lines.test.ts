import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gzipLines, readLines } from "../../../../../lambdas/job/snapshot/files/gzip-lines.ts";
import { bytesOf, streamOf } from "../streams.ts";

const read = (...chunks: readonly Uint8Array[]): Promise<string[]> =>
  Array.fromAsync(readLines(streamOf(...chunks), { what: "runs/uk/some-file" }));

const zip = async (lines: readonly string[]): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(gzipLines(lines, { level: 6 })));

const damagedFile = expect.objectContaining({
  code: "STORE_CORRUPT",
  message: expect.stringMatching(
    /^The file runs\/uk\/some-file is damaged: .*\. Delete this file and start again\.$/,
  ),
  fields: { key: "runs/uk/some-file" },
});

describe("lines", () => {
  it("are each written with a newline", async () => {
    expect(gunzipSync(await zip(["a", "é", "日"])).toString()).toBe("a\né\n日\n");
  });

  it("of a large file come back as they were, also those that lie in several chunks", async () => {
    const lengths = [3, 70_000, 128 * 1024 - 1, 1, 300_000, 5, 131_072, 400_000, 2, 900_000];
    const lines = lengths.map(
      (length, n) => `${n}${"é".repeat(length / 2)}${randomBytes(8).toString("hex")}`,
    );

    expect(await read(await zip(lines))).toEqual(lines);
  });

  it("come back from gzip as they were, however the bytes are cut", async () => {
    const line = fc.string({ unit: "binary", minLength: 1 }).map((text) => text.replaceAll("\n", "n"));

    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1 }),
        fc.integer({ min: 1, max: 50 }),
        async (lines, size) => {
          const bytes = await zip(lines);
          const cuts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
            bytes.subarray(i * size, (i + 1) * size),
          );

          expect(await read(...cuts)).toEqual(lines);
        },
      ),
    );
  });

  it("come back when they are longer and more than any buffer", async () => {
    const lines = [
      "x".repeat(1_000_000),
      "é".repeat(300_000),
      ...Array.from({ length: 50_000 }, (_, i) => `line ${i}`),
    ];

    expect(await read(await zip(lines))).toEqual(lines);
  });

  it("are taken from their source only as fast as the result is read", async () => {
    const source = { taken: 0, closed: false };
    async function* endless(): AsyncGenerator<string> {
      try {
        // What does not compress: pieces of a random-looking, repeatable sequence.
        for (let seed = 1; ; seed = (seed * 48_271) % 2_147_483_647) {
          source.taken += 1;
          yield seed.toString(36).repeat(100) + seed;
        }
      } finally {
        source.closed = true;
      }
    }

    const bytes = gzipLines(endless(), { level: 1 });
    await bytes.next();
    await setImmediate();
    const takenAfterOneChunk = source.taken;
    await bytes.return();
    await setImmediate();

    expect(takenAfterOneChunk).toBeLessThan(20_000);
    expect(source).toEqual({ taken: takenAfterOneChunk, closed: true });
  });
});

describe("an error of the source", () => {
  const failure = new Error("the service is gone");

  it("passes through the compressor unchanged", async () => {
    async function* lines(): AsyncGenerator<string> {
      yield "a";
      throw failure;
    }

    await expect(Array.fromAsync(gzipLines(lines(), { level: 6 }))).rejects.toBe(failure);
  });

  it.each([
    ["in the middle", 12],
    ["after the last byte", undefined],
  ])("passes through the reader unchanged, %s", async (_, end) => {
    const bytes = await zip(["a"]);
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, end);
      await setImmediate();
      throw failure;
    }

    await expect(Array.fromAsync(readLines(chunks(), { what: "file" }))).rejects.toBe(failure);
  });
});

describe("a damaged file", () => {
  it.each([
    ["no bytes", bytesOf("")],
    ["no gzip", bytesOf("a\n")],
    ["no line", gzipSync("")],
    ["no newline at the end", gzipSync("a\nb")],
    ["an empty line", gzipSync("a\n\nb\n")],
    ["an empty first line", gzipSync("\na\n")],
    ["an empty last line", gzipSync("a\n\n")],
    ["malformed UTF-8", gzipSync(Buffer.from([0x61, 0xc3, 0x0a]))],
    ["a second gzip member", Buffer.concat([gzipSync("a\n"), gzipSync("b\n")])],
    ["something behind the gzip member", Buffer.concat([gzipSync("a\n"), bytesOf("junk")])],
    ["zeros behind the gzip member", Buffer.concat([gzipSync("a\n"), Buffer.alloc(8)])],
  ])("is refused by name: %s", async (_, bytes) => {
    await expect(read(bytes)).rejects.toEqual(damagedFile);
  });

  it.each([
    ["a second gzip member", gzipSync("b\n")],
    ["something else", bytesOf("junk")],
  ])("is refused when %s comes after it in a chunk of its own", async (_, more) => {
    await expect(read(gzipSync("a\n"), more)).rejects.toEqual(damagedFile);
  });

  it("is refused wherever it is cut off", async () => {
    const whole = await zip(["one", "two", "three"]);

    for (let length = 0; length < whole.length; length += 1) {
      await expect(read(whole.subarray(0, length)), `cut at ${length}`).rejects.toEqual(damagedFile);
    }
  });

  it("never gives other lines, whichever bit is flipped", async () => {
    const whole = await zip(["one", "two", "three"]);

    for (let bit = 0; bit < whole.length * 8; bit += 1) {
      const flipped = Buffer.from(whole);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);

      const found = await read(flipped).catch((error: unknown) => error);

      // A few bits of the gzip header (time, system) mean nothing.
      expect([["one", "two", "three"], damagedFile], `bit ${bit}`).toContainEqual(found);
    }
  });
});
