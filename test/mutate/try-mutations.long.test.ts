// The verdicts on the changes of a small project are known; and of what decides about data, tests notice twelve changes that
// are drawn by lot: others for other sources, the same ones for the same.

import { hash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DECIDING, EQUIVALENT } from "./equivalent.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { tryMutations } from "./try-mutations.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const SOURCE = `export const isLarge = (size: number): boolean => size > 10;

export function sum(numbers: readonly number[]): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

export function untold(): number {
  return 1;
}
`;
/** Each of these is noticed by one file of tests, and all of those run in two processes. */
const SWITCHES = ["red", "green", "blue", "grey"];
const SWITCHES_SOURCE = `${SWITCHES.map((name) => `export const ${name} = { isOn: true };`).join("\n")}
export function isAnyOn(switches: readonly { isOn: boolean }[]): boolean {
  return switches.some(({ isOn }) => isOn);
}
`;
const testOfSwitch = (name: string): string => `import { expect, test } from "vitest";
import { ${name}, isAnyOn } from "../../lambdas/job/switches.ts";

test("it is on", () => expect(isAnyOn([${name}])).toBe(true));
`;
const TEST = `import { expect, test } from "vitest";
import { isLarge, sum } from "../../lambdas/job/planted.ts";

test("some are large", () => expect([isLarge(1), isLarge(20)]).toEqual([false, true]));
test("numbers are added", () => expect(sum([1, 2])).toBe(3));
`;

let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "planted-"));
  for (const [file, text] of [
    ["lambdas/job/planted.ts", SOURCE],
    ["test/job/planted.test.ts", TEST],
    ["lambdas/job/switches.ts", SWITCHES_SOURCE],
    ...SWITCHES.map((name) => [`test/job/${name}.test.ts`, testOfSwitch(name)] as const),
  ] as const) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  cpSync(import.meta.dirname, join(root, "test/mutate"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(root, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
});

afterAll(() => rmSync(root, { recursive: true }));

test("a mutation dies by a test that fails, or survives the tests that run it", async () => {
  const verdicts = await tryMutations(root, mutationsOf("lambdas/job/planted.ts", SOURCE));

  const line = "isLarge: export const isLarge = (size: number): boolean =>";
  expect([...verdicts].map(([{ text }, verdict]) => `${verdict} ${text}`).toSorted()).toEqual([
    `KILLED ${line} size > 10; → export const isLarge = (size: number): boolean => false;`,
    `KILLED ${line} size > 10; → export const isLarge = (size: number): boolean => true;`,
    "KILLED sum: for (const number of numbers) total += number; → dropped",
    "KILLED sum: return total; → return undefined;",
    `SURVIVED ${line} size > 10; → export const isLarge = (size: number): boolean => size >= 10;`,
    "UNTESTED untold: return 1; → return undefined;",
  ]);
});

test("a mutation of what happens on load dies by any test that uses the file, also when it is tried alone", async () => {
  const all = mutationsOf("lambdas/job/switches.ts", SWITCHES_SOURCE);
  for (const name of SWITCHES) {
    const alone = all.filter(({ text }) => text.startsWith(`${name}: `) && text.includes("isOn: false"));
    expect([...(await tryMutations(root, alone)).values()], name).toEqual(["KILLED"]);
  }
});

const DRAWN = 12;

test(`${DRAWN} mutations, drawn by lot, are noticed`, async () => {
  const sources = DECIDING.map((file) => [file, readFileSync(join(ROOT, file), "utf8")] as const);
  const left = sources
    .flatMap(([file, source]) => mutationsOf(file, source))
    .filter(({ file, text }) => EQUIVALENT[file]?.[text] === undefined);
  const lotOf = ({ file, text }: Mutation): string => hash("sha256", JSON.stringify([sources, file, text]));
  const drawn = left.toSorted((a, b) => (lotOf(a) < lotOf(b) ? -1 : 1)).slice(0, DRAWN);

  const verdicts = await tryMutations(ROOT, drawn);

  const told = [...verdicts].map(([{ file, line, text }, verdict]) => `${verdict}  ${file}:${line}  ${text}`);
  console.log(told.join("\n"));
  expect(told.filter((line) => /^(?:SURVIVED|UNTESTED)/.test(line))).toEqual([]);
}, 1_200_000);
