import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonDocument, parsePointer } from "../../../lambdas/job/json/json-document.ts";
import { MalformedJson, OversizeJson, rootSpan, valueAt } from "../../../lambdas/job/json/json-scanner.ts";

const at = (text: string, pointer: string): string | undefined => {
  const json = new JsonDocument(Buffer.from(text));
  const span = json.valueAt(parsePointer(pointer), json.rootSpan());
  return span && json.decoded(span);
};

describe("a value in a document", () => {
  it.each([
    [' {"a": 1} ', "", '{"a": 1}'],
    ['\ufeff{"a":1}', "/a", "1"],
    ['{"é":{"ж" : [1, "👍" ]}}', "/é/ж/1", '"👍"'],
    ['{"d\\u0061te":"x"}', "/date", '"x"'],
    ['{"\\u00e9é":"x"}', "/éé", '"x"'],
    ['{"Ã©":1,"é":2}', "/é", "2"],
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

  it("has the place that it has in a text", () => {
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
          const document = new JsonDocument(bytes);
          const root = document.rootSpan();
          const child = document.valueAt([key], root);
          return [root, child].map((span) => JSON.stringify(span ?? null));
        });
        const expected = spans(() => {
          const root = rootSpan(latin1);
          return [root, valueAt(latin1, [key], root)].map((span) => JSON.stringify(span ?? null));
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
    expect(() => new JsonDocument(Buffer.from(nested(depth))).rootSpan()).not.toThrow();
  });

  it.each([1_002, 2_000_000])("is one that is nested %i levels deep, closed or not", (depth) => {
    for (const text of [nested(depth), "[".repeat(depth), '{"a":'.repeat(depth)]) {
      expect(() => new JsonDocument(Buffer.from(text)).rootSpan()).toThrow(
        new OversizeJson("is nested more than 1,000 levels deep"),
      );
    }
  });

  it("is one with more than a million children in what is walked through", () => {
    const array = (count: number): Buffer => Buffer.from(`[${"0,".repeat(count - 1)}0]`);
    const object = (count: number): Buffer => Buffer.from(`{${'"":0,'.repeat(count - 1)}"a":0}`);
    const walk = (bytes: Buffer, pointer: string): unknown => {
      const json = new JsonDocument(bytes);
      return json.valueAt(parsePointer(pointer), json.rootSpan());
    };
    const tooWide = new OversizeJson("has more than 1,000,000 entries in one array or object");

    expect(walk(array(1_000_000), "/999999")).toEqual({ start: 1_999_999, end: 2_000_000 });
    expect(() => walk(array(1_000_001), "/1000000")).toThrow(tooWide);
    expect(walk(object(1_000_000), "/a")).toBeDefined();
    expect(() => walk(object(1_000_001), "/a")).toThrow(tooWide);
  });
});
