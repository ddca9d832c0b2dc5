// Compares the figures of a case with its targets.

import type { BenchCase, Measure } from "./bench-cases.ts";
import type { MeasuredRun } from "./measured-process.ts";

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

/** One for each measure of the case. */
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
export function medianOf(runs: readonly MeasuredRun[], figure: keyof MeasuredRun): number {
  const sorted = runs.map((run) => run[figure]).toSorted((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  if (middle.length === 0) throw new RangeError("an empty list has no median");
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}
