import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, it } from "vitest";
import { crc32Combine } from "../../../../../lambdas/job/snapshot/files/gzip/crc32-combine.ts";

it.each([
  // printf '%s' "$text" | gzip -c | tail -c8 | head -c4 | od -An -tx4
  ["hello ", "world", 0x0d4a1185],
  ["", "hello world", 0x0d4a1185],
  ["hello world", "", 0x0d4a1185],
  ["", "", 0],
])("the checksum of %j and %j is that of both in one", (first, second, expected) => {
  expect(crc32Combine(crc32(first), crc32(second), second.length)).toBe(expected);
});

it("is that of the whole, wherever it is cut", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), fc.nat({ max: 5_000 }), (bytes, at) => {
      const [first, second] = [bytes.subarray(0, at), bytes.subarray(at)];

      expect(crc32Combine(crc32(first), crc32(second), second.length)).toBe(crc32(bytes));
    }),
  );
});

it("is that of the whole for long pieces, one after the other", () => {
  const whole = Buffer.alloc(40_000_000, "0123456789abc");
  const sizes = [1, 2 ** 24, 2 ** 16 - 1, 2 ** 20 + 7, 2 ** 23];
  let combined = 0;
  let at = 0;
  for (const size of [...sizes, whole.length - sizes.reduce((a, b) => a + b)]) {
    combined = crc32Combine(combined, crc32(whole.subarray(at, at + size)), size);
    at += size;
  }

  expect(combined).toBe(crc32(whole));
});

it("takes lengths of more than 4 GiB", () => {
  const [first, second] = [crc32("first"), crc32("second")];
  // A polynomial of degree 32 divides x^(2^32 - 1) - 1 where it is primitive, and gzip's is: so this many bits are a circle.
  const circle = 2 ** 32 - 1;

  expect(crc32Combine(first, second, circle * 8 + 6)).toBe(crc32Combine(first, second, 6));
});
