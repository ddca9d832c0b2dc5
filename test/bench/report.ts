// The benchmark's tables, in Markdown.

import { cpus, totalmem } from "node:os";
import type { BenchCase } from "./bench-case.ts";
import type { CaseResult } from "./case-rounds.ts";
import { otherName, type TargetCheck } from "./check-target.ts";
import type { BundleFigures } from "./function-bundle.ts";
import type { MeasuredRun } from "./measured-process.ts";
import { median } from "./median.ts";
import { PHASES } from "./phases.ts";

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

export function targetTable(finished: readonly Finished[], bundle: BundleFigures | undefined): string {
  const row = (name: string, { target, measured, isMet }: TargetCheck): readonly string[] => [
    name,
    target,
    measured,
    isMet ? "pass" : "MISS",
  ];
  return table(
    ["case", "target", "measured", ""],
    [
      ...finished.flatMap(({ bench, checks }) =>
        checks.map((check) => row(`\`${bench.name}\` ${bench.title}`, check)),
      ),
      ...(bundle ? [row("the function's bundle: import", bundle.check)] : []),
    ],
  );
}

/** Of medians: how much longer the job takes than what it is compared with. */
export function ratioTable(finished: readonly Finished[]): string {
  const rows = finished.map(({ bench, result: { job, other } }) => {
    const ratio = (figure: keyof MeasuredRun): string =>
      other.length === 0 ? "" : `${(middleOf(job, figure) / middleOf(other, figure)).toFixed(2)}×`;
    const each = (figure: keyof MeasuredRun): string =>
      `${((middleOf(job, figure) / bench.service.events) * 1_000).toFixed(0)} µs`;
    return [
      bench.name,
      otherName(bench.other),
      ratio("wallMs"),
      ratio("cpuMs"),
      ratio("mainThreadMs"),
      each("cpuMs"),
      each("mainThreadMs"),
    ];
  });
  const columns = ["case", "against", "wall", "CPU", "main thread", "CPU an event", "main thread an event"];
  return table(columns, rows);
}

/** Medians, with the range of the wall time: a wide range means other work on the machine. */
export function figureTable(finished: readonly Finished[]): string {
  const columns = ["case", "program", "start-up", "its CPU", "wall", "from – to", "to first detail"];
  const more = ["after last response", "CPU", "main thread", "peak memory", "requests", "429s"];
  return table(
    [...columns, ...more, "service's CPU"],
    finished.flatMap(({ bench, result: { job, other } }) => [
      figures(bench.name, "job", job),
      ...(other.length === 0 ? [] : [figures(bench.name, otherName(bench.other), other)]),
    ]),
  );
}

export function bundleText({ bytes, cpuMs, wallMs }: BundleFigures): string {
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `The function's bundle has ${size}; importing it takes ${seconds(cpuMs)} of processor time, ${seconds(wallMs)} in all.\n`;
}

export function phaseTable(finished: readonly Finished[]): string {
  const rows = finished.flatMap(({ bench, result: { phases } }) =>
    phases ? [[bench.name, ...PHASES.map((name) => seconds(phases[name]))]] : [],
  );
  return table(["case", ...PHASES], rows);
}

function figures(name: string, program: string, runs: readonly MeasuredRun[]): readonly string[] {
  const middle = (figure: keyof MeasuredRun): string => seconds(middleOf(runs, figure));
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
    `${middleOf(runs, "peakRssMib").toFixed(0)} MiB`,
    String(middleOf(runs, "requests")),
    String(middleOf(runs, "throttled")),
    middle("serviceCpuMs"),
  ];
}

function middleOf(runs: readonly MeasuredRun[], figure: keyof MeasuredRun): number {
  return median(runs.map((run) => run[figure]));
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}
