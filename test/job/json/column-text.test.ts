import { expect, it } from "vitest";
import { columnText } from "../../../lambdas/job/json/json-line.ts";

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
