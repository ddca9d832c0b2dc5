import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { gzipLines, readLines } from "../../../../lambdas/job/snapshot/files/gzip-lines.ts";
import { told, toldBy } from "../../../words/said.ts";
import { anyCharacter } from "../../json/any-text.ts";
import { bytesOf, streamOf } from "./streams.ts";

const read = (...chunks: readonly Uint8Array[]): Promise<string[]> =>
  Array.fromAsync(readLines(streamOf(...chunks), "runs/uk/some-file"));

const zip = async (lines: readonly string[]): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(gzipLines(lines)));

/** Lines that do not compress, so their file is larger than what goes to zlib at once. */
const LARGE: readonly string[] = Array.from({ length: 600 }, () => randomBytes(400).toString("hex"));

/** The file in pieces of the size. */
const cut = (bytes: Uint8Array, size: number): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));

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
    const line = fc.string({ unit: anyCharacter, minLength: 1 }).map((text) => text.replaceAll("\n", "n"));

    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1 }),
        fc.integer({ min: 1, max: 50 }),
        async (lines, size) => {
          expect(await read(...cut(await zip(lines), size))).toEqual(lines);
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each([1_000, 64 * 1024, 128 * 1024, 200_000])(
    "of a large file come back when its bytes are cut after each %d",
    async (size) => {
      expect(await read(...cut(await zip(LARGE), size))).toEqual(LARGE);
    },
  );

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

    const bytes = gzipLines(endless());
    await bytes.next();
    await setImmediate();
    const takenAfterOneChunk = source.taken;
    await bytes.return();
    await setImmediate();

    expect(takenAfterOneChunk).toBeLessThan(20_000);
    expect(source).toEqual({ taken: takenAfterOneChunk, closed: true });
  });

  it("of a large file are read no further than they are taken, and its source is closed", async () => {
    const source = { taken: 0, closed: false };
    const pieces = cut(await zip(Array.from({ length: 10 }, () => LARGE).flat()), 64 * 1024);
    async function* chunks(): AsyncGenerator<Uint8Array> {
      try {
        for (const piece of pieces) {
          source.taken += 1;
          yield piece;
        }
      } finally {
        source.closed = true;
      }
    }

    const lines = readLines(chunks(), "file");
    await lines.next();
    await lines.return();
    await setImmediate();

    expect(pieces.length).toBeGreaterThan(35);
    expect(source).toEqual({ taken: expect.toSatisfy((taken: number) => taken < 30), closed: true });
  });
});

describe("an error of the source", () => {
  const failure = new SyncError("STORE_FAILED", "the service is gone");

  it.each([
    ["few", ["a"]],
    ["many", LARGE],
  ])("passes through the compressor unchanged after %s lines", async (_, some) => {
    async function* lines(): AsyncGenerator<string> {
      yield* some;
      throw failure;
    }

    await expect(Array.fromAsync(gzipLines(lines()))).rejects.toBe(failure);
  });

  it.each([
    ["in the middle", ["a"], 12],
    ["after the last byte", ["a"], undefined],
    ["in the middle of a large file", LARGE, 200_000],
    ["after the last byte of a large file", LARGE, undefined],
  ])("passes through the reader unchanged, %s", async (_, lines, end) => {
    const bytes = await zip(lines);
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, end);
      await setImmediate();
      throw failure;
    }

    await expect(Array.fromAsync(readLines(chunks(), "file"))).rejects.toBe(failure);
  });
});

describe("a damaged file", () => {
  it.each([
    ["no bytes", bytesOf("")],
    ["no gzip", bytesOf("a\n")],
    ["no newline at the end", gzipSync("a\nb")],
    ["an empty line", gzipSync("a\n\nb\n")],
    ["an empty first line", gzipSync("\na\n")],
    ["an empty last line", gzipSync("a\n\n")],
    ["malformed UTF-8", gzipSync(Buffer.from([0x61, 0xc3, 0x0a]))],
    ["a second gzip member", Buffer.concat([gzipSync("a\n"), gzipSync("b\n")])],
    ["something behind the gzip member", Buffer.concat([gzipSync("a\n"), bytesOf("junk")])],
    ["zeros behind the gzip member", Buffer.concat([gzipSync("a\n"), Buffer.alloc(8)])],
  ])("is refused by name: %s", async (_, bytes) => {
    expect(await toldBy(read(bytes))).toEqual(damagedFile);
  });

  it.each([
    ["a second gzip member", gzipSync("b\n")],
    ["something else", bytesOf("junk")],
  ])("is refused when %s comes after it in a chunk of its own", async (_, more) => {
    expect(await toldBy(read(gzipSync("a\n"), more))).toEqual(damagedFile);
  });

  it.each<[what: string, damage: (whole: Buffer) => Buffer]>([
    ["a second gzip member", (whole) => Buffer.concat([whole, gzipSync("b\n")])],
    ["something behind the gzip member", (whole) => Buffer.concat([whole, bytesOf("junk")])],
    ["no end", (whole) => whole.subarray(0, -1)],
    ["its first half", (whole) => whole.subarray(0, whole.length / 2)],
    ["another checksum", (whole) => Buffer.concat([whole.subarray(0, -8), Buffer.alloc(8)])],
  ])("is refused by name where it is large: %s", async (_, damage) => {
    expect(await toldBy(read(damage(await zip(LARGE))))).toEqual(damagedFile);
  });

  it("is refused wherever it is cut off", async () => {
    const whole = await zip(["one", "two", "three"]);

    for (let length = 0; length < whole.length; length += 1) {
      expect(await toldBy(read(whole.subarray(0, length))), `cut at ${length}`).toEqual(damagedFile);
    }
  });

  it("never gives other lines, whichever bit is flipped", async () => {
    const whole = await zip(["one", "two", "three"]);

    for (let bit = 0; bit < whole.length * 8; bit += 1) {
      const flipped = Buffer.from(whole);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);

      const found = await read(flipped).catch(told);

      // A few bits of the gzip header (time, system) mean nothing.
      expect([["one", "two", "three"], damagedFile], `bit ${bit}`).toContainEqual(found);
    }
  });
});
