// The figures of the cases: compared with their targets, and as tables in Markdown.

import { cpus, totalmem } from "node:os";
import type { BenchCase, Measure } from "./bench-cases.ts";
import type { MeasuredRun } from "./bench-environment.ts";

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

export interface CaseResult {
  readonly job: readonly MeasuredRun[];
  readonly bareLoop: readonly MeasuredRun[];
}

export interface TargetCheck {
  /** As displayed, like `measured`. */
  readonly target: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/** A check for each measure of the case. */
export function checkTargets({ measures, load }: BenchCase, result: CaseResult): readonly TargetCheck[] {
  return measures.map((measure) => checkTarget(measure, load.events, result));
}

function checkTarget(measure: Measure, events: number, { job, bareLoop }: CaseResult): TargetCheck {
  switch (measure.kind) {
    case "wall-ratio": {
      const ratio = medianOf(job, "wallMs") / medianOf(bareLoop, "wallMs");
      return compare("wall ≤", measure.most, ratio, "× the bare loop");
    }
    case "cpu-per-event":
      return compare("CPU ≤", measure.mostMs, medianOf(job, "cpuMs") / events, " ms an event");
    case "start-up":
      return compare(
        "CPU up to the first connection ≤",
        measure.mostMs,
        medianOf(job, "startUpCpuMs"),
        " ms",
      );
    case "peak-memory":
      return compare("peak ≤", measure.mostMib, medianOf(job, "peakRssMib"), " MiB");
  }
}

function compare(what: string, most: number, value: number, unit: string): TargetCheck {
  const digits = most < 10 ? 2 : 0;
  const shown = (number: number): string => number.toFixed(digits) + unit;
  return { target: `${what} ${shown(most)}`, measured: shown(value), isMet: value <= most };
}

/** For an even number of runs the mean of the middle two. Throws without runs. */
function medianOf(runs: readonly MeasuredRun[], figure: keyof MeasuredRun): number {
  const sorted = runs.map((run) => run[figure]).toSorted((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  if (middle.length === 0) throw new RangeError("an empty list has no median");
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}
