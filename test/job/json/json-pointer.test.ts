import { describe, expect, it } from "vitest";
import { formatPointer, parsePointer } from "../../../lambdas/job/json/json-document.ts";

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
