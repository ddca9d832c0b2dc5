// Runs one case: its rounds, interleaved, each program in a separate process, the job in a new warehouse.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchCase } from "./bench-case.ts";
import { BenchEnvironment } from "./bench-environment.ts";
import type { MeasuredRun } from "./measured-process.ts";
import type { Phases } from "./phases.ts";

export interface CaseResult {
  readonly job: readonly MeasuredRun[];
  /** The runs to compare with: the bare loop, or the job with fewer events. Empty if the figure stands alone. */
  readonly other: readonly MeasuredRun[];
  /** From one further run. Undefined for a long case, and if the budget determines the time of a run. */
  readonly phases: Phases | undefined;
}

export async function runCase(bench: BenchCase, rounds: number): Promise<CaseResult> {
  const folder = await mkdtemp(join(tmpdir(), "brand-events-bench-"));
  try {
    return await runRounds(bench, rounds, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runRounds(bench: BenchCase, rounds: number, folder: string): Promise<CaseResult> {
  const { measure, service, job: options, isLong } = bench;
  await using environment = await BenchEnvironment.open(service, options, join(folder, "job"));
  const fewer = measure.kind === "memory-growth" ? { ...service, events: measure.fromEvents } : undefined;
  await using small = fewer && (await BenchEnvironment.open(fewer, options, join(folder, "small")));
  const runOther = async (): Promise<readonly MeasuredRun[]> => {
    if (small) return [await small.runJob()];
    return measure.kind === "against-ideal" || isLong ? [] : [await environment.runBareLoop()];
  };
  const job: MeasuredRun[] = [];
  const other: MeasuredRun[] = [];
  for (let round = 0; round < rounds; round += 1) {
    job.push(await environment.runJob());
    other.push(...(await runOther()));
  }
  return {
    job,
    other,
    phases: measure.kind === "against-ideal" || isLong ? undefined : await environment.profileJob(),
  };
}
