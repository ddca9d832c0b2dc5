// Says of each mutation whether a test notices it.

import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { MutantCopy } from "./mutant-copy.ts";
import type { Fate, Reached } from "./mutant-runner.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";

/** `TIME`: a test did not end, which counts as noticed. `UNTESTED`: no test runs it. */
export type Verdict = Fate["verdict"] | "SURVIVED" | "UNTESTED";

/** Those that run the job in their own process, and need little time. */
const TESTS = "test/{job,sync,protocol,simulation}/**/*.test.ts";
/** What tries the lock of `query`. */
const QUERY_TESTS = "test/cli/query/*.test.ts";
const OTHER_TESTS = /\.aws\.test\.ts$|^(?!test\/cli\/query\/).*\.long\.test\.ts$/;

/** Below `root` lies a project like this one. */
export async function tryMutations(
  root: string,
  mutations: readonly Mutation[],
): Promise<ReadonlyMap<Mutation, Verdict>> {
  const watched = watchedWith(root, mutations);
  const numbered = new Map([...mutations, ...watched].map((mutation, index) => [index + 1, mutation]));
  using copy = new MutantCopy(root, numbered);
  for (let id = mutations.length + 1; id <= numbered.size; id += 1) copy.leaveOut(id);
  const tests = testsOf(root, new Set(mutations.map(({ file }) => file)));
  const folders = new Set(
    mutations.map(({ file }) => `test/${dirname(file).split("/").slice(1).join("/")}/`),
  );
  const isNear = (test: string): boolean => [...folders].some((folder) => test.startsWith(folder));
  const { near = [], far = [] } = Object.groupBy(tests, (test) => (isNear(test) ? "near" : "far"));
  const reached = new Map(await copy.round(near, "quick"));
  const isLeft = (id: number): boolean => !copy.fates().has(id);
  if (numbered.keys().some(isLeft))
    for (const [test, more] of await copy.round(far, "quick")) reached.set(test, more);
  const failed = [...reached].filter(([, { isFailed }]) => isFailed).map(([test]) => test);
  if (failed.length > 0) throw new Error(`Without a mutation tests fail: ${failed.join(", ")}`);
  const slow = tests.filter((test) => reached.get(test)?.later.some(isLeft));
  for (const [test, more] of await copy.round(slow, "slow")) {
    const elsewhere = [...(reached.get(test)?.elsewhere ?? []), ...more.elsewhere];
    reached.set(test, { ...more, elsewhere });
  }
  const verdicts = new Map<Mutation, Verdict>();
  const idsOf = Map.groupBy(numbered.keys(), (id) => numbered.get(id)?.file);
  for (const [index, mutation] of mutations.entries()) {
    const id = index + 1;
    // What happens when a file is loaded happens once in a process, but every test that uses the file has it.
    const ids = mutation.isOnLoad ? (idsOf.get(mutation.file) ?? []) : [id];
    verdicts.set(mutation, await verdictOf(id, ids, copy, reached));
  }
  return verdicts;
}

/** The other mutations of files in which one happens on load: they are not tried, but tell which tests use the file. */
function watchedWith(root: string, mutations: readonly Mutation[]): readonly Mutation[] {
  const files = new Set(mutations.filter(({ isOnLoad }) => isOnLoad).map(({ file }) => file));
  const tried = new Set(mutations.map(({ file, text }) => `${file} ${text}`));
  return [...files]
    .flatMap((file) => mutationsOf(file, readFileSync(join(root, file), "utf8")))
    .filter(({ file, text }) => !tried.has(`${file} ${text}`));
}

/** The test files that import one of the sources, directly or through others. */
function testsOf(root: string, sources: ReadonlySet<string>): readonly string[] {
  const uses = new Map<string, boolean>();
  const isUser = (file: string): boolean => {
    const known = uses.get(file);
    if (known !== undefined) return known;
    uses.set(file, sources.has(file));
    const text = readFileSync(join(root, file), "utf8");
    const imports = [...text.matchAll(/^(?:import|\}) .*?"(\..*?\.ts)"/gm)];
    const isUsed = imports.some(([, path = ""]) => isUser(posix.join(posix.dirname(file), path)));
    uses.set(file, isUsed || sources.has(file));
    return uses.get(file) ?? false;
  };
  const isQuery = [...sources].some((source) => source.startsWith("bin/"));
  const tests = globSync(isQuery ? [TESTS, QUERY_TESTS] : TESTS, { cwd: root }).map((file) =>
    file.split(sep).join("/"),
  );
  return tests.filter((file) => !OTHER_TESTS.test(file) && isUser(file));
}

async function verdictOf(
  id: number,
  together: readonly number[],
  copy: MutantCopy,
  reached: ReadonlyMap<string, Reached>,
): Promise<Verdict> {
  const fate = copy.fates().get(id)?.verdict;
  if (fate !== undefined) return fate;
  const testsWith = (idsOf: (test: Reached) => readonly number[]): readonly string[] =>
    [...reached]
      .filter(([, test]) => idsOf(test).some((one) => together.includes(one)))
      .map(([test]) => test);
  const alone = testsWith(({ inTests, elsewhere }) =>
    together.length > 1 ? [...inTests, ...elsewhere] : elsewhere,
  );
  const found = alone.length === 0 ? undefined : await copy.fateAlone(id, alone);
  if (found !== undefined) return found;
  return alone.length > 0 || testsWith(({ inTests }) => inTests).length > 0 ? "SURVIVED" : "UNTESTED";
}
