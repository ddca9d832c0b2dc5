// The type that fits all texts of a field, so that the view has a value for each.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TextTypes } from "../../../../lambdas/job/snapshot/fields/suggest-columns.ts";
import { valueIn } from "../../catalog/views/text-values.ts";
import { jsonText } from "../../json/json-texts.ts";

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
