// `npm run bench`: measures the job against the simulator and prints which targets it meets.

import { parseArgs } from "node:util";
import { CASES } from "./bench-case.ts";
import { runCase } from "./case-rounds.ts";
import { checkTarget } from "./check-target.ts";
import { type Finished, figureTable, machine, phaseTable, targetTable } from "./report.ts";

const { values } = parseArgs({
  options: { case: { type: "string", multiple: true }, rounds: { type: "string" } },
});
const names = values.case ?? CASES.filter(({ isOnRequest }) => !isOnRequest).map(({ name }) => name);
const unknown = names.find((name) => !CASES.some((bench) => bench.name === name));
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);

if (unknown !== undefined) {
  process.stderr.write(
    `Unknown case ${unknown}. The cases are ${CASES.map(({ name }) => name).join(", ")}.\n`,
  );
  process.exitCode = 2;
} else if (rounds !== undefined && !(Number.isSafeInteger(rounds) && rounds > 0)) {
  process.stderr.write(`--rounds: expected a whole number from 1, and got "${values.rounds}".\n`);
  process.exitCode = 2;
} else {
  const finished: Finished[] = [];
  for (const bench of CASES.filter(({ name }) => names.includes(name))) {
    const times = rounds ?? bench.rounds;
    process.stderr.write(
      `${bench.name}: ${bench.title}, ${times === 1 ? "one round" : `${times} rounds`} …\n`,
    );
    const result = await runCase(bench, times);
    finished.push({ bench, result, check: checkTarget(bench, result) });
  }
  process.stdout.write(
    `${machine()}\n\n${targetTable(finished)}\nMedians; "job" is the command line, from the first request to the exit:\n\n`,
  );
  process.stdout.write(figureTable(finished));
  if (finished.some(({ result }) => result.phases)) {
    process.stdout.write(
      `\nProcessor time by phase, from one further run under the profiler:\n\n${phaseTable(finished)}`,
    );
  }
  process.exitCode = finished.every((one) => one.check.isMet) ? 0 : 1;
}
