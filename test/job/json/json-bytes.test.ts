import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as inBytes from "../../../lambdas/job/json/json-bytes.ts";
import { parsePointer } from "../../../lambdas/job/json/json-pointer.ts";
import * as inText from "../../../lambdas/job/json/json-scanner.ts";
import { MalformedJson } from "../../../lambdas/job/json/json-tokens.ts";

const at = (text: string, pointer: string): string | undefined => {
  const bytes = Buffer.from(text);
  const span = inBytes.valueAt(bytes, parsePointer(pointer), inBytes.rootSpan(bytes));
  return span && bytes.toString("utf8", span.start, span.end);
};

describe("a value in bytes", () => {
  it.each([
    [' {"a": 1} ', "", '{"a": 1}'],
    ['\ufeff{"a":1}', "/a", "1"],
    ['{"é":{"ж" : [1, "👍" ]}}', "/é/ж/1", '"👍"'],
    ['{"d\\u0061te":"x"}', "/date", '"x"'],
    ['{"a":1,"a":{"b":2}}', "/a/b", "2"],
    ['{"a":{"b":2},"a":1}', "/a/b", undefined],
    ['{"a":"]} \\" , {[\\\\","b":-0}', "/b", "-0"],
    ["[1,2]", "/1", "2"],
    ["[1,2]", "/2", undefined],
    ["[1,2]", "/-", undefined],
    ["[1,2]", "/01", undefined],
    ['"text"', "/0", undefined],
  ])("of %s at %s is %s", (text, pointer, expected) => {
    expect(at(text, pointer)).toBe(expected);
  });

  it("is found where it is in the text, or not, alike", () => {
    const text = fc.oneof(
      fc.json(),
      fc.string({ unit: fc.constantFrom(...'[]{},:"\\ 1at\n'), maxLength: 12 }),
    );
    const spans = (find: () => readonly string[]): readonly string[] | string => {
      try {
        return find();
      } catch (error) {
        if (error instanceof MalformedJson) return error.message;
        throw error;
      }
    };
    fc.assert(
      fc.property(text, fc.constantFrom("", "a", "0", "t"), (json, key) => {
        const bytes = Buffer.from(json, "latin1"); // a place is then the same in bytes and in characters
        const latin1 = bytes.toString("latin1");

        const found = spans(() => {
          const root = inBytes.rootSpan(bytes);
          const child = inBytes.valueAt(bytes, [key], root);
          return [root, child].map((span) => JSON.stringify(span ?? null));
        });
        const expected = spans(() => {
          const root = inText.rootSpan(latin1);
          return [root, inText.valueAt(latin1, [key], root)].map((span) => JSON.stringify(span ?? null));
        });

        expect(found).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a text that is too large", () => {
  const nested = (depth: number): string => `${'{"x":['.repeat(depth / 2)}${"]}".repeat(depth / 2)}`;

  it.each([1_000, 2])("is not one that is nested %i levels deep", (depth) => {
    expect(() => inBytes.rootSpan(Buffer.from(nested(depth)))).not.toThrow();
  });

  it.each([1_002, 2_000_000])("is one that is nested %i levels deep, closed or not", (depth) => {
    for (const text of [nested(depth), "[".repeat(depth), '{"a":'.repeat(depth)]) {
      expect(() => inBytes.rootSpan(Buffer.from(text))).toThrow(
        new inBytes.OversizeJson("is nested more than 1,000 levels deep"),
      );
    }
  });

  it("is one with more than a million children in what is walked through", () => {
    const array = (count: number): Buffer => Buffer.from(`[${"0,".repeat(count - 1)}0]`);
    const object = (count: number): Buffer => Buffer.from(`{${'"":0,'.repeat(count - 1)}"a":0}`);
    const walk = (bytes: Buffer, pointer: string): unknown =>
      inBytes.valueAt(bytes, parsePointer(pointer), inBytes.rootSpan(bytes));
    const tooWide = new inBytes.OversizeJson("has more than 1,000,000 entries in one array or object");

    expect(walk(array(1_000_000), "/999999")).toEqual({ start: 1_999_999, end: 2_000_000 });
    expect(() => walk(array(1_000_001), "/1000000")).toThrow(tooWide);
    expect(walk(object(1_000_000), "/a")).toBeDefined();
    expect(() => walk(object(1_000_001), "/a")).toThrow(tooWide);
  });
});
