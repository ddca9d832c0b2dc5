import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePointer } from "../../../lambdas/job/json/json-pointers.ts";
import {
  compact,
  elements,
  hasDuplicateKeys,
  MalformedJson,
  members,
  OversizeJson,
  rootSpan,
  valueAt,
} from "../../../lambdas/job/json/json-scanner.ts";
import { jsonText } from "./json-texts.ts";

const at = (text: string, pointer: string): string | undefined => {
  const span = valueAt(text, parsePointer(pointer));
  return span && text.slice(span.start, span.end);
};

describe("valueAt", () => {
  it.each([
    [' {"a": 1} ', "", '{"a": 1}'],
    ['{"a":{"b" : [1, 2.50 ]}}', "/a/b/1", "2.50"],
    ['{"d\\u0061te":"x"}', "/date", '"x"'],
    ['{"date":"x"}', "/d\\u0061te", undefined],
    ['{"a":1,"a":{"b":2}}', "/a/b", "2"],
    ['{"a":{"b":2},"a":1}', "/a/b", undefined],
    ['{"A":1,"a":2}', "/a", "2"],
    ['{"10":1,"2":2,"":3}', "/", "3"],
    ['{"":{"":[]}}', "//", "[]"],
    ['{"a/b":1,"m~n":2}', "/a~1b", "1"],
    ['{"a/b":1,"m~n":2}', "/m~0n", "2"],
    ['{"__proto__":{"x":9007199254740993}}', "/__proto__/x", "9007199254740993"],
    ["{}", "/toString", undefined],
    ['[["a"],["b"]]', "/1/0", '"b"'],
    ["[1,2]", "/2", undefined],
    ["[1,2]", "/-", undefined],
    ["[1,2]", "/01", undefined],
    ["[1,2]", "/+1", undefined],
    ["[1,2]", "/1e0", undefined],
    ["[1,2]", `/1${"0".repeat(400)}`, undefined],
    ["[]", "/0", undefined],
    ['"text"', "/0", undefined],
    ['{"a":"]} \\" , {[","b":-0}', "/b", "-0"],
    ['{"a":"\\\\","b":1e400}', "/b", "1e400"],
    ['{"a":"\\\\\\"","b":1.10}', "/b", "1.10"],
    ['{"\\"":1,"\\\\":2}', "/\\", "2"],
    ['{"\\ud800":1}', "/\ud800", "1"],
    ['{"a":"\u2028","b":null}', "/b", "null"],
  ])("in %s finds at %s %s", (text, pointer, expected) => {
    expect(at(text, pointer)).toBe(expected);
  });

  it("looks inside the given span only", () => {
    const text = '[{"a":1},{"a":2}]';

    const second = valueAt(text, ["a"], { start: 9, end: 16 });

    expect(second).toEqual({ start: 14, end: 15 });
  });

  it.each([300, 998])("finds what follows a value that is %i deep", (depth) => {
    const text = `{"a":${"[".repeat(depth)}${"]".repeat(depth)},"b":${'{"x":'.repeat(depth)}1${"}".repeat(depth)},"c":7}`;

    expect(at(text, "/c")).toBe("7");
    expect(compact(text)).toBe(text);
  });

  it("finds what follows a text of a megabyte, whatever it contains", () => {
    const megabyte = '\\"]}\\\\'.repeat(150_000);

    expect(at(`{"a":"${megabyte}","b":1}`, "/b")).toBe("1");
  });
});

