// `npm run bench`: measures the job against the simulator and says which targets are met.

import { parseArgs } from "node:util";
import { CASES } from "./bench-case.ts";
import { runCase } from "./case-rounds.ts";
import { type Finished, figureTable, machine, phaseTable, targetTable } from "./report.ts";
import { verdict } from "./verdict.ts";

const { values } = parseArgs({
  options: { case: { type: "string", multiple: true }, rounds: { type: "string" } },
});
const names = values.case ?? CASES.map(({ name }) => name);
const unknown = names.find((name) => !CASES.some((bench) => bench.name === name));
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);

if (unknown !== undefined) {
  process.stderr.write(
    `There is no case ${unknown}; there are ${CASES.map(({ name }) => name).join(", ")}.\n`,
  );
  process.exitCode = 2;
} else if (rounds !== undefined && !(Number.isSafeInteger(rounds) && rounds > 0)) {
  process.stderr.write(`--rounds is a whole number from 1, not "${values.rounds}".\n`);
  process.exitCode = 2;
} else {
  const finished: Finished[] = [];
  for (const bench of CASES.filter(({ name }) => names.includes(name))) {
    const times = rounds ?? bench.rounds;
    process.stderr.write(
      `${bench.name}: ${bench.title}, ${times === 1 ? "one round" : `${times} rounds`} …\n`,
    );
    const result = await runCase(bench, times);
    finished.push({ bench, result, verdict: verdict(bench, result) });
  }
  process.stdout.write(
    `${machine()}\n\n${targetTable(finished)}\nMedians; "job" is the command line, from the first request to the exit:\n\n`,
  );
  process.stdout.write(
    `${figureTable(finished)}\nProcessor time by phase, in one more run under the profiler:\n\n${phaseTable(finished)}`,
  );
  process.exitCode = finished.every((one) => one.verdict.isMet) ? 0 : 1;
}
