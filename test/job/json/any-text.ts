// Texts of any characters. The unit `binary` of fast-check, and what its `webUrl` encodes, begin with a map of all
// 1.1 million characters, which takes a second in each process.

import fc from "fast-check";

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/** Any character, which is no half of a pair. */
export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - SURROGATES }).map(
  (n) => String.fromCodePoint(n < FIRST_SURROGATE ? n : n + SURROGATES),
  // So that fast-check tries its own texts too, such as `__proto__`.
  (text) => {
    const [codePoint, ...more] = Array.from(String(text), (each) => each.codePointAt(0) ?? 0);
    if (codePoint === undefined || more.length > 0) throw new Error("expected one character");
    return codePoint < FIRST_SURROGATE ? codePoint : codePoint - SURROGATES;
  },
);

export const anyText = fc.string({ unit: anyCharacter });