describe("a text that is not JSON", () => {
  it.each([
    ["", "a value at character 0"],
    [" \n", "a value at character 2"],
    ["\ufeff{}", "a value at character 0"],
    ["\u00a01", "a value at character 0"],
    ["1 2", "the end of the text at character 2"],
    ["{} {}", "the end of the text at character 3"],
    ["[1 2]", '"," or "]" at character 3'],
    ["[1,]", "a value at character 3"],
    ["[,1]", "a value at character 1"],
    ["[1", '"," or "]" at character 2'],
    ["[1}", '"," or "]" at character 2'],
    ["[", "a value at character 1"],
    ["]", "a value at character 0"],
    ["{", "a string at character 1"],
    ['{"a"}', '":" at character 4'],
    ['{"a":}', "a value at character 5"],
    ['{"a":1,}', "a string at character 7"],
    ['{"a":1 "b":2}', '"," or "}" at character 7'],
    ["{a:1}", "a string at character 1"],
    ['{"a":1]', '"," or "}" at character 6'],
    ['{"a":[{"b":1,2]}}', "a string at character 13"],
    ['"abc', "the end of the string that begins at character 0"],
    ['["abc\\"]', "the end of the string that begins at character 1"],
    ["'a'", "a value at character 0"],
    ["1/*x*/", "the end of the text at character 1"],
  ])("%j: expected %s", (text, expected) => {
    const position = Number(expected.split(" ").at(-1));
    expect(() => rootSpan(text)).toThrow(new MalformedJson(expected.split(" at ")[0] ?? "", position));
    expect(() => valueAt(text, [])).toThrow(MalformedJson);
  });

  it("is named with its place and never quoted", () => {
    const act = () => rootSpan('{"email":"ann@example.com" "password":"hunter2"}');

    expect(act).toThrow(/^expected "," or "}" at character 27$/);
  });

  it("is noticed in a key that has a broken escape, without quoting it", () => {
    const text = '{"\\usecret":1}';

    expect(() => valueAt(text, ["x"])).toThrow(/^expected a well-formed string at character 1$/);
  });
});

describe("elements and members", () => {
  it("give every element's span, in order", () => {
    const text = ' [ 1 , "a,b" ,[2] ]';

    expect([...elements(text, rootSpan(text))].map(({ start, end }) => text.slice(start, end))).toEqual([
      "1",
      '"a,b"',
      "[2]",
    ]);
  });

  it("give every member in order, keys decoded, duplicates included", () => {
    const text = '{"2":true, "1" :{} ,"\\u0032" : "x"}';

    const found = [...members(text, rootSpan(text))];

    expect(found.map(({ key, value }) => [key, text.slice(value.start, value.end)])).toEqual([
      ["2", "true"],
      ["1", "{}"],
      ["2", '"x"'],
    ]);
  });

  it("give nothing for what is empty, and refuse what is of the other kind", () => {
    const empty = (text: string) => rootSpan(text);

    expect([...elements("[ ]", empty("[ ]"))]).toEqual([]);
    expect([...members("{\n}", empty("{\n}"))]).toEqual([]);
    expect(() => [...elements("{}", empty("{}"))]).toThrow(MalformedJson);
    expect(() => [...members("[]", empty("[]"))]).toThrow(MalformedJson);
  });
});

it.each([
  ['{"a":1,"a":1}', true],
  ['[0,{"b":{"a":1,"a":{}}}]', true],
  ['{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}', false],
  ['{ "a" : 1 , "\\u0061" : 2 }', true],
  ['{"a":"a","b":"a:","c":["c","c"]}', false],
  ['{"a":{},"b":[],"a":1}', true],
  ['{"__proto__":1,"constructor":2}', false],
  ['"a"', false],
])("an object of %s has a key twice: %s", (text, expected) => {
  expect(hasDuplicateKeys(text)).toBe(expected);
});

describe("compact", () => {
  it.each([
    [' { "a" : [ 1 , 2.50 ] ,\r\n\t"b" : " x  y " } ', '{"a":[1,2.50],"b":" x  y "}'],
    ['{"b":1,"a":9007199254740993,"b":1e400}', '{"b":1,"a":9007199254740993,"b":1e400}'],
    [
      '[ 1.10 , -0 , "\\ud800" , "\\u00e9\\/" , "\u2028 \u0085" ]',
      '[1.10,-0,"\\ud800","\\u00e9\\/","\u2028 \u0085"]',
    ],
    [' "a \\" b" ', '"a \\" b"'],
    ["[ ]", "[]"],
  ])("turns %j into %j", (text, expected) => {
    expect(compact(text)).toBe(expected);
  });

  it.each([
    ["1 2", "no other value at character 2"],
    ["[1,tr\n ue]", "no other value at character 7"],
    ["- 1", "no other value at character 2"],
    ['{"a":1E +5}', "no other value at character 8"],
    ['{"a', "the end of the string that begins at character 1"],
  ])("refuses %j, which would become JSON, or has no end: expected %s", (text, expected) => {
    expect(() => compact(text)).toThrow(new RegExp(`^expected ${expected}$`));
    expect(() => compact(text)).toThrow(MalformedJson);
  });

  it("takes the given span out of a text", () => {
    expect(compact('[ { "a" : 1 } , 2 ]', { start: 2, end: 13 })).toBe('{"a":1}');
  });
});

