// Runs one case: its rounds, interleaved, each program in a process of its own, the job in a fresh warehouse.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchCase } from "./bench-case.ts";
import type { MeasuredRun } from "./measured-process.ts";
import type { Phases } from "./phases.ts";
import { Place } from "./place.ts";

export interface CaseResult {
  readonly job: readonly MeasuredRun[];
  /** What the job is seen beside: the bare loop, or the job with fewer events; empty where it stands alone. */
  readonly other: readonly MeasuredRun[];
  /** Of one run more. Undefined where the budget decides how long a run takes. */
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
  const { measure, service, job: options } = bench;
  await using place = await Place.open(service, options, join(folder, "job"));
  const fewer = measure.kind === "memory-growth" ? { ...service, events: measure.fromEvents } : undefined;
  await using small = fewer && (await Place.open(fewer, options, join(folder, "small")));
  const runOther = async (): Promise<readonly MeasuredRun[]> => {
    if (measure.kind === "against-ideal") return [];
    return [await (small ? small.runJob() : place.runBareLoop())];
  };
  const job: MeasuredRun[] = [];
  const other: MeasuredRun[] = [];
  for (let round = 0; round < rounds; round += 1) {
    job.push(await place.runJob());
    other.push(...(await runOther()));
  }
  return { job, other, phases: measure.kind === "against-ideal" ? undefined : await place.profileJob() };
}
