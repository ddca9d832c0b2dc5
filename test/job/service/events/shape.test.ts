import { describe, expect, it } from "vitest";
import { describeValue, shownNames } from "../../../../lambdas/job/service/events/shape.ts";

const shownName = shownNames(() => ["You@Example.test", "Correct-Horse"]);

describe("a shape", () => {
  it.each([
    ['"secret"', "string"],
    ["-1.5e3", "number"],
    ["true", "boolean"],
    ["null", "null"],
    ["[]", "[]"],
    ["{}", "{}"],
    [
      '{"data":{"items":[{"uuid":"x"},{"uuid":"y"}],"total":2}}',
      "{data: {items: [{…}, … 2 in all], total: number}}",
    ],
    ['[["secret"]]', "[[string]]"],
    ['{"6f1ed002-ab59-4f2c-9f1f-111111111111":1}', "{<uuid>: number}"],
    ['{"a.user@example.test":1,"two words":2,"":3}', "{<key>: number, <key>: number, <key>: number}"],
    [
      '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}',
      "{a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, … 9 in all}",
    ],
    ['{"a":{"b":{"c":{"d":{}}}}}', "{a: {b: {c: {…}}}}"],
  ])("of %s is %s", (text, expected) => {
    expect(describeValue(text, shownName)).toBe(expected);
  });
});

describe("the name of a member", () => {
  it.each([
    ["event_date", "event_date"],
    ["odata-type", "odata-type"],
    ["@odata.nextLink", "@odata.nextLink"],
    ["items@odata.count", "items@odata.count"],
    ["größe", "größe"],
    ["a".repeat(30), "a".repeat(30)],
    ["a".repeat(31), "<key>"],
    ["", "<key>"],
    ["two words", "<key>"],
    ["a/b", "<key>"],
    ["field1", "<key>"],
    ["\u202eabc", "<key>"],
    ["6F1ED002-ab59-4f2c-9f1f-111111111111", "<uuid>"],
    ["another@person.test", "<key>"],
    ["you@example.test", "<key>"],
    ["correct-horse", "<key>"],
    ["correct-horses", "correct-horses"],
  ])("%j is shown as %s", (name, shown) => {
    expect(shownName(name)).toBe(shown);
  });
});
