import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedPointers, formatPointer, parsePointer } from "../../../lambdas/job/json/json-pointers.ts";
import { jsonText } from "./json-texts.ts";

const nested = (depth: number, inside: string): string =>
  `${'{"a":['.repeat(depth / 2)}${inside}${"]}".repeat(depth / 2)}`;

describe("changedPointers", () => {
  it.each<[string, string, readonly string[]]>([
    ['{"a":1,"b":2}', '{"b":2,"a":1}', []],
    ['{"a":1}', '{"a":2}', ["/a"]],
    ['{"a":1}', '{"b":1}', ["/a", "/b"]],
    ['{"c":{"x":[1,2]},"a":null}', '{"a":false,"c":{"x":[1,3]}}', ["/a", "/c/x/1"]],
    ['{"a":[1,2]}', '{"a":[1,2,3]}', ["/a"]],
    ['{"a":[]}', '{"a":{}}', ["/a"]],
    ['{"a":{}}', '{"a":null}', ["/a"]],
    ['{"a":1}', '{"a":"1"}', ["/a"]],
    ['{"a":1}', '{"a":1.0}', ["/a"]],
    ['{"a":1}', '{"a":{"text":"1"}}', ["/a"]],
    ['{"a":1.10}', '{"a":1.1}', ["/a"]],
    ['{"a":0}', '{"a":-0}', ["/a"]],
    ['{"a":1e400}', '{"a":1e401}', ["/a"]],
    ['{"a":9007199254740993}', '{"a":9007199254740992}', ["/a"]],
    ['{"a":"\\u0061\\/"}', '{"a":"a/"}', []],
    ['{"d\\u0061te":1}', '{"date":1}', []],
    ['{"a":"\\ud800"}', '{"a":"\\ud801"}', ["/a"]],
    ['{"a":1,"a":2}', '{"a":2}', []],
    ['{"a":1,"a":1.0}', '{"a":1}', ["/a"]],
    ['{"A":1}', '{"a":1}', ["/A", "/a"]],
    ['{"2":1,"10":1}', '{"10":2,"2":2}', ["/10", "/2"]],
    ['{"__proto__":{"x":1}}', '{"__proto__":{"x":2}}', ["/__proto__/x"]],
    ['{"__proto__":{"x":1}}', "{}", ["/__proto__"]],
    ['{"toString":1}', "{}", ["/toString"]],
    ['{"a/b":{"m~n":1}}', '{"a/b":{"m~n":2}}', ["/a~1b/m~0n"]],
    ['{"":1}', '{"":2}', ["/"]],
    ["1", "2", [""]],
    ["[1]", "[]", [""]],
    ['[{"a":1}]', '[{"a":2}]', ["/0/a"]],
  ])("from %s to %s are %j", (before, after, expected) => {
    expect(changedPointers(before, after)).toEqual(expected);
  });

  it("are those of a whole document that is nested deeper than 500", () => {
    expect(changedPointers(nested(500, "1"), nested(500, "2"))).toEqual([`${"/a/0".repeat(250)}`]);
    expect(changedPointers(nested(502, "1"), nested(502, "2"))).toEqual([""]);
    expect(changedPointers(nested(200_000, "1"), nested(200_000, "1"))).toEqual([]);
    expect(changedPointers(nested(200_000, "1"), "{}")).toEqual([""]);
    expect(changedPointers("{}", nested(200_000, "1"))).toEqual([""]);
  });

  it("are those inside of a document that is wide and not deep", () => {
    const wide = (last: string) => `[${"[],{},".repeat(600)}${last}]`;

    expect(changedPointers(wide("1"), wide("2"))).toEqual(["/1200"]);
  });

  it("are those of a whole document where they are more than 64 KB as one JSON array", () => {
    // ["/k…/a","/k…/b"]: 13 characters beside the key, which both repeat.
    const twoBelow = (key: string, value: number) => JSON.stringify({ [key]: { a: value, b: value } });
    const half = 32 * 1024 - 6;
    const [fits, longer] = ["k".repeat(half - 1), "k".repeat(half)];

    expect(changedPointers(twoBelow(fits, 1), twoBelow(fits, 2))).toEqual([`/${fits}/a`, `/${fits}/b`]);
    expect(changedPointers(twoBelow(longer, 1), twoBelow(longer, 2))).toEqual([""]);
  });

  it.each([
    ["quotes", '"', 2],
    ["control characters", "\u0001", 6],
    ["lone surrogates", "\ud800", 6],
    ["characters of two bytes", "é", 2],
    ["slashes", "/", 2],
  ])("count %s as they are written", (_, character, bytes) => {
    const leaf = (length: number, value: number) => JSON.stringify({ [character.repeat(length)]: value });
    const half = 64 * 1024 - 5;

    expect(
      changedPointers(leaf(Math.floor(half / bytes), 1), leaf(Math.floor(half / bytes), 2)),
    ).toHaveLength(1);
    expect(changedPointers(leaf(half / 2 + 1, 1), leaf(half / 2 + 1, 2))).toEqual([""]);
  });

  it.each([160, 600, 2_000])("cost little where %i leaves lie below a key of a megabyte", (leaves) => {
    const key = "k".repeat(1_000_000);
    const event = (value: number) =>
      JSON.stringify({
        [key]: Object.fromEntries(Array.from({ length: leaves }, (_, n) => [`f${n}`, value])),
      });

    expect(changedPointers(event(1), event(2))).toEqual([""]);
  });

  it("cost little where everything has changed at the greatest depth", () => {
    const event = (value: number) =>
      `${'{"a":'.repeat(499)}[${Array(200_000).fill(value).join()}]${"}".repeat(499)}`;

    expect(changedPointers(event(1), event(2))).toEqual([""]);
  });

  it("do not count brackets inside of strings as depth", () => {
    const brackets = JSON.stringify("[".repeat(600));

    expect(changedPointers(`{"a":${brackets},"b":1}`, `{"b":2,"a":${brackets}}`)).toEqual(["/b"]);
  });

  it("are none exactly for texts that are equal as values", () => {
    fc.assert(
      fc.property(jsonText, jsonText, (one, other) => {
        expect(changedPointers(one.tight, other.tight).length === 0).toBe(one.meaning === other.meaning);
        expect(changedPointers(one.tight, one.loose)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it.each(['{"secret":1', '{"secret', "secret"])(
    "refuse %s, which is not JSON, without quoting it",
    (text) => {
      const act = () => changedPointers(text, "{}");

      expect(act).toThrow(expect.objectContaining({ code: "STORE_CORRUPT" }));
      expect(act).toThrow(expect.not.objectContaining({ cause: expect.anything() }));
      expect(act).not.toThrow(/secret/);
    },
  );
});

// RFC 6901 §5, and tokens that are easily decoded in the wrong order.
const POINTERS: readonly [string, readonly string[]][] = [
  ["", []],
  ["/", [""]],
  ["/foo/0", ["foo", "0"]],
  ["/a~1b", ["a/b"]],
  ["/m~0n", ["m~n"]],
  ["/~01", ["~1"]],
  ["/~10", ["/0"]],
  ["//a/", ["", "a", ""]],
  ["/c%d/ /é", ["c%d", " ", "é"]],
];

describe("a JSON Pointer", () => {
  it.each(POINTERS)("%j has the tokens %j", (pointer, tokens) => {
    expect(parsePointer(pointer)).toEqual(tokens);
    expect(formatPointer(tokens)).toBe(pointer);
  });

  it.each([
    ["data", 'begin with "/"'],
    ["#/data", 'begin with "/"'],
    ["/a~", '"~" must be followed by'],
    ["/a~2", '"~" must be followed by'],
    ["/~~0", '"~" must be followed by'],
  ])("%j is refused as configuration, saying what is wrong", (pointer, problem) => {
    expect(() => parsePointer(pointer)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(problem) }),
    );
  });
});
