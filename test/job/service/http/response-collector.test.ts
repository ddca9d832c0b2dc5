import { randomBytes } from "node:crypto";
import { brotliCompressSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteBuffer, decodeBody } from "../../../../lambdas/job/service/http/response-collector.ts";

const SMALL = Buffer.from("0123456789abcdef".repeat(500));
/** A body that stays large when it is compressed. */
const LARGE = randomBytes(40_000);

const COMPRESS = { gzip: gzipSync, br: brotliCompressSync };

describe.each(["gzip", "br"] as const)("a %s body", (encoding) => {
  const compress = COMPRESS[encoding];

  it.each([
    ["small", SMALL],
    ["large", LARGE],
  ])("that is %s is decoded up to the cap", (_, text) => {
    const bytes = compress(text);

    const whole = decodeBody(bytes, encoding, text.length);
    const oversize = decodeBody(bytes, encoding, text.length - 1);

    expect(whole).toMatchObject({ kind: "whole" });
    expect(whole.kind === "whole" && text.equals(whole.bytes)).toBe(true);
    expect(oversize).toEqual({ kind: "oversize" });
  });

  it.each([
    ["small", SMALL],
    ["large", LARGE],
  ])("that is %s and cut off is broken", (_, text) => {
    const half = compress(text).subarray(0, -9);

    expect(decodeBody(half, encoding, 1_000_000)).toEqual({ kind: "broken", cause: "CUT_OFF" });
  });

  it("that is small, but not when it is decoded, stops at the cap", () => {
    const bomb = compress(Buffer.alloc(10_000_000));
    expect(bomb.length).toBeLessThan(16_384);

    expect(decodeBody(bomb, encoding, 4_000_000)).toEqual({ kind: "oversize" });
  });
});

describe("gzip", () => {
  it("may have several members, of which the end names the length of the last one only", () => {
    const bytes = Buffer.concat([gzipSync(SMALL), gzipSync("!")]);

    const decoded = decodeBody(bytes, "gzip", 1_000_000);

    expect(decoded.kind === "whole" && Buffer.from(decoded.bytes).toString()).toBe(`${SMALL}!`);
  });

  it.each([gzipSync(""), Buffer.alloc(0)])("of nothing is an empty body: %j", (bytes) => {
    const decoded = decodeBody(bytes, "gzip", 1_000_000);

    expect(decoded.kind === "whole" && decoded.bytes.length).toBe(0);
  });
});

describe("a buffer of bytes", () => {
  it("holds what was added, in order", () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 50_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(pieces, (added) => {
        const buffer = new ByteBuffer();
        for (const piece of added) buffer.add(piece);

        expect(buffer.length).toBe(Buffer.concat(added).length);
        expect(Buffer.concat(added).equals(buffer.bytes)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("does not copy a single piece", () => {
    const buffer = new ByteBuffer();
    const piece = Buffer.from("x");
    buffer.add(piece);

    expect(buffer.bytes).toBe(piece);
  });

  it("takes no more than twice the bytes, however small the pieces are", () => {
    const buffer = new ByteBuffer();
    for (let n = 0; n < 1_000_000; n += 1) buffer.add(new Uint8Array(1));

    expect(buffer.bytes.buffer.byteLength).toBe(1_048_576);
  });
});
