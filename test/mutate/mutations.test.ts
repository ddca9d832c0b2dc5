// Which changes are made of a source, and that the listed ones are among them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { EQUIVALENT } from "./equivalent.ts";
import { mutationsOf, withMutations } from "./mutations.ts";

const ROOT = join(import.meta.dirname, "..", "..");

const changesOf = (source: string): readonly string[] =>
  mutationsOf("f.ts", source).map(
    ({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end),
  );

describe("a source is changed in one place at a time", () => {
  it.each<[what: string, source: string, changed: readonly string[]]>([
    ["a condition", "if (a) b = c;", ["if (!(a)) b = c;", "if (a) ;"]],
    ["a boundary", "f(a < b);", [";", "f(a <= b);"]],
    ["an equality", "f(a === b);", [";", "f(a !== b);"]],
    [
      "a condition of parts",
      "while (a && (b || c)) f: for (;;) {}",
      [
        "while (!(a && (b || c))) f: for (;;) {}",
        "while ((a)) f: for (;;) {}",
        "while ((b || c)) f: for (;;) {}",
        "while (a && ((b))) f: for (;;) {}",
        "while (a && ((c))) f: for (;;) {}",
      ],
    ],
    ["a choice", "let a = b ? 1 : 2;", ["let a = !(b) ? 1 : 2;"]],
    ["a statement that is awaited", "await f();", [";", "f();"]],
    ["a thrown error", "if (a) throw b;", ["if (!(a)) throw b;", "if (a) ;"]],
    ["a result", "const f = () => { return a(); };", ["const f = () => { return undefined; };"]],
    [
      "a result that is awaited",
      "const f = async () => { return await a; };",
      ["const f = async () => { return a; };", "const f = async () => { return undefined; };"],
    ],
    [
      "a result of yes or no",
      "const f = (a: number) => a > 1;",
      [
        "const f = (a: number) => true;",
        "const f = (a: number) => false;",
        "const f = (a: number) => a >= 1;",
      ],
    ],
    ["a word for yes or no", "const a: { b: true } = { b: true };", ["const a: { b: true } = { b: false };"]],
  ])("%s", (_, source, changed) => {
    expect(changesOf(source)).toEqual(changed);
  });
});

test("what is only logged, and what is only a type, is not changed", () => {
  expect(changesOf('this.#logger.warn(a ? "b" : "c");\ntype A = true;')).toEqual([]);
});

test("a source holds all its mutations, and each is chosen by its number", () => {
  const source = "const f = (a, b) => a < 3 && b;";
  // In any order: some may have been drawn at random.
  const numbered = new Map(
    mutationsOf("f.ts", source)
      .map((each, index) => [index + 1, each] as const)
      .reverse(),
  );
  const program = new Function("globalThis", `${withMutations(source, numbered)} return f(3, 4);`);

  const results = [1, 2, 3, 4, 5].map((active) => program({ isMutant: (id: number) => id === active }));

  expect([program({ isMutant: () => false }), program({})]).toEqual([false, false]);
  expect(results).toEqual([true, false, false, 4, 4]);
});

test("a change is known by the function around it, and the lines before and after", () => {
  const [mutation] = mutationsOf("f.ts", "\nclass A {\n  #b(): number {\n    return 1;\n  }\n}\n");

  expect(mutation).toMatchObject({ line: 4, text: "b: return 1; → return undefined;", isOnLoad: false });
});

test("each mutation that is listed as equivalent is one of its file", () => {
  const gone = Object.entries(EQUIVALENT).flatMap(([file, listed]) => {
    const texts = mutationsOf(file, readFileSync(join(ROOT, file), "utf8")).map(({ text }) => text);
    return Object.keys(listed).filter((text) => !texts.includes(text));
  });

  expect(gone).toEqual([]);
});
