import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  FieldProfiler,
  type Profile,
  RequiredFields,
} from "../../../../lambdas/job/snapshot/fields/field-profile.ts";
import { jsonText } from "../../json/json-texts.ts";

function profileOf(events: readonly string[], maxFields?: number): Profile {
  const profiler = new FieldProfiler(maxFields);
  for (const event of events) profiler.add(JSON.parse(event));
  return profiler.profile();
}

describe("a profile", () => {
  it("has every pointer below the root, in order, with its events and types", () => {
    const { fields, fields_complete } = profileOf([
      '{"b":1,"a":{"c":null,"":true},"tags":["x",2,"y",[]]}',
      '{"b":"1","a":{},"tags":[]}',
      '{"b":2.50}',
    ]);

    expect(fields).toEqual([
      { pointer: "/a", count: 2, types: { object: 2 } },
      { pointer: "/a/", count: 1, types: { boolean: 1 } },
      { pointer: "/a/c", count: 1, types: { null: 1 } },
      { pointer: "/b", count: 3, types: { string: 1, number: 2 } },
      { pointer: "/tags", count: 2, types: { array: 2 } },
      { pointer: "/tags/*", count: 1, types: { string: 1, number: 1, array: 1 } },
    ]);
    expect(fields_complete).toBe(true);
  });

  it.each([
    ['{"a":1,"a":"x"}', ["/a"]],
    ['[{"a":1},{"a":2,"b":3}]', ["/*", "/*/a", "/*/b"]],
    ["[[],[[1]]]", ["/*", "/*/*", "/*/*/*"]],
    ['{"a/b":{"m~n":1}}', ["/a~1b", "/a~1b/m~0n"]],
    ['{"__proto__":{"toString":1}}', ["/__proto__", "/__proto__/toString"]],
    ['{"10":1,"9":2}', ["/10", "/9"]],
    ['{"\\ud800":1,"é":2}', ["/é", "/\ud800"]],
    ["{}", []],
    ['"text"', []],
  ])("of %s has %j, each once", (event, pointers) => {
    const { fields } = profileOf([event]);

    expect(fields.map(({ pointer, count }) => [pointer, count])).toEqual(pointers.map((each) => [each, 1]));
  });

  it("takes 2,000 fields, those nearest to the root first, and says that there are more", () => {
    const many = Array.from({ length: 2_100 }, (_, n) => `"k${String(n).padStart(4, "0")}":{"deep":1}`);

    const { fields, fields_complete } = profileOf([`{${many.toReversed()}}`, `{${many.slice(0, 1)}}`]);

    expect(fields).toHaveLength(2_000);
    expect(fields.at(0)).toEqual({ pointer: "/k0000", count: 2, types: { object: 2 } });
    expect(fields.at(-1)?.pointer).toBe("/k1999");
    expect(fields_complete).toBe(false);
  });

  it("of exactly 2,000 fields is complete", () => {
    const many = Array.from({ length: 2_000 }, (_, n) => `"${n}":1`);

    expect(profileOf([`{${many}}`])).toMatchObject({ fields_complete: true, fields: { length: 2_000 } });
  });

  it.each([
    ["of 998 characters is kept", "k".repeat(998), 1, true],
    ["that is longer than 1,000 characters is not", "k".repeat(1_000), 0, false],
    ["that its escapes make too long is not", "/".repeat(600), 0, false],
  ])("a pointer %s", (_, key, length, isComplete) => {
    const { fields, fields_complete } = profileOf([JSON.stringify({ [key]: 1 })]);

    expect(fields).toHaveLength(length);
    expect(fields_complete).toBe(isComplete);
  });

  it.each([
    ["arrays", (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`, 500],
    ["objects", (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`, 500],
  ])("of %s nested 100,000 deep stops at pointers of 1,000 characters", (_, nest, depth) => {
    const { fields, fields_complete } = profileOf([nest(100_000)]);

    expect(fields).toHaveLength(depth);
    expect(fields_complete).toBe(false);
  });

  it("has bounded memory, however many fields come and go", () => {
    const profiler = new FieldProfiler(10);
    for (let n = 0; n < 20_000; n += 1) profiler.add({ byId: { [n]: { name: 1 } }, z: 1 });

    const { fields } = profiler.profile();

    expect(fields.map(({ pointer }) => pointer)).toEqual([
      "/byId",
      ...["0", "1", "10", "100", "1000", "10000", "10001", "10002"].map((n) => `/byId/${n}`),
      "/z",
    ]);
    expect(fields.at(0)?.count).toBe(20_000);
    expect(fields.at(-1)?.count).toBe(20_000);
  });
});

describe("for any events", () => {
  const events = fc.array(
    jsonText.map(({ tight }) => tight),
    { maxLength: 12 },
  );

  it("the profile is that of a simple count, and the order of the events does not matter", () => {
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 8 }), (texts, maxFields) => {
        const expected = simpleProfile(texts, maxFields);

        expect(profileOf(texts, maxFields)).toEqual(expected);
        expect(profileOf(texts.toReversed(), maxFields)).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** The same without bounds and without haste: all pointers of all events, sorted, then cut. */
function simpleProfile(events: readonly string[], maxFields: number): Profile {
  const found = new Map<string, { depth: number; count: number; types: Record<string, number> }>();
  for (const event of events) {
    const seen = new Map<string, Set<string>>();
    collect(JSON.parse(event), "", seen);
    for (const [pointer, types] of seen) {
      const depth = pointer.split("/").length;
      const field = found.get(pointer) ?? { depth, count: 0, types: {} };
      field.count += 1;
      for (const type of types) field.types[type] = (field.types[type] ?? 0) + 1;
      found.set(pointer, field);
    }
  }
  const byText = (a: string, b: string): number => (a < b ? -1 : 1);
  const kept = [...found]
    .sort(([a, one], [b, other]) => one.depth - other.depth || byText(a, b))
    .slice(0, maxFields)
    .sort(([a], [b]) => byText(a, b));
  return {
    fields: kept.map(([pointer, { count, types }]) => ({ pointer, count, types })),
    fields_complete: found.size <= maxFields,
  };
}

function collect(value: unknown, at: string, seen: Map<string, Set<string>>): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    const token = Array.isArray(value) ? "*" : key.replaceAll("~", "~0").replaceAll("/", "~1");
    const pointer = `${at}/${token}`;
    const types = seen.get(pointer) ?? new Set();
    types.add(child === null ? "null" : Array.isArray(child) ? "array" : typeof child);
    seen.set(pointer, types);
    collect(child, pointer, seen);
  }
}

describe("a required field", () => {
  test.each([
    ["/date", '{"date":"2026-01-01"}', 0],
    ["/date", '{"date":null}', 1],
    ["/date", "{}", 1],
    ["/date", '{"a":{"date":1}}', 1],
    ["/date", '{"date":""}', 0],
    ["/date", '{"date":0}', 0],
    ["/date", '{"date":false}', 0],
    ["/date", '{"date":{}}', 0],
    ["/date", '{"date":"null"}', 0],
    ["/d\u00e4te", '{"d\\u00e4te":1}', 0],
    ["/date", '{"date":1,"date":null}', 1],
    ["/date", '{"date":null,"date":1}', 0],
    ["/brand/name", '{"brand":{"name":"x"}}', 0],
    ["/brand/name", '{"brand":null}', 1],
    ["/brand/name", '{"brand":"name"}', 1],
    ["/brands/0/name", '{"brands":[{"name":"x"},{}]}', 0],
    ["/brands/1/name", '{"brands":[{"name":"x"},{}]}', 1],
    ["/brands/2", '{"brands":[1,2]}', 1],
    ["/a~1b/~0", '{"a/b":{"~":1}}', 0],
  ])("%s in %s is lacking in %i events", (pointer, event, lacking) => {
    const required = new RequiredFields([pointer]);

    required.add(event);

    expect(required.incomplete).toEqual({ events: lacking, fields: [{ pointer, events: lacking }] });
  });

  test("is counted for itself, and an event that lacks several is one incomplete event", () => {
    const required = new RequiredFields(["/a", "/b", "/a"]);

    for (const event of ["{}", '{"a":1}', '{"a":1,"b":2}', '{"b":1}']) required.add(event);

    expect(required.incomplete).toEqual({
      events: 3,
      fields: [
        { pointer: "/a", events: 2 },
        { pointer: "/b", events: 2 },
      ],
    });
  });
});
