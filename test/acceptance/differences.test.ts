import { describe, expect, test } from "vitest";
import { compare, type FilledIn, UNKNOWN } from "./differences.ts";

const differences = (stated: unknown, found: unknown, filledIn: FilledIn = {}): readonly string[] =>
  compare(stated, found, filledIn).differences;

describe("what is as stated", () => {
  test.each([
    { what: "a number and a boolean as texts", stated: { a: "20", b: "true" }, found: { a: 20, b: true } },
    { what: "nothing where nothing is stated", stated: { a: "", b: [], c: {} }, found: {} },
    {
      what: "what is empty where nothing is stated",
      stated: {},
      found: { a: "", b: [], c: { d: undefined } },
    },
    {
      what: "dimensions, tags and targets in another order",
      stated: { Tags: [{ Key: "x" }, { Key: "y" }], Targets: [{ n: 1 }, { n: 2 }], Dimensions: ["x", "y"] },
      found: { Tags: [{ Key: "y" }, { Key: "x" }], Targets: [{ n: 2 }, { n: 1 }], Dimensions: ["y", "x"] },
    },
    {
      what: "a document as text, written otherwise",
      stated: { a: { b: 1, c: 2 } },
      found: { a: '{"c":2, "b":1}' },
    },
    { what: "a text of JSON, written otherwise", stated: { a: '{"b":1}' }, found: { a: '{ "b": 1 }' } },
    {
      what: "a policy with lists in another order, or of one",
      stated: { a: { Statement: [{ Action: ["x", "y"], Resource: "z" }, { Sid: "b" }] } },
      found: { a: '{"Statement":[{"Sid":"b"},{"Action":["y","x"],"Resource":["z"]}]}' },
    },
  ])("may have $what", ({ stated, found }) => {
    expect(differences(stated, found)).toEqual([]);
  });
});

describe("what AWS fills in", () => {
  const filledIn = { "a.b": [1, 2], c: [{ d: "x", e: [] }], "List.Mode": ["Off"] };

  test.each([
    { stated: { a: { z: 0 } }, found: { a: { z: 0, b: 2 } } },
    { stated: {}, found: { a: { b: 1 } } },
    { stated: {}, found: { c: { d: "x" } } },
    { stated: { List: [{ Id: "x" }] }, found: { List: [{ Id: "x", Mode: "Off" }] } },
  ])("is no difference: $found", ({ stated, found }) => {
    expect(differences(stated, found, filledIn)).toEqual([]);
  });

  test.each([
    { stated: {}, found: { a: { b: 3 } }, says: ["a.b: expected nothing, found 3"] },
    { stated: { a: { b: 3 } }, found: { a: { b: 1 } }, says: ["a.b: expected 3, found 1"] },
    { stated: {}, found: { a: { b: 1, z: 0 } }, says: ["a.z: expected nothing, found 0"] },
    {
      stated: {},
      found: { c: { d: "x", e: ["y"] } },
      says: ['c: expected nothing, found {"d":"x","e":["y"]}'],
    },
  ])("is a difference where it is another value, or stated otherwise: $says.0", ({ stated, found, says }) => {
    expect(differences(stated, found, filledIn)).toEqual(says);
  });
});

describe("a difference", () => {
  test.each([
    { stated: { a: { b: "x" } }, found: { a: { b: "y" } }, says: ["a.b: expected x, found y"] },
    { stated: { a: { b: "x" } }, found: {}, says: ['a: expected {"b":"x"}, found nothing'] },
    { stated: { a: 1 }, found: { a: 1, b: 2 }, says: ["b: expected nothing, found 2"] },
    { stated: { a: 1 }, found: { a: 1, b: false }, says: ["b: expected nothing, found false"] },
    { stated: {}, found: { a: new Date(0) }, says: ["a: expected nothing, found 1970-01-01T00:00:00.000Z"] },
    { stated: { a: ["x"] }, found: { a: ["y"] }, says: ["a: expected x, found y"] },
    {
      stated: { a: ["x", "y"] },
      found: { a: ["y", "x"] },
      says: ["a: expected x, found y", "a: expected y, found x"],
    },
    { stated: { a: ["x", "y"] }, found: { a: ["x"] }, says: ["a: expected y, found nothing"] },
    { stated: { a: ["x"] }, found: { a: ["x", "y"] }, says: ["a: expected nothing, found y"] },
    { stated: { a: [] }, found: { a: ["x"] }, says: ["a: expected nothing, found x"] },
    {
      stated: { a: [{ Name: "uk", Value: 1 }] },
      found: { a: [{ Name: "uk", Value: 2 }] },
      says: ["a[uk].Value: expected 1, found 2"],
    },
    {
      stated: { a: [{ n: 1 }] },
      found: { a: [{ n: 1, m: 2 }] },
      says: ["a.m: expected nothing, found 2"],
    },
    {
      stated: { Statement: [{ Sid: "List" }] },
      found: { Statement: [] },
      says: ['Statement[List]: expected {"Sid":"List"}, found nothing'],
    },
    // The second of one name is one more.
    {
      stated: { Statement: [{ Sid: "List", n: 1 }] },
      found: {
        Statement: [
          { Sid: "List", n: 1 },
          { Sid: "List", n: 2 },
        ],
      },
      says: ['Statement[List]: expected nothing, found {"Sid":"List","n":2}'],
    },
    {
      stated: { a: { b: [1] } },
      found: { a: '{"b":[1],"c":[2]}' },
      says: ["a.c: expected nothing, found 2"],
    },
    {
      stated: { a: '{"b":{}}' },
      found: { a: '{"b":{"c":1}}' },
      says: ["a.b.c: expected nothing, found 1"],
    },
    { stated: { a: '{"b":1}' }, found: { a: "b" }, says: ['a: expected {"b":1}, found b'] },
    { stated: { a: { b: 1 } }, found: { a: "b" }, says: ['a: expected {"b":1}, found b'] },
  ])("is named by its path: $says.0", ({ stated, found, says }) => {
    expect(differences(stated, found)).toEqual(says);
  });

  test("of two long texts is shown where they begin to differ, in one line", () => {
    const [stated, found] = [`${"a".repeat(200)}\nxyz`, `${"a".repeat(200)}\nuvw${"b".repeat(200)}`];

    const [difference] = differences({ a: stated }, { a: found });

    const same = `…${"a".repeat(39)} `;
    expect(difference).toBe(`a: expected ${same}xyz, found ${same}uvw${"b".repeat(77)}…`);
  });

  test("of two views is shown in their SQL", () => {
    const view = (originalSql: string): string =>
      `/* Presto View: ${Buffer.from(JSON.stringify({ originalSql, schema: "s" })).toString("base64")} */`;

    expect(differences({ a: view("SELECT 1 FROM events") }, { a: view("SELECT 1 FROM others") })).toEqual([
      "a.originalSql: expected SELECT 1 FROM events, found SELECT 1 FROM others",
    ]);
  });
});

test("what is not known here is named, and not compared", () => {
  const stated = { a: UNKNOWN, b: { c: UNKNOWN, d: 1 }, e: [UNKNOWN] };

  expect(compare(stated, { a: "x", b: { c: "y", d: 2 }, e: ["z"] })).toMatchObject({
    differences: ["b.d: expected 1, found 2"],
    unknown: ["a", "b.c", "e"],
  });
});
