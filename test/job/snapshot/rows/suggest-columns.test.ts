import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FieldProfiler } from "../../../../lambdas/job/snapshot/fields/field-profile.ts";
import { parseLiftedColumns } from "../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { suggestColumns, TextTypes } from "../../../../lambdas/job/snapshot/rows/suggest-columns.ts";
import { valueIn } from "../../catalog/views/text-values.ts";
import { jsonText } from "../../json/json-texts.ts";

const suggested = (...events: readonly string[]): readonly string[] => {
  const profiler = new FieldProfiler();
  for (const event of events) profiler.add(JSON.parse(event));
  return suggestColumns(profiler.profile().fields, events.length).map(
    ({ name, pointer }) => `${name}=${pointer}`,
  );
};

describe("suggested columns", () => {
  it.each<[string, readonly string[]]>([
    ['{"name":"x","n":1,"on":true}', ["n=/n", "name=/name", "on=/on"]],
    ['{"uuid":"x","date":"x","scope":"x"}', []],
    ['{"brand":{"uuid":"x","date":"x"}}', ["date=/brand/date", "brand_uuid=/brand/uuid"]],
    ['{"always_null":null,"tags":["x"],"items":[{"a":1}],"empty":{}}', []],
    [
      '{"updatedAt":"x","sourceURL":"x","HTTPStatus":1}',
      ["http_status=/HTTPStatus", "source_url=/sourceURL", "updated_at=/updatedAt"],
    ],
    [
      '{"Länge (cm)":1,"2nd":1,"日本":1,"a/b~c":1}',
      ["_2nd=/2nd", "lange_cm=/Länge (cm)", "a_b_c=/a~1b~0c", "field=/日本"],
    ],
    ['{"account":"x","event":"x"}', ["account_2=/account", "event_2=/event"]],
    ['{"current_date":"x","flag":{"all":true}}', ["current_date_2=/current_date", "flag_all=/flag/all"]],
    ['{"name":"x","sector":{"name":"x"}}', ["name=/name", "sector_name=/sector/name"]],
    ['{"a":{"id":1},"b":{"id":1}}', ["a_id=/a/id", "b_id=/b/id"]],
    ['{"a":{"x":{"id":1}},"b":{"x":{"id":1}}}', ["a_x_id=/a/x/id", "b_x_id=/b/x/id"]],
    ['{"a-b":1,"a_b":1,"a_b_2":1}', ["a_b=/a-b", "a_b_2=/a_b", "a_b_2_2=/a_b_2"]],
    ['{"x\\u001b[31m":1,"y\\u202e":1,"z\\ud800":1,"line\\nbreak":1}', []],
  ])("of %s are %j", (event, expected) => {
    expect(suggested(event)).toEqual(expected);
  });

  it("are of fields that at least half of the events have, null or not", () => {
    expect(suggested('{"a":1,"b":1,"c":null}', '{"b":1,"c":null}', '{"c":1}', "{}")).toEqual([
      "b=/b",
      "c=/c",
    ]);
  });

  it("are not of fields that are sometimes more than a scalar", () => {
    expect(suggested('{"a":1,"b":null}', '{"a":[],"b":"x"}')).toEqual(["b=/b"]);
  });

  it("can always be given to --lift as they are", () => {
    fc.assert(
      fc.property(fc.array(jsonText, { minLength: 1, maxLength: 4 }), (texts) => {
        const options = suggested(...texts.map(({ tight }) => tight));

        expect(parseLiftedColumns(options)).toHaveLength(options.length);
      }),
      { numRuns: 500 },
    );
  });
});

function typeOf(...values: readonly string[]): string | undefined {
  const types = new TextTypes();
  for (const value of values) types.add(`{"a":{"b":${value}}}`);
  return types.typeAt("/a/b");
}

describe("the type of a field", () => {
  it.each<[readonly string[], string | undefined]>([
    [["1", "-20", "null"], "BIGINT"],
    [["999999999999999999"], "BIGINT"],
    [["9999999999999999999"], "DECIMAL(38,0)"],
    [["9".repeat(40)], "DOUBLE"],
    [["1.5", "20"], "DECIMAL(18,2)"],
    [["1.1234"], "DECIMAL(18,4)"],
    [["12345678901234567.25"], "DECIMAL(38,2)"],
    [["0.1234567"], "DOUBLE"],
    [["1.5", "1e3"], "DOUBLE"],
    [["true", "false"], "BOOLEAN"],
    [['"2026-11-21"', '"2024-02-29"'], "DATE"],
    [['"2026-11-21"', '"2026-11-21T10:00:00.5Z"'], "TIMESTAMP"],
    [['"2026-11-21 10:00"', '"2026-11-21T10:00:00+02:00"'], "TIMESTAMP"],
    [['"2026-02-30"'], undefined],
    [['"0000-01-01"'], undefined],
    [['"2026-11-21T24:00:00Z"'], undefined],
    [['"2026-11-21 and more"'], undefined],
    [['"007"'], undefined],
    [['"x"', "1"], undefined],
    [["1", "true"], undefined],
    [["null"], undefined],
    [["[1]"], undefined],
    [['["a",null]', "[]", "null"], "VARCHAR[]"],
    [[`["${"x".repeat(100_000)}"]`], "VARCHAR[]"],
    [["[]"], undefined],
    [['["a"]', "[1]"], undefined],
    [['["a"]', '"a"'], undefined],
    [['["\\ud800"]'], undefined],
    [['[{"a":1}]'], undefined],
    [[`"${"x".repeat(100_000)}"`], undefined],
    [["1".repeat(100)], undefined],
  ])("with %j is %s", (values, expected) => {
    expect(typeOf(...values)).toBe(expected);
  });

  it("counts the last of duplicate keys, and no elements of arrays", () => {
    const types = new TextTypes();
    types.add('{"a":"x","a":1,"b":[{"c":1}]}');

    expect([types.typeAt("/a"), types.typeAt("/b/0/c"), types.typeAt("/b/*/c")]).toEqual([
      "BIGINT",
      undefined,
      undefined,
    ]);
  });

  it("fits each of the texts, whatever they are", () => {
    const scalar = fc.oneof(
      fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,8})?([eE][+-]?[0-9]{1,2})?$/),
      fc.constantFrom("true", "false"),
      fc.stringMatching(/^"20[0-9]{2}-[01][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-5][0-9]Z?)?"$/),
      fc.array(fc.constantFrom("a", null, "\ud800"), { maxLength: 2 }).map((items) => JSON.stringify(items)),
    );
    fc.assert(
      fc.property(fc.array(scalar, { minLength: 1, maxLength: 3 }), (values) => {
        const types = new TextTypes();
        for (const value of values) types.add(`{"a":${value}}`);
        const type = types.typeAt("/a");

        if (type === undefined) return;
        for (const value of values) {
          expect([
            value,
            valueIn(String(value.startsWith('"') ? JSON.parse(value) : value), type),
          ]).not.toEqual([value, null]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("is found in any JSON without an error", () => {
    fc.assert(fc.property(jsonText, ({ tight }) => new TextTypes().add(tight)));
  });
});
