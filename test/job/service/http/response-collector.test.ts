import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteBuffer } from "../../../../lambdas/job/service/http/response-collector.ts";

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
