import { expect, test } from "vitest";
import { z } from "zod";
import { parseSetting, plainEnglish, problemsOf } from "../../../lambdas/job/settings/setting-problem.ts";
import { filePlace } from "../../../lambdas/job/settings-file/places.ts";

const HIDDEN = "and got a text that is not shown here, because it may hold a password";

// Every kind of issue that the schemas can raise, from schemas without words of their own.
test.each<[string, z.ZodType, unknown, string]>([
  ["nothing for an object", z.object({}), undefined, "key: expected an object, and got nothing"],
  ["an empty text for a file", filePlace, "", 'key: expected a file, and no URL, and got ""'],
  ["a number for a text", z.string(), 7, "key: expected a text, and got 7"],
  ["a text for a number", z.number(), "x", 'key: expected a number, and got "x"'],
  ["a text for a list", z.array(z.string()), "x", 'key: expected a list, and got "x"'],
  ["a list for a record", z.record(z.string(), z.string()), [], "key: expected an object, and got a list"],
  ["an item of another type", z.array(z.string()), [1], "key.0: expected a text, and got 1"],
  ["another word", z.enum(["a", "b"]), "c", 'key: expected "a" or "b", and got "c"'],
  ["a number too small", z.number().min(2), 1, "key: expected another value, and got 1"],
  ["an unknown key", z.strictObject({}), { a: "x" }, "key.a: there is no such key; is it misspelt?"],
  [
    "a wrong key",
    z.record(z.string().max(1), z.any()),
    { ab: 1 },
    'key.ab: expected another value, and got "ab"',
  ],
])("%s is described in plain English", (_, schema, value, line) => {
  const { error } = schema.safeParse(value, { error: plainEnglish });

  expect(problemsOf(error?.issues ?? [], value, (path) => ["key", ...path].join("."))).toEqual([line]);
});

test.each([
  ["https://x.example?token=hunter2", HIDDEN],
  ["me:hunter2@x.example", HIDDEN],
  ["a@b", 'and got "a@b"'],
  ["cron(0 6 ? * * *)", 'and got "cron(0 6 ? * * *)"'],
  ["12:00?", 'and got "12:00?"'],
])("the problem with %j, of a setting that is no text, says: %s", (value, says) => {
  const parse = (): unknown => parseSetting(z.number(), value);

  expect(parse).toThrow(says);
  expect(parse).not.toThrow("hunter2");
});

test("a long value is shown only so far that it is recognised", () => {
  expect(() => parseSetting(z.number(), "A".repeat(1_000))).toThrow(/and got "A{79}…$/);
});