describe("a document that is too large", () => {
  const nested = (depth: number): string => `${'{"x":['.repeat(depth / 2)}${"]}".repeat(depth / 2)}`;
  const afterValue = (text: string): number => rootSpan(text).end;

  it.each([1_000, 2])("is not one that is nested %i levels deep", (depth) => {
    expect(afterValue(nested(depth))).toBe(nested(depth).length);
    expect(compact(nested(depth))).toBe(nested(depth));
  });

  it.each([1_002, 2_000_000])("is one that is nested %i levels deep, closed or not", (depth) => {
    for (const text of [nested(depth), "[".repeat(depth), '{"a":'.repeat(depth)]) {
      expect(() => afterValue(text)).toThrow(new OversizeJson("is nested more than 1,000 levels deep"));
      expect(() => compact(text)).toThrow(new OversizeJson("is nested more than 1,000 levels deep"));
    }
  });
});

describe("for any JSON text", () => {
  it("compact takes away the white space between tokens and nothing else", () => {
    fc.assert(
      fc.property(jsonText, ({ loose, tight }) => {
        expect(compact(` ${loose}\n`)).toBe(tight);
        expect(compact(tight)).toBe(tight);
        expect(isDeepStrictEqual(JSON.parse(tight), JSON.parse(loose))).toBe(true);
      }),
    );
  });

  it("valueAt finds at every pointer what JSON.parse has there, and nothing beside", () => {
    fc.assert(
      fc.property(jsonText, ({ loose }) => {
        for (const [path, value] of everything(JSON.parse(loose))) {
          const span = valueAt(loose, path);
          expect(span && isDeepStrictEqual(JSON.parse(loose.slice(span.start, span.end)), value)).toBe(true);
          expect(valueAt(loose, [...path, "none such"])).toBeUndefined();
        }
      }),
    );
  });
});

describe("for any row of tokens", () => {
  const token = fc.constantFrom("[", "]", "{", "}", ",", ":", '"a"', '"]"', "1", "null");
  const tokens = fc.oneof(
    fc.array(token, { maxLength: 8 }),
    // A text that is JSON but for one token that is deleted, inserted or replaced.
    fc
      .tuple(jsonText, fc.nat(), fc.nat({ max: 1 }), fc.array(token, { maxLength: 1 }))
      .map(([{ tight }, place, taken, put]) => {
        const right = tight.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"]+/g) ?? [];
        return right.toSpliced(place % (right.length + 1), taken, ...put);
      }),
  );

  it("rootSpan accepts exactly what JSON.parse accepts", () => {
    fc.assert(
      fc.property(tokens, (row) => {
        const text = row.join(" "); // apart, because only JSON.parse looks inside literals

        expect(accepts(rootSpan, text)).toBe(accepts(JSON.parse, text));
      }),
      { numRuns: 2_000 },
    );
  });

  it("compact makes JSON of JSON alone", () => {
    fc.assert(
      fc.property(tokens, (row) => {
        const text = row.join(" ");

        expect(accepts((each) => JSON.parse(compact(each)), text)).toBe(accepts(JSON.parse, text));
      }),
      { numRuns: 2_000 },
    );
  });
});

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (error instanceof MalformedJson || error instanceof SyntaxError) return false;
    throw error;
  }
}

function* everything(value: unknown, path: readonly string[] = []): Generator<[readonly string[], unknown]> {
  yield [path, value];
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) yield* everything(child, [...path, key]);
}
