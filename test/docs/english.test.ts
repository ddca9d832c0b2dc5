// Words that plain technical English does without, in documents, comments, messages and titles of tests.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");

/** A change log keeps what was written; this file has to name the words. */
const EXCEPT: ReadonlySet<string> = new Set(["CHANGELOG.md", "test/docs/english.test.ts"]);

const TEXTS = globSync(["*.md", "docs/**/*.md", "{bin,lambdas,lib,test}/**/*.ts"], { cwd: ROOT })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => !EXCEPT.has(path))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

test.each([
  ["nobody", "name the thing: none, no program, no request"],
  ["anew", "again"],
  ["whoever", "name the subject: a process, a program, a user"],
  ["of late", "recently"],
  ["in vain", "failed"],
  ["goes on with", "resumes, continues"],
  ["all the same", "anyway"],
  ["design section", "docs/service-interface.md or docs/warehouse-format.md"],
  ["interface document", "docs/service-interface.md"],
])("no text says %s: %s", (words) => {
  const pattern = new RegExp(`\\b${words.replaceAll(" ", "[\\s/*]+")}\\b`, "gi");

  const places = TEXTS.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(({ index }) => `${path}:${text.slice(0, index).split("\n").length}`),
  );

  expect(places).toEqual([]);
});
