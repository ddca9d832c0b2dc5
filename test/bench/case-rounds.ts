// Runs one case: its rounds, interleaved, each program in a separate process, the job in a new warehouse.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchCase, ServiceOptions } from "./bench-case.ts";
import { BenchEnvironment } from "./bench-environment.ts";
import type { MeasuredRun } from "./measured-process.ts";
import type { Phases } from "./phases.ts";

export interface CaseResult {
  readonly job: readonly MeasuredRun[];
  /** The runs to compare with. Empty if the figures stand alone. */
  readonly other: readonly MeasuredRun[];
  /** From one further run. Undefined for a long case. */
  readonly phases: Phases | undefined;
}

/** `program` is the built command line. */
export async function runCase(bench: BenchCase, rounds: number, program: string): Promise<CaseResult> {
  const folder = await mkdtemp(join(tmpdir(), "brand-events-bench-"));
  try {
    return await runRounds(bench, rounds, program, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runRounds(
  bench: BenchCase,
  rounds: number,
  program: string,
  folder: string,
): Promise<CaseResult> {
  const { service, job: options, isLong } = bench;
  const open = (changed: ServiceOptions, name: string): Promise<BenchEnvironment> =>
    BenchEnvironment.open({ service: changed, job: options, program, folder: join(folder, name) });
  await using environment = await open(service, "job");
  const otherService = serviceOfOther(bench);
  await using second = otherService && (await open(otherService, "other"));
  const runOther = async (): Promise<readonly MeasuredRun[]> => {
    if (second) return [await second.runJob()];
    return bench.other === "bare loop" ? [await environment.runBareLoop()] : [];
  };
  const job: MeasuredRun[] = [];
  const other: MeasuredRun[] = [];
  for (let round = 0; round < rounds; round += 1) {
    job.push(await environment.runJob());
    other.push(...(await runOther()));
  }
  return { job, other, phases: isLong ? undefined : await environment.profileJob() };
}

/** Undefined if the job runs in one service only. */
function serviceOfOther({ service, other }: BenchCase): ServiceOptions | undefined {
  if (typeof other === "object") return { ...service, events: other.fewerEvents };
  if (other !== "no faults") return undefined;
  const { failing: _, ...healthy } = service;
  return healthy;
}
