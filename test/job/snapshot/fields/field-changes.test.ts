import { describe, expect, it } from "vitest";
import { describeFieldChanges, fieldChanges } from "../../../../lambdas/job/snapshot/fields/field-changes.ts";
import {
  type Field,
  FieldProfiler,
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
        "fields that are gone: /a/b (number), /c (number)",
        "fields that changed their type: /a (from object to null)",
        "new fields: /d (number)",
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

  it("tell fields that read alike once, and first those that most events have, whatever is in many keys of a map", () => {
    const keys = (from: number): string => Array.from({ length: 301 }, (_, n) => `"${from + n}":1`).join();
    const before = profileOf('{"region":"a","x":1,"old":1}', '{"region":"b","x":"1"}');
    const after = profileOf(`{"x":"1","new":1,"metrics":{${keys(0)}}}`, `{"x":"1","metrics":{"a":1}}`);

    expect(described(before, after)).toEqual([
      "fields that are gone: /region (string), /old (number)",
      "fields that changed their type: /x (from string or number to string)",
      "new fields: /metrics (object), /metrics/<key> (number, 301 fields), /metrics/a (number), /new (number)",
    ]);
  });

  it("count of fields that read alike the most events of a single one, and tell others of them apart by their types", () => {
    const before = profileOf('{"1":1,"2":1,"3":"a"}', '{"2":1,"b":1}');
    const [few, most] = [profileOf('{"c":1}', '{"c":1}', '{"c":1}'), profileOf("{}")];

    expect(described(before, most)).toEqual([
      "fields that are gone: /<key> (number, 2 fields), /<key> (string), /b (number)",
    ]);
    expect(described(before, few)[0]).toBe("new fields: /c (number)");
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
