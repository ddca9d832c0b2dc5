// The benchmark's tables, in Markdown.

import { cpus, totalmem } from "node:os";
import type { BenchCase } from "./bench-cases.ts";
import { type CaseResult, medianOf, type TargetCheck } from "./check-target.ts";
import type { MeasuredRun } from "./measured-process.ts";

export interface Finished {
  readonly bench: BenchCase;
  readonly result: CaseResult;
  readonly checks: readonly TargetCheck[];
}

export function machine(): string {
  const [cpu] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${cpu?.model.trim()}), ${gib} GiB, ${process.platform}, Node ${process.version}`;
}

export function targetTable(finished: readonly Finished[]): string {
  return table(
    ["case", "target", "measured", ""],
    finished.flatMap(({ bench, checks }) =>
      checks.map(({ target, measured, isMet }) => [
        `\`${bench.name}\` ${bench.title}`,
        target,
        measured,
        isMet ? "pass" : "MISS",
      ]),
    ),
  );
}

/** Medians, with the range of the wall time: a wide range means other work on the machine. */
export function figureTable(finished: readonly Finished[]): string {
  const columns = ["case", "program", "start-up CPU", "wall", "from – to", "CPU", "an event", "peak memory"];
  return table(
    [...columns, "requests"],
    finished.flatMap(({ bench, result: { job, bareLoop } }) => [
      figures(bench, "job", job),
      figures(bench, "the bare loop", bareLoop),
    ]),
  );
}

function figures(
  { name, load }: BenchCase,
  program: string,
  runs: readonly MeasuredRun[],
): readonly string[] {
  const walls = runs.map(({ wallMs }) => wallMs);
  const cpuMs = medianOf(runs, "cpuMs");
  return [
    name,
    program,
    seconds(medianOf(runs, "startUpCpuMs")),
    seconds(medianOf(runs, "wallMs")),
    `${seconds(Math.min(...walls))} – ${seconds(Math.max(...walls))}`,
    seconds(cpuMs),
    `${((cpuMs / load.events) * 1_000).toFixed(0)} µs`,
    `${medianOf(runs, "peakRssMib").toFixed(0)} MiB`,
    String(medianOf(runs, "requests")),
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}
