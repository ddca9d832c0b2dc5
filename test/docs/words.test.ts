// The documents stay short: words, as `wc -w` counts them, and records have a limit, and each decision has its three parts.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");

test("all decisions have at most 9,000 words in 40 records", () => {
  expect(wordsOf("docs/decisions/*.md")).toBeLessThanOrEqual(9_000);
  expect(recordsOf("docs/decisions/*.md").length).toBeLessThanOrEqual(40);
});

test("all pages have at most 28,000 words, commands and tables included", () => {
  expect(wordsOf("docs/*.md")).toBeLessThanOrEqual(28_000);
});

test("each decision has context, decision, and what would make it wrong", () => {
  const incomplete = recordsOf("docs/decisions/*.md").filter(
    (record) => !/\n\*\*Context\.\*\* [\s\S]*\n\*\*Decision\.\*\* [\s\S]*\n\*\*Wrong if\*\* /.test(record),
  );

  expect(incomplete).toEqual([]);
});

/** As `wc -w` counts: what stands between white space, bars of tables as well. */
const wordsOf = (pattern: string): number => textOf(pattern).split(/\s+/).filter(Boolean).length;

const recordsOf = (pattern: string): readonly string[] =>
  textOf(pattern)
    .split(/^(?=## )/m)
    .filter((section) => section.startsWith("## "));

const textOf = (pattern: string): string =>
  globSync(pattern, { cwd: ROOT })
    .map((path) => readFileSync(join(ROOT, path), "utf8"))
    .join("\n");
