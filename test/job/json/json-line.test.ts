import { describe, expect, it } from "vitest";
import { columnText, jsonLine, jsonLineBytes } from "../../../lambdas/job/json/json-line.ts";

const VALUES: readonly (readonly [object, string])[] = [
  [{ b: 1, a: null }, '{"b":1,"a":null}'],
  [{ text: "line\nend" }, '{"text":"line\\nend"}'],
  [{ text: "\u2028\u2029\u0085" }, '{"text":"\\u2028\\u2029\\u0085"}'],
  [{ text: "é€😀" }, '{"text":"é€😀"}'],
  [{ text: "\ud800" }, '{"text":"\\ud800"}'],
];

describe("a line of JSON", () => {
  it.each(VALUES)("of %j is %s", (value, line) => {
    expect(jsonLine(value)).toBe(line);
  });

  it.each(VALUES)("has a length that is known without making it: %j", (value, line) => {
    expect(jsonLineBytes(value)).toBe(Buffer.byteLength(line));
  });
});

const textOf = (json: string): string | null => columnText(json, { start: 0, end: json.length });

it.each([
  ['"2026-07-27"', "2026-07-27"],
  ['"d\\u0061y"', "day"],
  ['""', ""],
  ["null", null],
  ["true", "true"],
  ["1.10", "1.10"],
  ["9007199254740993", "9007199254740993"],
  ['{ "a" : [ 1, "x y" ] }', '{"a":[1,"x y"]}'],
  ['"\\ud800"', '"\\ud800"'],
])("%s becomes %j", (json, text) => {
  expect(textOf(json)).toBe(text);
});

it("is null where there is no value", () => {
  expect(columnText("{}", undefined)).toBeNull();
});
