// Random JSON texts that know, by how they are built, what they are without white space and what they mean.

import fc from "fast-check";

export interface JsonText {
  /** With random white space between the tokens. */
  readonly loose: string;
  /** The same without it. */
  readonly tight: string;
  /** Equal for texts that are equal as values: keys sorted, last duplicate only, numbers as text. */
  readonly meaning: string;
}

const white = fc.string({ unit: fc.constantFrom(" ", "\n", "\t", "\r"), maxLength: 3 });

const NUMBERS = ["0", "-0", "1", "1.0", "1.10", "1e400", "-1E-7", "2.5e+3", "9007199254740993"];
const LITERALS = ["true", "false", "null"];

// The pieces of a string's content.
const piece = fc.oneof(
  fc.constantFrom(
    "\\\\",
    '\\"',
    "\\/",
    "\\n",
    "\\u0061",
    "\\ud800",
    "\\u2028",
    "[",
    "}",
    ",",
    ":",
    " ",
    "  ",
  ),
  fc.constantFrom("a", "é", "日", "😀", "\u2028", "\u0085", "\u007f"),
);
const stringText = fc.array(piece, { maxLength: 6 }).map((pieces) => `"${pieces.join("")}"`);

const scalar: fc.Arbitrary<JsonText> = fc.oneof(
  fc.constantFrom(...NUMBERS).map((text) => ({ loose: text, tight: text, meaning: `number ${text}` })),
  fc.constantFrom(...LITERALS).map((text) => ({ loose: text, tight: text, meaning: text })),
  stringText.map((text) => ({ loose: text, tight: text, meaning: meaningOfString(text) })),
);

// Few keys, so that duplicates are common, some of them spelled in two ways.
const key = fc.constantFrom(
  '"a"',
  '"\\u0061"',
  '"date"',
  '"d\\u0061te"',
  '"1"',
  '"0"',
  '"__proto__"',
  '""',
  '"a/b~"',
);

export const jsonText: fc.Arbitrary<JsonText> = fc.letrec<{ node: JsonText }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(fc.tuple(white, tie("node"), white), { maxLength: 4 }).map(arrayOf),
    fc.array(fc.tuple(white, key, white, tie("node"), white), { maxLength: 5 }).map(objectOf),
  ),
})).node;

function arrayOf(items: readonly [string, JsonText, string][]): JsonText {
  return {
    loose: `[${items.map(([before, { loose }, after]) => before + loose + after).join(",")}]`,
    tight: `[${items.map(([, { tight }]) => tight).join(",")}]`,
    meaning: `[${items.map(([, { meaning }]) => meaning).join(",")}]`,
  };
}

function objectOf(members: readonly [string, string, string, JsonText, string][]): JsonText {
  const meanings = new Map(members.map(([, name, , { meaning }]) => [meaningOfString(name), meaning]));
  return {
    loose: `{${members.map(([w1, name, w2, { loose }, w3]) => `${w1}${name}${w2}:${w3}${loose}${w2}`).join(",")}}`,
    tight: `{${members.map(([, name, , { tight }]) => `${name}:${tight}`).join(",")}}`,
    meaning: `{${[...meanings]
      .map(([name, meaning]) => `${name}:${meaning}`)
      .sort()
      .join(",")}}`,
  };
}

function meaningOfString(text: string): string {
  return JSON.stringify(JSON.parse(text));
}

/** Any code units at all, those that trouble readers more often than others. */
export const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\n", "\r", "\u2028", "\u2029", "\u0085", '"', "\\", "\0", "\ud800", "\udc00", "a"),
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  ),
});
