import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lifter } from "../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { parseRow, rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { jsonText } from "../../json/json-texts.ts";

const lifted = (event: string, pointer: string): unknown => lifter([{ name: "x", pointer }])(event)["x"];

describe("a lifted value", () => {
  it.each<[string, string, string | null]>([
    ['{"a":"text"}', "/a", "text"],
    ['{"a":""}', "/a", ""],
    ['{"a":"\\u0041\\n"}', "/a", "A\n"],
    ['{"a":"\\ud83d\\ude00"}', "/a", "😀"],
    ['{"a":"\\ud83d"}', "/a", '"\\ud83d"'],
    ['{"a":1.10}', "/a", "1.10"],
    ['{"a":1e400}', "/a", "1e400"],
    ['{"a":-0}', "/a", "-0"],
    ['{"a":9007199254740993}', "/a", "9007199254740993"],
    ['{"a":true}', "/a", "true"],
    ['{"a":null}', "/a", null],
    ['{"a":"null"}', "/a", "null"],
    ["{}", "/a", null],
    ['{"a":{"b":[1.0,{"c":null}]}}', "/a", '{"b":[1.0,{"c":null}]}'],
    ['{"a":{"b":[1.0,{"c":null}]}}', "/a/b/0", "1.0"],
    ['{"a":{"b":[1.0,{"c":null}]}}', "/a/b/1/c", null],
    ['{"a":{"b":[1.0]}}', "/a/b/01", null],
    ['{"a":{"b":[1.0]}}', "/a/b/-", null],
    ['{"a":"text"}', "/a/0", null],
    ['{"a":1,"a":2}', "/a", "2"],
    ['{"a":{"b":1},"a":{}}', "/a/b", null],
    ['{"d\\u0061te":"x"}', "/date", "x"],
    ['{"a/b":{"m~n":1}}', "/a~1b/m~0n", "1"],
    ['{"":{"":1}}', "//", "1"],
    ['{"__proto__":{"a":1}}', "/__proto__/a", "1"],
    ["{}", "/toString", null],
  ])("of %s at %s is %j", (event, pointer, expected) => {
    expect(lifted(event, pointer)).toBe(expected);
  });

  it("is there once for each of several columns, in their order, though they have tokens in common", () => {
    const columns = [
      { name: "z", pointer: "/a/b" },
      { name: "all", pointer: "/a" },
      { name: "__proto__", pointer: "/a/c" },
      { name: "again", pointer: "/a/b" },
      { name: "none", pointer: "/b/a" },
    ];

    const texts = lifter(columns)('{"b":0,"a":{"c":[2],"b":1.0}}');

    expect(Object.entries(texts)).toEqual([
      ["z", "1.0"],
      ["all", '{"c":[2],"b":1.0}'],
      ["__proto__", "[2]"],
      ["again", "1.0"],
      ["none", null],
    ]);
  });

  it("is what JSON.parse finds at the first level, as its source text", () => {
    fc.assert(
      fc.property(jsonText, jsonText, ({ tight: a }, { tight: b }) => {
        const text = lifted(`{"a":${b},"b":${b},"a":${a}}`, "/a");

        const value: unknown = JSON.parse(a);
        const isText = typeof value === "string" && value.isWellFormed();
        expect(text).toBe(value === null ? null : isText ? value : a);
      }),
      { numRuns: 500 },
    );
  });
});

it("a row's line has lifted columns last, in their order, and is read without them", () => {
  const row = { uuid: "a", event_date: null, scope: null, event: "{}", listing: "{}" };

  const line = rowLine(
    row,
    Object.fromEntries([
      ["z", "1.10"],
      ["__proto__", "\u2028"],
      ["a", null],
    ]),
  );

  expect(line).toBe(
    '{"uuid":"a","event_date":null,"scope":null,"event":"{}","listing":"{}","z":"1.10","__proto__":"\\u2028","a":null}',
  );
  expect(parseRow(line)).toEqual(row);
});
