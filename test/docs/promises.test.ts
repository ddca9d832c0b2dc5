// Each promise of docs/delivery.md has a test that fails where it is broken, and says so in its title.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const MARK = /\[D\d+\]/g;

const marksOf = (file: string): readonly string[] => readFileSync(join(ROOT, file), "utf8").match(MARK) ?? [];

test("the promises that are marked, and the marks in the titles of tests, are the same", () => {
  const [introduction = "", ...promises] = marksOf("docs/delivery.md");
  const tests = globSync("test/**/*.test.ts", { cwd: ROOT }).flatMap(marksOf);

  expect([...new Set(tests)].toSorted()).toEqual(promises.toSorted());
  expect(promises).toContain(introduction);
});
