import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endsLikeType, liftedSchema, liftText } from "../../../../lambdas/job/settings/lifted-column.ts";
import {
  eventColumns,
  lifter,
  parseLiftedColumns,
  RESERVED_NAMES,
} from "../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { parseRow, rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { jsonText } from "../../json/json-texts.ts";
import { aRow } from "./a-row.ts";

describe("a lifted column", () => {
  it.each([
    ["brand=/brand/name", "brand", "/brand/name"],
    ["_1=/", "_1", "/"],
    ["a=/x=y=z", "a", "/x=y=z"],
    ["a=/a~1b~0c", "a", "/a~1b~0c"],
    ["__proto__=/0", "__proto__", "/0"],
  ])("%s is %s from %s", (text, name, pointer) => {
    expect(parseLiftedColumns([text])).toEqual([{ name, pointer }]);
  });

  it.each([
    ["a=/x:BIGINT", "/x", "BIGINT"],
    ["a=/x:DOUBLE", "/x", "DOUBLE"],
    ["a=/spend/amount:DECIMAL(18,2)", "/spend/amount", "DECIMAL(18,2)"],
    ["a=/x:DECIMAL(38,38)", "/x", "DECIMAL(38,38)"],
    ["a=/x:DECIMAL(1,0)", "/x", "DECIMAL(1,0)"],
    ["a=/x:BOOLEAN", "/x", "BOOLEAN"],
    ["a=/x:DATE", "/x", "DATE"],
    ["a=/x:TIMESTAMP", "/x", "TIMESTAMP"],
    ["a=/x:VARCHAR", "/x", "VARCHAR"],
    ["a=/x:DATE:VARCHAR", "/x:DATE", "VARCHAR"],
    ["a=/x:VARCHAR[]", "/x", "VARCHAR[]"],
    ["a=/x:VARCHAR[]:VARCHAR", "/x:VARCHAR[]", "VARCHAR"],
  ])("%s is taken from %s, for readers a %s", (text, pointer, type) => {
    expect(parseLiftedColumns([text])).toEqual([{ name: "a", pointer, type }]);
    expect(
      parseLiftedColumns([liftText({ name: "a", pointer, type: liftedSchema.shape.type.parse(type) })]),
    ).toEqual([{ name: "a", pointer, type }]);
  });

  it.each([
    ["/x:date", true],
    ["/x:INT", true],
    ["/x:INTEGER", true],
    ["/x:text[]", true],
    ["/x:DECIMAL", true],
    ["/x:DECIMAL(18, 2)", true],
    ["/x:decimal(18,2)", true],
    ["/x:TIMESTAMP(3)", true],
    ["/x:DATE ", true],
    ["/x:BIGINT[]", true],
    ["/x:VARCHAR[][]", true],
    ["/x:varchar[]", true],
    ["/x:", false],
    ["/x:code", false],
    ["/x:INTERNAL", false],
    ["/BIGINT", false],
    ["/x:BIGINT/y", false],
  ])("%s is a pointer without a type, and ends as if it had one: %s", (pointer, resembles) => {
    expect(parseLiftedColumns([`a=${pointer}`])).toEqual([{ name: "a", pointer }]);
    expect(endsLikeType(pointer)).toBe(resembles);
  });

  it("whose pointer ends like a type is written with a type", () => {
    expect(liftText({ name: "a", pointer: "/x:DATE" })).toBe("a=/x:DATE:VARCHAR");
    expect(liftText({ name: "a", pointer: "/x:VARCHAR[]" })).toBe("a=/x:VARCHAR[]:VARCHAR");
  });

  it.each(["DECIMAL(39,2)", "DECIMAL(0,0)", "DECIMAL(2,3)", "DECIMAL(018,2)", "DECIMAL(18,02)"])(
    "of the type %s is refused with the ranges",
    (type) => {
      expect(() => parseLiftedColumns([`a=/x:${type}`])).toThrow(
        `DECIMAL(p,s) with p from 1 to 38 and s from 0 to p, BOOLEAN, DATE, TIMESTAMP, VARCHAR or VARCHAR[], and got "a=/x:${type}"`,
      );
    },
  );

  it.each([
    ["brand", "NAME=POINTER"],
    ["", "NAME=POINTER"],
    ["=/brand", "letter or _"],
    ["Brand=/brand", "letter or _"],
    ["1st=/first", "letter or _"],
    ["bränd=/brand", "letter or _"],
    ["a b=/brand", "letter or _"],
    ['a"=/brand', "letter or _"],
    [`${"a".repeat(256)}=/brand`, "letter or _"],
    ["uuid=/id", "reserved"],
    ["publication=/id", "reserved"],
    ["brand=", "part of the detail"],
    ["brand=brand", 'begin with "/"'],
    ["brand=/a~2", '"~" must be followed'],
  ])("%s is refused with: %s", (text, says) => {
    expect(() => parseLiftedColumns([text])).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(says) }),
    );
  });

  it.each(["brand", "Brand=/x", "uuid=/id", "brand="])("%s is repeated in the message", (text) => {
    expect(() => parseLiftedColumns(["ok=/ok", text])).toThrow(`got ${JSON.stringify(text)}`);
  });

  it("is refused under a name that is given twice, with both pointers", () => {
    expect(() => parseLiftedColumns(["a=/x", "b=/x", "a=/y"])).toThrow(/got a twice, for \/x and for \/y/);
  });

  it("keeps its place in the order given, after the columns of every row", () => {
    const columns = parseLiftedColumns(["z=/z", "a=/a"]);

    expect(eventColumns(columns)).toEqual(["uuid", "event_date", "scope", "event", "listing", "z", "a"]);
  });
});

it("the reserved names are those of the contract", () => {
  expect([...RESERVED_NAMES].sort()).toEqual(
    ["uuid", "event_date", "scope", "event", "listing", "account", "snapshot_id", "publication"].sort(),
  );
});

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
  const row = aRow("a", { event: "{}" });

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
