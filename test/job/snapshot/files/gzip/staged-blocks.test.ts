import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GzipMember } from "../../../../../lambdas/job/snapshot/files/gzip/gzip-member.ts";
import {
  type DeflatedBlock,
  deflated,
  deflatedBlocks,
  type LineBlock,
  lineBlocks,
  linesIn,
} from "../../../../../lambdas/job/snapshot/files/gzip/line-blocks.ts";
import {
  readStagedBlocks,
  stagedBlock,
} from "../../../../../lambdas/job/snapshot/files/gzip/staged-blocks.ts";
import { bytesOf, streamOf } from "../streams.ts";

const KEY = "runs/uk/some-file";

const staged = async (...texts: readonly string[]): Promise<Buffer> =>
  Buffer.concat(await Promise.all(texts.map(async (text) => stagedBlock(await deflated(Buffer.from(text))))));

const read = (...chunks: readonly Uint8Array[]): Promise<(LineBlock | DeflatedBlock)[]> =>
  // Copied, because a block is valid until the next one is asked for.
  Array.fromAsync(readStagedBlocks(streamOf(...chunks), KEY), (block) => ({
    ...block,
    text: Buffer.from(block.text),
  }));

const textsOf = (blocks: readonly LineBlock[]): string[] => blocks.map(({ text }) => text.toString());

/** The text of a gzip member of these blocks. */
function takenOver(blocks: readonly (LineBlock | DeflatedBlock)[]): string {
  const member = new GzipMember();
  const part = blocks.map((block) => member.add("deflated" in block ? block : expect.fail("not deflated")));
  return gunzipSync(Buffer.concat([...part, member.end()]), { rejectGarbageAfterEnd: true }).toString();
}

const damagedFile = expect.objectContaining({
  code: "STORE_CORRUPT",
  message: expect.stringMatching(
    /^The file runs\/uk\/some-file is damaged: .*\. Delete this file and start again\.$/,
  ),
  fields: { key: KEY },
});

describe("a staged file", () => {
  it("is one text for readers of gzip", async () => {
    expect(gunzipSync(await staged("a\né\n", "b\n")).toString()).toBe("a\né\nb\n");
  });

  it("gives its blocks as they were, however the bytes are cut", async () => {
    const line = fc
      .string({ unit: "binary", minLength: 1 })
      .map((text) => text.replaceAll("\n", "n").toWellFormed());
    const text = fc.array(line, { minLength: 1 }).map((lines) => lines.map((one) => `${one}\n`).join(""));

    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 99 }),
        async (texts, size) => {
          const bytes = await staged(...texts);
          const cuts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
            bytes.subarray(i * size, (i + 1) * size),
          );

          expect(textsOf(await read(...cuts))).toEqual(texts);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("gives blocks that one gzip member takes over", async () => {
    const long = Array.from({ length: 60_000 }, (_, index) => `{"line":${index}}`);
    const file = await Array.fromAsync(deflatedBlocks(lineBlocks(long)), stagedBlock);

    const blocks = await read(...file);

    expect(blocks.length).toBeGreaterThan(1);
    expect(takenOver(blocks)).toBe(`${long.join("\n")}\n`);
    expect(blocks.flatMap(({ text }) => [...linesIn(text)])).toEqual(long);
  });

  it("of an earlier version gives its lines, not deflated", async () => {
    const blocks = await read(gzipSync("a\né\n{}\n"));

    expect(blocks).toEqual([{ text: Buffer.from("a\né\n{}\n") }]);
  });
});

const whole = await staged("one\ntwo\n", "three\n");
const first = await staged("one\ntwo\n");
const second = await staged("three\n");

describe("a damaged staged file", () => {
  it.each<[string, Uint8Array | Promise<Uint8Array>]>([
    ["no bytes", bytesOf("")],
    ["an ordinary gzip member behind a block", Buffer.concat([first, gzipSync("three\n")])],
    ["a block behind an ordinary gzip member", Buffer.concat([gzipSync("one\n"), second])],
    ["something behind the last block", Buffer.concat([whole, bytesOf("junk")])],
    ["zeros behind the last block", Buffer.concat([whole, Buffer.alloc(40)])],
    ["no newline at the end", staged("a\nb")],
    ["no line", staged("")],
    ["an empty line", staged("a\n\nb\n")],
    ["an empty first line", staged("\na\n")],
    ["an empty last line", staged("a\n\n")],
    ["malformed UTF-8", deflated(Buffer.from([0x61, 0xc3, 0x0a])).then(stagedBlock)],
  ])("is refused by name: %s", async (_, bytes) => {
    await expect(read(await bytes)).rejects.toEqual(damagedFile);
  });

  it("gives no other blocks, wherever it is cut off", async () => {
    for (let length = 0; length < whole.length; length += 1) {
      if (length === first.length) continue; // whole blocks: the trailer shows that one is missing
      await expect(read(whole.subarray(0, length)), `cut at ${length}`).rejects.toEqual(damagedFile);
    }
  });

  it("gives no other blocks, whichever bit is flipped", async () => {
    for (let bit = 0; bit < whole.length * 8; bit += 1) {
      const flipped = Buffer.from(whole);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);

      const found = await read(flipped).then(takenOver, (error: unknown) => error);

      // Zeros that only fill a byte mean nothing.
      expect(["one\ntwo\nthree\n", damagedFile], `bit ${bit}`).toContainEqual(found);
    }
  });

  it("passes an error of its source through unchanged", async () => {
    const failure = new Error("the disk is gone");
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield whole.subarray(0, whole.length - 3);
      throw failure;
    }

    await expect(Array.fromAsync(readStagedBlocks(chunks(), KEY))).rejects.toBe(failure);
  });
});
