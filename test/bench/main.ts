// `npm run bench`: measures the job against the simulator and prints which targets it meets.

import { parseArgs } from "node:util";
import { CASES } from "./bench-cases.ts";
import { runCase } from "./case-rounds.ts";
import { checkTargets } from "./check-target.ts";
import { measureBundle } from "./function-bundle.ts";
import { buildForBench } from "./programs.ts";
import {
  bundleText,
  type Finished,
  figureTable,
  machine,
  phaseTable,
  ratioTable,
  targetTable,
} from "./report.ts";

/** Not a run against a service: the import of the function's bundle. */
const BUNDLE = "bundle";
const BUNDLE_ROUNDS = 9;

const { values } = parseArgs({
  options: { case: { type: "string", multiple: true }, rounds: { type: "string" } },
});
const all = [...CASES.filter(({ isOnRequest }) => !isOnRequest).map(({ name }) => name), BUNDLE];
const names = values.case ?? all;
const known = [...CASES.map(({ name }) => name), BUNDLE];
const unknown = names.find((name) => !known.includes(name));
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);

if (unknown !== undefined) {
  process.stderr.write(`Unknown case ${unknown}. The cases are ${known.join(", ")}.\n`);
  process.exitCode = 2;
} else if (rounds !== undefined && !(Number.isSafeInteger(rounds) && rounds > 0)) {
  process.stderr.write(`--rounds: expected a whole number from 1, and got "${values.rounds}".\n`);
  process.exitCode = 2;
} else {
  const cases = CASES.filter(({ name }) => names.includes(name));
  const program = cases.length === 0 ? "" : await buildForBench();
  const finished: Finished[] = [];
  for (const bench of cases) {
    const times = rounds ?? bench.rounds;
    process.stderr.write(
      `${bench.name}: ${bench.title}, ${times === 1 ? "one round" : `${times} rounds`} …\n`,
    );
    const result = await runCase(bench, times, program);
    finished.push({ bench, result, checks: checkTargets(bench, result) });
  }
  const bundle = names.includes(BUNDLE) ? await measureBundle(rounds ?? BUNDLE_ROUNDS) : undefined;
  process.stdout.write(`${machine()}\n\n${targetTable(finished, bundle)}\n`);
  if (finished.length > 0) {
    process.stdout.write(
      `"job" is the installed command. Ratios of medians:\n\n${ratioTable(finished)}\nMedians, wall time from the first request to the exit:\n\n${figureTable(finished)}\n`,
    );
  }
  if (finished.some(({ result }) => result.phases)) {
    process.stdout.write(
      `Processor time by phase, from one further run under the profiler:\n\n${phaseTable(finished)}\n`,
    );
  }
  if (bundle) process.stdout.write(bundleText(bundle));
  const checks = [...finished.flatMap((one) => one.checks), ...(bundle ? [bundle.check] : [])];
  process.exitCode = checks.every(({ isMet }) => isMet) ? 0 : 1;
}
