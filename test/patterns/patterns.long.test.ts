import { globSync, readFileSync } from "node:fs";
import { sep } from "node:path";
import { describe, expect, it } from "vitest";
import { childrenOf, type Node, parse } from "../mutate/mutations.ts";
import { within } from "./bounded.ts";

/** Files that put expressions together; `outside-text.test.ts` tries those out. */
const COMPOSING = [
  "bin/cli/output/terminal.ts",
  "bin/cli/query/query.ts",
  "lambdas/job/snapshot/rows/lifted-column.ts",
  "lambdas/job/storage/layout.ts",
];

/** Of texts on which an expression that tries many ways takes long: a piece many times over, then what does not fit. */
const LENGTH = 65_536;
/** What classes such as `\w`, `\d`, `\s` and `.` take and do not take. */
const USUAL = ["a", "0", " ", "\n"];
const SYNTAX = /\(\?[:=!<]+|\\[a-zA-Z]|\\?[()[\]{}?*+|^$.\\]/g;

const files = globSync("{bin,lambdas,lib}/**/*.ts");
const sources = files.map((file) => readFileSync(file, "utf8"));
const expressions = [...new Set(sources.flatMap(regularExpressions))].sort();

/** As they are written: `/a+/g`. */
function regularExpressions(source: string): readonly string[] {
  const visit = (node: Node): readonly string[] =>
    "regex" in node ? [source.slice(node.start, node.end)] : childrenOf(node).flatMap(visit);
  return visit(parse(source));
}

/** Where the steps grow with the square of the length, one text of 64 KB takes seconds; else it takes a tenth of a millisecond. */
const tryOut = (expression: string): void => {
  const [, body = "", flags = ""] = /^\/(.*)\/([a-z]*)$/s.exec(expression) ?? [];
  const pattern = new RegExp(body, flags);
  within(1_000, () => {
    for (const text of hostileTexts(pattern)) text.replace(pattern, "");
  });
};

describe("the regular expressions of the source", () => {
  it("are found", () => {
    expect(expressions.length).toBeGreaterThan(50);
    const composing = files.filter((_, index) => sources[index]?.includes("RegExp("));
    expect(composing.map((file) => file.split(sep).join("/")).sort()).toEqual(COMPOSING);
  });

  // What takes long takes long each time; a busy machine takes a second for anything, once.
  it.each(expressions)("%s takes linear time", { retry: 2 }, (expression) => {
    expect(() => tryOut(expression)).not.toThrow();
  });
});

describe("an expression that takes longer", () => {
  it.each([
    String.raw`/\/+$/`,
    String.raw`/^s3:\/\/([^/]*)\/?(.*?)\/?$/`,
    "/^(a+)+$/",
    String.raw`/^(\w|\d)*$/`,
    "/(x|xx)+y/",
    String.raw`/^(?:\s*;\s*a=\s*)*$/`,
    String.raw`/^\s+|\s+$/g`,
  ])("such as %s is noticed", (expression) => {
    expect(() => tryOut(expression)).toThrow(
      expect.objectContaining({ code: "ERR_SCRIPT_EXECUTION_TIMEOUT" }),
    );
  });
});

/** Made for the expression: of the characters in it, alone, in pairs and all together, behind its own beginning. */
function* hostileTexts({ source }: RegExp): Generator<string> {
  const sample = source.replaceAll(/\\s[*+?]?/g, " ").replaceAll(SYNTAX, "");
  const characters = [...new Set([...sample, ...USUAL])].slice(0, 10);
  const start = /^\^?((?:\\?[^\\()[\]{}?*+|^$.])+)/.exec(source)?.[1]?.replaceAll("\\", "") ?? "";
  const misfits = ["\n\u0000", ...characters.map((character) => `${character}\n\u0000`)];
  for (const piece of characters) for (const end of misfits) yield start + piece.repeat(LENGTH) + end;
  const pairs = characters.flatMap((one) => characters.map((two) => one + two));
  for (const piece of [...pairs, sample]) {
    if (piece !== "") yield `${start}${piece.repeat(LENGTH / piece.length)}\n\u0000`;
  }
}
