// `npm run bench`: measures the job against the simulator, in turn with the bare loop, and prints which targets it meets.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type BenchCase, CASES } from "./bench-cases.ts";
import { BenchEnvironment, buildForBench, type MeasuredRun } from "./bench-environment.ts";
import { type CaseResult, checkTargets, type Finished, figureTable, machine, targetTable } from "./report.ts";

const { values } = parseArgs({
  options: { case: { type: "string", multiple: true }, rounds: { type: "string" } },
});
const known = CASES.map(({ name }) => name);
const names = values.case ?? known;
const unknown = names.find((name) => !known.includes(name));
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);

if (unknown !== undefined) {
  process.stderr.write(`Unknown case ${unknown}. The cases are ${known.join(", ")}.\n`);
  process.exitCode = 2;
} else if (rounds !== undefined && !(Number.isSafeInteger(rounds) && rounds > 0)) {
  process.stderr.write(`--rounds: expected a whole number from 1, and got "${values.rounds}".\n`);
  process.exitCode = 2;
} else {
  const program = await buildForBench();
  const finished: Finished[] = [];
  for (const bench of CASES.filter(({ name }) => names.includes(name))) {
    const times = rounds ?? bench.rounds;
    process.stderr.write(
      `${bench.name}: ${bench.title}, ${times === 1 ? "one round" : `${times} rounds`} …\n`,
    );
    const result = await runCase(bench, times, program);
    finished.push({ bench, result, checks: checkTargets(bench, result) });
  }
  process.stdout.write(
    `${machine()}\n\n${targetTable(finished)}\n"job" is the installed command. Medians, wall time from the first request to the exit:\n\n${figureTable(finished)}\n`,
  );
  process.exitCode = finished.every(({ checks }) => checks.every(({ isMet }) => isMet)) ? 0 : 1;
}

/** Each program in a separate process, the job in a new warehouse. `program` is the built command line. */
async function runCase({ load }: BenchCase, times: number, program: string): Promise<CaseResult> {
  const folder = await mkdtemp(join(tmpdir(), "brand-events-bench-"));
  try {
    await using environment = await BenchEnvironment.open({ load, program, folder: join(folder, "job") });
    const job: MeasuredRun[] = [];
    const bareLoop: MeasuredRun[] = [];
    for (let round = 0; round < times; round += 1) {
      job.push(await environment.runJob());
      bareLoop.push(await environment.runBareLoop());
    }
    return { job, bareLoop };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
