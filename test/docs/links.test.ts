// Links between the documents lead to files and headings that exist.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const DOCUMENTS = [
  ...readdirSync(ROOT),
  ...["docs", "docs/decisions"].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  ),
].filter((path) => path.endsWith(".md"));

test.each(DOCUMENTS)("every link in %s leads somewhere", (document) => {
  const broken = linksOf(document).filter((link) => !exists(document, link));

  expect(broken).toEqual([]);
});

test("every source file that the architecture names exists", () => {
  const named = [
    ...read("docs/architecture.md").matchAll(/`((?:bin|lambdas|lib|test|[a-z]+)\/[\w/-]+(?:\.ts)?)`/g),
  ];

  const missing = named
    .map(([, path = ""]) => path)
    .filter((path) => !["", "lambdas/job", "bin/cli"].some((top) => existsSync(join(ROOT, top, path))));

  expect(named.length).toBeGreaterThan(0);
  expect(missing).toEqual([]);
});

test("the README is short", () => {
  expect(read("README.md").split("\n").length).toBeLessThanOrEqual(200);
});

function linksOf(document: string): readonly string[] {
  return [...read(document).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = ""]) => link);
}

function exists(document: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? document : normalize(join(dirname(document), path));
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

/** The names that headings get: lower case, without punctuation, with hyphens for spaces. */
function anchorsOf(document: string): readonly string[] {
  const headings = read(document)
    .replace(/^```[\s\S]*?^```/gm, "")
    .matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

function read(document: string): string {
  return readFileSync(join(ROOT, document), "utf8");
}
