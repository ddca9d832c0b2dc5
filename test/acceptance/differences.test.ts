import { describe, expect, test } from "vitest";
import { compare, UNKNOWN } from "./differences.ts";

const differences = (stated: unknown, found: unknown): readonly string[] =>
  compare(stated, found).differences;

describe("what is as stated", () => {
  test.each([
    { what: "what the template leaves open", stated: { a: 1 }, found: { a: 1, b: 2 } },
    { what: "a number and a boolean as texts", stated: { a: "20", b: "true" }, found: { a: 20, b: true } },
    { what: "nothing where nothing is stated", stated: { a: "", b: [], c: {} }, found: {} },
    { what: "names in another order", stated: { a: ["x", "y"] }, found: { a: ["y", "x"] } },
    {
      what: "named elements in another order",
      stated: { a: [{ Id: "x", n: 1 }, { Id: "y" }] },
      found: {
        a: [
          { Id: "y", m: 3 },
          { Id: "x", n: 1 },
        ],
      },
    },
    {
      what: "elements without a name in another order",
      stated: { a: [{ n: 1 }, { n: 2 }] },
      found: { a: [{ n: 2 }, { n: 1 }] },
    },
    {
      what: "elements without a name that have more",
      stated: { a: [{ n: 1 }] },
      found: { a: [{ n: 1, m: 2 }] },
    },
    {
      what: "a document as text, written otherwise",
      stated: { a: { b: 1, c: 2 } },
      found: { a: '{"c":2, "b":1}' },
    },
    { what: "a text of JSON, written otherwise", stated: { a: '{"b":1}' }, found: { a: '{ "b": 1 }' } },
  ])("may have $what", ({ stated, found }) => {
    expect(differences(stated, found)).toEqual([]);
  });
});

describe("a difference", () => {
  test.each([
    { stated: { a: { b: "x" } }, found: { a: { b: "y" } }, says: ["a.b: expected x, found y"] },
    { stated: { a: { b: "x" } }, found: {}, says: ['a: expected {"b":"x"}, found nothing'] },
    { stated: { a: ["x"] }, found: { a: ["y"] }, says: ["a: expected x, found y"] },
    { stated: { a: ["x", "y"] }, found: { a: ["y"] }, says: ["a: expected x, found nothing"] },
    { stated: { a: ["x"] }, found: { a: ["x", "y"] }, says: ["a: expected nothing, found y"] },
    { stated: { a: [] }, found: { a: ["x"] }, says: ["a: expected nothing, found x"] },
    {
      stated: { a: [{ Name: "uk", Value: 1 }] },
      found: { a: [{ Name: "uk", Value: 2 }] },
      says: ["a[uk].Value: expected 1, found 2"],
    },
    {
      stated: { a: [{ Sid: "List" }] },
      found: { a: [] },
      says: ['a[List]: expected {"Sid":"List"}, found nothing'],
    },
    {
      stated: { a: [{ n: 1 }, { n: 2 }] },
      found: { a: [{ n: 1 }, { n: 3 }] },
      says: ["a.n: expected 2, found 3"],
    },
    // Nothing of a document is left open: another key changes what it means.
    {
      stated: { a: { b: [1] } },
      found: { a: '{"b":[1],"c":[2]}' },
      says: ["a.c: expected nothing, found [2]"],
    },
    { stated: { a: '{"b":{}}' }, found: { a: '{"b":{"c":1}}' }, says: ["a.b.c: expected nothing, found 1"] },
    { stated: { a: '{"b":1}' }, found: { a: "b" }, says: ['a: expected {"b":1}, found b'] },
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
