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

/** Of medians: how much longer the job takes than the bare loop. */
export function ratioTable(finished: readonly Finished[]): string {
  const rows = finished.map(({ bench, result: { job, bareLoop } }) => {
    const ratio = (figure: keyof MeasuredRun): string =>
      `${(medianOf(job, figure) / medianOf(bareLoop, figure)).toFixed(2)}×`;
    const each = (figure: keyof MeasuredRun): string =>
      `${((medianOf(job, figure) / bench.load.events) * 1_000).toFixed(0)} µs`;
    return [
      bench.name,
      ratio("wallMs"),
      ratio("cpuMs"),
      ratio("mainThreadMs"),
      each("cpuMs"),
      each("mainThreadMs"),
    ];
  });
  return table(["case", "wall", "CPU", "main thread", "CPU an event", "main thread an event"], rows);
}

/** Medians, with the range of the wall time: a wide range means other work on the machine. */
export function figureTable(finished: readonly Finished[]): string {
  const columns = ["case", "program", "start-up", "its CPU", "wall", "from – to", "to first detail"];
  const more = ["after last response", "CPU", "main thread", "peak memory", "requests"];
  return table(
    [...columns, ...more, "service's CPU"],
    finished.flatMap(({ bench, result: { job, bareLoop } }) => [
      figures(bench.name, "job", job),
      figures(bench.name, "the bare loop", bareLoop),
    ]),
  );
}

function figures(name: string, program: string, runs: readonly MeasuredRun[]): readonly string[] {
  const middle = (figure: keyof MeasuredRun): string => seconds(medianOf(runs, figure));
  const walls = runs.map(({ wallMs }) => wallMs);
  return [
    name,
    program,
    middle("startUpMs"),
    middle("startUpCpuMs"),
    middle("wallMs"),
    `${seconds(Math.min(...walls))} – ${seconds(Math.max(...walls))}`,
    middle("toFirstDetailMs"),
    middle("afterLastMs"),
    middle("cpuMs"),
    middle("mainThreadMs"),
    `${medianOf(runs, "peakRssMib").toFixed(0)} MiB`,
    String(medianOf(runs, "requests")),
    middle("serviceCpuMs"),
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}
