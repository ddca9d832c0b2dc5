import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatPointer,
  JsonDocument,
  JsonWindow,
  MalformedUtf8,
  parsePointer,
} from "../../../lambdas/job/json/json-document.ts";
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

const windowOf = (...pieces: readonly (string | readonly number[])[]): JsonWindow => {
  const window = new JsonWindow();
  for (const piece of pieces) window.add(Buffer.from(typeof piece === "string" ? piece : [...piece]));
  return window;
};
const textOf = (window: JsonWindow, isLast: boolean): string => window.view(isLast).bytes.toString();

describe("the window on a text that arrives", () => {
  it("shows what has arrived and is not released", () => {
    const window = windowOf("[1,", "2,3");
    window.release(3);

    expect(textOf(window, false)).toBe("2,3");
    expect(window.length).toBe(3);
  });

  it("keeps its bytes when it grows and when it moves them", () => {
    const window = windowOf("a".repeat(16_000));
    window.release(15_999);
    for (let n = 0; n < 40_000; n += 1) window.add(Buffer.from("b"));

    expect(textOf(window, true)).toBe(`a${"b".repeat(40_000)}`);
  });

  it.each(["é", "ж", "€", "👍"])("waits for the rest of %s", (character) => {
    const bytes = [...Buffer.from(character)];
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const window = windowOf("x", bytes.slice(0, cut));

      expect(textOf(window, false)).toBe("x");
      expect(() => window.view(true)).toThrow(MalformedUtf8);
      window.add(Buffer.from(bytes.slice(cut)));
      expect(textOf(window, true)).toBe(`x${character}`);
    }
  });

  it.each([
    ["a byte that continues nothing", [0x80]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["an overlong form", [0xc0, 0xaf]],
    ["a character that breaks off inside", [0xe2, 0x82, 0x61]],
    ["what no character begins with", [0xff, 0x61]],
  ])("refuses %s", (_, bytes) => {
    expect(() => windowOf("x", bytes, "y").view(false)).toThrow(MalformedUtf8);
  });
});
