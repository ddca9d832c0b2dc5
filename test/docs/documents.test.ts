// How the documents are written: links that lead somewhere, few words, plain English, and the installed command.

import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { sectionOf, termsBelow } from "./markdown.ts";

const ROOT = join(import.meta.dirname, "..", "..");

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const DOCUMENTS = globSync(["*.md", "{docs,examples}/**/*.md"], { cwd: ROOT }).map((path) =>
  path.replaceAll("\\", "/"),
);

test.each(DOCUMENTS)("every link in %s leads somewhere", (document) => {
  const broken = linksOf(document).filter((link) => !exists(document, link));

  expect(broken).toEqual([]);
});

/** The files and rooms that a text names. */
const placesIn = (text: string): readonly string[] =>
  [...text.matchAll(/`((?:bin|lambdas|lib|test|[a-z]+)\/[\w/-]+(?:\.ts)?)`/g)].map(([, path = ""]) => path);

const isThere = (path: string): boolean =>
  ["", "lambdas/job", "bin/cli"].some((top) => existsSync(join(ROOT, top, path)));

test("every source file that the architecture names exists", () => {
  const named = placesIn(read("docs/architecture.md"));

  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});

test.each(["a setting", "a command", "a hold reason", "an error code", "a metric", "a notification"])(
  "the architecture says where to change %s",
  (subject) => {
    const lines = sectionOf("architecture.md", "## Where to change what").split("\n");

    const places = placesIn(lines.find((line) => line.startsWith(`- **${subject}**: `)) ?? "");

    expect(places.filter((path) => path.endsWith(".ts"))).not.toEqual([]);
  },
);

test("the map of the tests has every folder of them", () => {
  const named = termsBelow("testing.md", "# Testing").flatMap((term) =>
    [...term.matchAll(/`([\w-]+)`/g)].map(([, name]) => name),
  );

  const folders = readdirSync(join(ROOT, "test"), { withFileTypes: true }).filter((each) =>
    each.isDirectory(),
  );
  expect(named.toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
});

test("the README is short", () => {
  expect(read("README.md").split("\n").length).toBeLessThanOrEqual(200);
});

test("all decisions have at most 3,200 words", () => {
  expect(wordsOf("docs/decisions.md")).toBeLessThanOrEqual(3_200);
});

test("all pages but the decisions and the change log have at most 18,000 words, commands and tables included", () => {
  const pages = ["README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md"];
  const below = globSync("docs/*.md", { cwd: ROOT }).filter((path) => basename(path) !== "decisions.md");

  expect(wordsOf(...pages, ...below)).toBeLessThanOrEqual(18_000);
});

test("each decision is short, and has its reason and what would make it wrong", () => {
  const records = read("docs/decisions.md")
    .split(/^(?=## )/m)
    .slice(1);

  const incomplete = records.filter(
    (record) =>
      !/^## .+\n\n.+ \*\*Why\.\*\* .+ \*\*Wrong if\*\* .+\n*$/.test(record) || countOf(record) > 105,
  );

  expect(incomplete).toEqual([]);
});

/** A change log keeps what was written; this file has to name the words. */
const EXCEPT: ReadonlySet<string> = new Set(["CHANGELOG.md", "test/docs/documents.test.ts"]);

const TEXTS = globSync(["*.md", "docs/**/*.md", "{bin,lambdas,lib,test}/**/*.ts"], { cwd: ROOT })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => !EXCEPT.has(path))
  .map((path) => ({ path, text: read(path) }));

test.each([
  ["nobody", "name the thing: none, no program, no request"],
  ["anew", "again"],
  ["whoever", "name the subject: a process, a program, a user"],
  ["of late", "recently"],
  ["in vain", "failed"],
  ["goes on with", "resumes, continues"],
  ["all the same", "anyway"],
  ["design section", "docs/service-interface.md or docs/format.md"],
  ["interface document", "docs/service-interface.md"],
])("no text says %s: %s", (words) => {
  const pattern = new RegExp(`\\b${words.replaceAll(" ", "[\\s/*]+")}\\b`, "gi");

  const places = TEXTS.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(({ index }) => `${path}:${text.slice(0, index).split("\n").length}`),
  );

  expect(places).toEqual([]);
});

/** The pages that are about the clone. */
const IN_A_CLONE: ReadonlySet<string> = new Set(["CHANGELOG.md", "CONTRIBUTING.md"]);

test("commands in documents and examples begin with brand-events-sync; README.md and settings.md name the clone's form once", () => {
  const documents = globSync(["*.md", "docs/*.md", "examples/**/*.{json,ts}"], { cwd: ROOT });
  const lines = documents
    .filter((path) => !IN_A_CLONE.has(basename(path)))
    .flatMap((path) =>
      read(path)
        .split("\n")
        .filter((line) => /npm run (?:-s )?sync -- /.test(line))
        .map(() => basename(path)),
    );

  expect(lines.toSorted()).toEqual(["README.md", "settings.md"]);
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

/** As `wc -w` counts: what stands between white space, bars of tables as well. */
const countOf = (text: string): number => text.split(/\s+/).filter(Boolean).length;

const wordsOf = (...paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + countOf(read(path)), 0);
