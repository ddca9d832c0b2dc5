import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { textsOf } from "./texts.ts";

const ROOT = join(import.meta.dirname, "../../..");

test.each([
  ["a text of two words", 'const a = "no events";', ["no events"]],
  ["no single word, and no name", 'import b from "node:fs"; const a = ["run_id", "DROPPED", "GET /v1"];', []],
  ["no comment, and no type", '// not read\nconst a: "not read" | undefined = undefined;', []],
  ["what is filled in as its source", `const a = \`\${count} of 9 events\`;`, [`\${count} of 9 events`]],
  [
    "what is put together as one text",
    'const a = "the run " + id + " has ended";',
    [`the run \${id} has ended`],
  ],
  ["a text below what has a type", 'const a = { help: "a good one" } as const satisfies T;', ["a good one"]],
])("has %s", (_, source, texts) => {
  expect(textsOf(source).map(({ text }) => text)).toEqual(texts);
});

test("knows the line of a text", () => {
  expect(textsOf('\nthrow new Error("went wrong");')).toEqual([{ line: 2, text: "went wrong" }]);
});

test("no message has a contraction", () => {
  const contraction = /\b(?:can't|\w+n't|it's|that's|there's|(?:I|you|we|they)'(?:ll|re|ve|d))\b/i;

  const places = globSync("{bin,lambdas,lib}/**/*.ts", { cwd: ROOT }).flatMap((path) =>
    textsOf(readFileSync(join(ROOT, path), "utf8"))
      .filter(({ text }) => contraction.test(text))
      .map(({ line, text }) => `${path}:${line} ${text}`),
  );

  expect(places).toEqual([]);
});
