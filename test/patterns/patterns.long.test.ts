import { globSync, readFileSync } from "node:fs";
import { sep } from "node:path";
import { describe, expect, it } from "vitest";
import { within } from "./bounded.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { regularExpressions } from "./regular-expressions.ts";

/** They put expressions together; `outside-text.test.ts` tries those out. */
const COMPOSING = [
  "bin/cli/output/terminal.ts",
  "lambdas/job/snapshot/rows/lifted-column.ts",
  "lambdas/job/storage/layout.ts",
];

const files = globSync("{bin,lambdas,lib}/**/*.ts");
const sources = files.map((file) => readFileSync(file, "utf8"));
const expressions = [...new Set(sources.flatMap(regularExpressions))].sort();

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

  it.each(expressions)("%s takes linear time", (expression) => {
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

describe("an expression in a source", () => {
  it.each([
    ["const a = /x/;", ["/x/"]],
    ["f(/[/]/g, /\\//u)", ["/[/]/g", "/\\//u"]],
    ["return /x/.test(a) ? b / c : d / e;", ["/x/"]],
    ["z.string().regex(\n  /^x$/,\n)", ["/^x$/"]],
    ["// /x/\n/* /y/ */ const path = '/a/b/' + \"/c/\" + `/d/`;", []],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source to read
    ["`/a/${/x/.exec(b)} /c/ ${{ d: /y/ }} /e/`", ["/x/", "/y/"]],
    ["a[0] / b; f() / 2; 3 / 4 / 5;", []],
    ["#!/usr/bin/env node\nx = /a/;", ["/a/"]],
  ])("is distinguished from other slashes: %s", (source, expected) => {
    expect(regularExpressions(source)).toEqual(expected);
  });
});
