import { describe, expect, it } from "vitest";
import {
  describeFieldChanges,
  type Field,
  FieldProfiler,
  fieldChanges,
  type Profile,
} from "../../../../lambdas/job/snapshot/fields/field-profile.ts";

const profileOf = (...events: readonly string[]): Profile => {
  const profiler = new FieldProfiler();
  for (const event of events) profiler.add(JSON.parse(event));
  return profiler.profile();
};

const described = (before: Profile, after: Profile): readonly string[] =>
  describeFieldChanges(fieldChanges(before, after));

describe("the changes of fields", () => {
  it.each<[string, string, readonly string[]]>([
    ['{"a":1}', '{"a":2}', []],
    ['{"a":1}', '{"a":1,"b":{"c":[true]}}', ["new fields: /b (object), /b/c (array), /b/c/* (boolean)"]],
    ['{"a":1,"b":""}', '{"a":1}', ["fields that are gone: /b (string)"]],
    ['{"a":1}', '{"a":"1"}', ["fields that changed their type: /a (from number to string)"]],
    ['{"a":[1]}', '{"a":[1,null]}', ["fields that changed their type: /a/* (from number to number or null)"]],
    [
      '{"a":{"b":1},"c":1}',
      '{"a":null,"d":1}',
      [
        "new fields: /d (number)",
        "fields that are gone: /a/b (number), /c (number)",
        "fields that changed their type: /a (from object to null)",
      ],
    ],
  ])("from %s to %s are %j", (before, after, expected) => {
    expect(described(profileOf(before), profileOf(after))).toEqual(expected);
  });

  it("are none where only the share of events has moved", () => {
    expect(described(profileOf('{"a":1}', "{}", "{}"), profileOf('{"a":1}', '{"a":2}'))).toEqual([]);
  });

  it("tell the first 20 of a kind and how many there are beside", () => {
    const many = (count: number): Profile =>
      profileOf(`{${Array.from({ length: count }, (_, n) => `"f${String(n).padStart(2, "0")}":1`)}}`);

    expect(described(many(0), many(20)).join()).not.toContain("more");
    expect(described(many(0), many(23))).toEqual([
      expect.stringMatching(/^new fields: \/f00 \(number\), .*\/f19 \(number\), and 3 more$/),
    ]);
    expect(fieldChanges(many(0), many(23)).added).toHaveLength(23);
  });

  it("do not repeat keys that look like data", () => {
    const uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
    const event = `{"to":{"canary@example.com":[{"name":1}]},"${uuid}":{"a b":1},"x\\u001b[31m":2}`;

    const [line = ""] = described(profileOf("{}"), profileOf(event));

    expect(line).toContain("/to/<key>/*/name (number)");
    expect(line).toContain("/<uuid>/<key> (number)");
    expect(line).toContain("/<key> (number)");
    expect(line).not.toContain("canary");
    expect(line).not.toContain("\u001b");
  });

  it("are none of fields for which one of the profiles had no room", () => {
    const fields: Field[] = Array.from({ length: 2_000 }, (_, n) => ({
      pointer: `/${String(n).padStart(4, "0")}`,
      count: 1,
      types: { number: 1 },
    }));
    const full: Profile = { fields, fields_complete: false };
    const other = profileOf('{"0000":1,"00005":1,"zz":{"a":1}}');

    expect(fieldChanges(full, other).added.map(({ pointer }) => pointer)).toEqual(["/00005"]);
    expect(fieldChanges(other, full).gone.map(({ pointer }) => pointer)).toEqual(["/00005"]);
  });
});
