import { describe, expect, it } from "vitest";
import { jsonLine, jsonLineBytes } from "../../../lambdas/job/json/json-line.ts";

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
