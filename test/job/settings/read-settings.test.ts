// A settings file as text, and as complete settings.

import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonPlaces } from "../../../lambdas/job/settings-file/read-settings.ts";
import { accountSettings } from "../../../lambdas/job/settings-file/settings-schema.ts";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("a text has a wrong place exactly if it is not JSON", () => {
  const broken = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom("", ",", '"', "}", "]", ":", "1", "\\", "\n", "tru", "[", "{"),
    )
    .map(
      ([text, at, put]) => `${text.slice(0, at % text.length)}${put}${text.slice((at % text.length) + 1)}`,
    );

  fc.assert(
    fc.property(fc.oneof(fc.json(), broken, fc.string()), (text) => {
      expect(jsonPlaces(text).wrongAt === undefined).toBe(isJson(text));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["", "1:1"],
  ['{\n  "a": 1,\n}', "3:1"],
  ['{"a": tru}', "1:7"],
  ['{\r\n"a" 1}', "2:5"],
  ['{"a": 1', "1:8"],
  ['{"a": "x\ny"}', "1:7"],
  ["[1] 2", "1:5"],
  ['["\ud83d\ude00", x]', "1:8"],
])("%j is wrong at %s", (text, place) => {
  expect(jsonPlaces(text)).toEqual({ repeated: [], wrongAt: place });
});

test("a key is the same however it is written, and only in its own object", () => {
  const text = '{"a": {"b": 1, "\\u0062": 2},\n "c": [{"b": 1}, {"b": 1, "b": [{}, []]}]}';

  expect(jsonPlaces(text).repeated).toEqual([
    { path: ["a", "b"], places: ["1:8", "1:16"] },
    { path: ["c", "1", "b"], places: ["2:19", "2:27"] },
  ]);
});

test("settings are complete with an address alone", () => {
  expect(accountSettings.parse({ baseUrl: "https://service.example" })).toEqual({
    baseUrl: "https://service.example/",
    requestsPerMinute: 200,
    bytesPerMinute: 10_485_760,
    limitWindowSeconds: 60,
    concurrency: 16,
    isListed: "true",
    maxDropPercent: 20,
    maxMissingPercent: 1,
    require: [],
    resumeWithinMinutes: 60,
  });
});
