// The benchmark's tables, in Markdown.

import { cpus, totalmem } from "node:os";
import type { BenchCase } from "./bench-case.ts";
import type { CaseResult } from "./case-rounds.ts";
import type { TargetCheck } from "./check-target.ts";
import type { MeasuredRun } from "./measured-process.ts";
import { median } from "./median.ts";
import { PHASES } from "./phases.ts";

export interface Finished {
  readonly bench: BenchCase;
  readonly result: CaseResult;
  readonly check: TargetCheck;
}

export function machine(): string {
  const [cpu] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${cpu?.model.trim()}), ${gib} GiB, ${process.platform}, Node ${process.version}`;
}

export function targetTable(finished: readonly Finished[]): string {
  return table(
    ["case", "target", "measured", ""],
    finished.map(({ bench, check }) => [
      `\`${bench.name}\` ${bench.title}`,
      check.target,
      check.measured,
      check.isMet ? "pass" : "MISS",
    ]),
  );
}

/** Medians, with the range of the wall time: a wide range means other work on the machine. */
export function figureTable(finished: readonly Finished[]): string {
  const columns = ["case", "program", "start-up", "wall", "from – to", "CPU", "main thread", "peak memory"];
  return table(
    [...columns, "requests", "429s", "service's CPU"],
    finished.flatMap(({ bench, result: { job, other } }) => [
      figures(bench.name, "job", job),
      ...(other.length === 0 ? [] : [figures(bench.name, otherName(bench), other)]),
    ]),
  );
}

export function phaseTable(finished: readonly Finished[]): string {
  const rows = finished.flatMap(({ bench, result: { phases } }) =>
    phases ? [[bench.name, ...PHASES.map((name) => seconds(phases[name]))]] : [],
  );
  return table(["case", ...PHASES], rows);
}

function otherName({ measure }: BenchCase): string {
  return measure.kind === "memory-growth" ? `job, ${measure.fromEvents} events` : "bare loop";
}

function figures(name: string, program: string, runs: readonly MeasuredRun[]): readonly string[] {
  const middle = (figure: keyof MeasuredRun): number => median(runs.map((run) => run[figure]));
  const walls = runs.map(({ wallMs }) => wallMs);
  return [
    name,
    program,
    seconds(middle("startUpMs")),
    seconds(middle("wallMs")),
    `${seconds(Math.min(...walls))} – ${seconds(Math.max(...walls))}`,
    seconds(middle("cpuMs")),
    seconds(middle("mainThreadMs")),
    `${middle("peakRssMib").toFixed(0)} MiB`,
    String(middle("requests")),
    String(middle("throttled")),
    seconds(middle("serviceCpuMs")),
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}
