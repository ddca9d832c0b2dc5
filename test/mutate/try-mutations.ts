// Says of each mutation whether a test notices it.

import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { MutantCopy } from "./mutant-copy.ts";
import type { Fate, Reached } from "./mutant-runner.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";

/** `TIME`: a test did not end, which counts as noticed. `UNTESTED`: no test runs it. */
export type Verdict = Fate["verdict"] | "SURVIVED" | "UNTESTED";

/** The tests that run the job in their own process, and need little time. */
const TESTS = "test/{job,sync,protocol,simulation}/**/*.test.ts";
/** What tries the lock of `query`. */
const QUERY_TESTS = "test/cli/query/*.test.ts";
const OTHER_TESTS = /\.aws\.test\.ts$|^(?!test\/cli\/query\/).*\.long\.test\.ts$/;

/**
 * How far a test file is from a source: nearly all mutations die by the test that is named after theirs, so only what is left
 * is tried against more.
 */
const DISTANCES = ["named after it", "in its folder", "anywhere"] as const;
type Distance = (typeof DISTANCES)[number];

/** Below `root` lies a project like this one. */
export async function tryMutations(
  root: string,
  mutations: readonly Mutation[],
): Promise<ReadonlyMap<Mutation, Verdict>> {
  const watched = watchedWith(root, mutations);
  const numbered = new Map([...mutations, ...watched].map((mutation, index) => [index + 1, mutation]));
  using copy = new MutantCopy(root, numbered);
  for (let id = mutations.length + 1; id <= numbered.size; id += 1) copy.leaveOut(id);
  const reached = new Map<string, Reached>();
  const left = (): ReadonlyMap<number, Mutation> => {
    const fates = copy.fates();
    return new Map([...numbered].filter(([id]) => !fates.has(id)));
  };
  const idsOf = Map.groupBy(numbered.keys(), (id) => numbered.get(id)?.file);
  /** What happens when a file is loaded happens once in a process, but every test that uses the file has it. */
  const togetherWith = (id: number, { file, isOnLoad }: Mutation): readonly number[] =>
    isOnLoad ? (idsOf.get(file) ?? []) : [id];
  const tryAlone = async (tests: readonly string[], ids: ReadonlyMap<number, Mutation>): Promise<void> => {
    for (const [id, mutation] of ids) {
      const together = togetherWith(id, mutation);
      const alone = tests.filter((test) => {
        const { inTests = [], elsewhere = [] } = reached.get(test) ?? {};
        return [...(mutation.isOnLoad ? inTests : []), ...elsewhere].some((one) => together.includes(one));
      });
      if (alone.length > 0) await copy.tryAlone(id, alone);
    }
  };

  for (const distance of DISTANCES) {
    const files = new Set([...left().values()].map(({ file }) => file));
    const tests = testsOf(root, files).filter(
      (test) => !reached.has(test) && isWithin(distance, test, files),
    );
    for (const [test, more] of await copy.round(tests, "quick")) reached.set(test, more);
    const failed = tests.filter((test) => reached.get(test)?.isFailed);
    if (failed.length > 0) throw new Error(`Without a mutation tests fail: ${failed.join(", ")}`);
    await tryAlone(tests, new Map([...left()].filter(([, { isOnLoad }]) => isOnLoad)));
  }
  const unnoticed = left();
  const slow = [...reached]
    .filter(([, { later }]) => later.some((id) => unnoticed.has(id)))
    .map(([test]) => test);
  for (const [test, more] of await copy.round(slow, "slow")) {
    const elsewhere = [...(reached.get(test)?.elsewhere ?? []), ...more.elsewhere];
    reached.set(test, { ...more, elsewhere });
  }
  await tryAlone([...reached.keys()], left());
  const fates = copy.fates();
  const run = new Set([...reached.values()].flatMap(({ inTests, elsewhere }) => [...inTests, ...elsewhere]));
  return new Map(
    mutations.map((mutation, index) => {
      const isRun = togetherWith(index + 1, mutation).some((id) => run.has(id));
      return [mutation, fates.get(index + 1)?.verdict ?? (isRun ? "SURVIVED" : "UNTESTED")];
    }),
  );
}

function isWithin(distance: Distance, test: string, sources: ReadonlySet<string>): boolean {
  if (distance === "anywhere") return true;
  return [...sources].some((source) => {
    const below = `test/${source.slice(source.indexOf("/") + 1)}`;
    return test.startsWith(distance === "in its folder" ? `${dirname(below)}/` : below.replace(/ts$/, ""));
  });
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
