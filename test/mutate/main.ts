// `npm run mutate`: changes a source in small ways, one at a time, and says which changes no test notices.

import { globSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { EQUIVALENT } from "./equivalent.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { tryMutations, type Verdict } from "./try-mutations.ts";

const ROOT = join(import.meta.dirname, "..", "..");

const USAGE = `npm run mutate -- PATH…

Changes the sources of each PATH, a folder or a file below lambdas, in small ways: one at a time, in a copy. Names
the changes that no test notices, and those that no test runs.

  FILE:LINE   only the changes that begin in this line`;

process.exitCode = await main(process.argv.slice(2));

async function main(paths: readonly string[]): Promise<number> {
  if (paths.length === 0) {
    console.error(USAGE);
    return 2;
  }
  const all = paths.flatMap(mutationsBelow);
  const tried = all.filter(({ file, text }) => EQUIVALENT[file]?.[text] === undefined);
  const counts: Record<Verdict, number> = { KILLED: 0, TIME: 0, SURVIVED: 0, UNTESTED: 0 };
  for (const [{ file, line, text }, verdict] of await tryMutations(ROOT, tried)) {
    counts[verdict] += 1;
    if (verdict !== "KILLED") console.log(`${verdict.padEnd(8)}  ${file}:${line}  ${text}`);
  }
  const { KILLED, TIME, SURVIVED, UNTESTED } = counts;
  console.log(
    `${all.length} mutations: ${KILLED} killed, ${TIME} did not end, ${SURVIVED} survived, ${UNTESTED} not run by any test, ${all.length - tried.length} listed`,
  );
  return SURVIVED + UNTESTED === 0 ? 0 : 1;
}

function mutationsBelow(path: string): readonly Mutation[] {
  const [, place = path, line] = /^(.*?)(?::(\d+))?$/.exec(path) ?? [];
  const folder = relative(ROOT, place).split(sep).join("/");
  const files = statSync(place).isDirectory() ? globSync(`${folder}/**/*.ts`, { cwd: ROOT }) : [folder];
  return files.toSorted().flatMap((file) => {
    const found = mutationsOf(file, readFileSync(join(ROOT, file), "utf8"));
    return line === undefined ? found : found.filter((mutation) => mutation.line === Number(line));
  });
}
