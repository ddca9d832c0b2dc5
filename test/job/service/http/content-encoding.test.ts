import { randomBytes } from "node:crypto";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decodeBody } from "../../../../lambdas/job/service/http/response-collector.ts";

const SMALL = Buffer.from("0123456789abcdef".repeat(500));
/** It stays large when it is compressed. */
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
