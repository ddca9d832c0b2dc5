// Compares the figures of a case with its targets.

import { allowance } from "../../lambdas/job/settings/values.ts";
import type { BenchCase, Measure, Other } from "./bench-case.ts";
import type { CaseResult } from "./case-rounds.ts";
import type { MeasuredRun } from "./measured-process.ts";
import { median } from "./median.ts";

export interface TargetCheck {
  /** As displayed, like `measured`. */
  readonly target: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/** One for each measure of the case. */
export function checkTargets(bench: BenchCase, result: CaseResult): readonly TargetCheck[] {
  return bench.measures.map((measure) => checkTarget(measure, bench, result));
}

function checkTarget(
  measure: Measure,
  { service, job: options, other: compared }: BenchCase,
  { job, other }: CaseResult,
): TargetCheck {
  switch (measure.kind) {
    case "wall-ratio": {
      const ratio = medianOf(job, "wallMs") / medianOf(other, "wallMs");
      return compare("wall ≤", measure.most, ratio, `× ${otherName(compared)}`);
    }
    case "against-ideal": {
      const perMinute = allowance(options.requestsPerMinute);
      // The first window's requests go at once.
      const idealMs = (Math.ceil(medianOf(job, "requests") / perMinute) - 1) * 60_000;
      return compare("wall ≤", measure.most, medianOf(job, "wallMs") / idealMs, "× the ideal");
    }
    case "cpu-per-event":
      return compare("CPU ≤", measure.mostMs, medianOf(job, "cpuMs") / service.events, " ms an event");
    case "start-up":
      return compare(
        "CPU up to the first connection ≤",
        measure.mostMs,
        medianOf(job, "startUpCpuMs"),
        " ms",
      );
    case "peak-memory":
      return compare("peak ≤", measure.mostMib, medianOf(job, "peakRssMib"), " MiB");
    case "memory-growth": {
      if (typeof compared === "string") throw new TypeError("memory grows over a case with fewer events");
      const growth = medianOf(job, "peakRssMib") - medianOf(other, "peakRssMib");
      const { target, measured, isMet } = compare("peak grows by ≤", measure.mostMib, growth, " MiB");
      const each = (growth * 1_048_576) / (service.events - compared.fewerEvents);
      return { target, measured: `${measured}, ${each.toFixed(0)} bytes an event`, isMet };
    }
  }
}

/** What a case is compared with, as displayed. */
export function otherName(other: Other): string {
  switch (other) {
    case "none":
      return "nothing";
    case "bare loop":
      return "the bare loop";
    case "no faults":
      return "without faults";
    default:
      return `${other.fewerEvents} events`;
  }
}

export function compare(what: string, most: number, value: number, unit: string): TargetCheck {
  const digits = most < 10 ? 2 : 0;
  const shown = (number: number): string => number.toFixed(digits) + unit;
  return { target: `${what} ${shown(most)}`, measured: shown(value), isMet: value <= most };
}

function medianOf(runs: readonly MeasuredRun[], figure: keyof MeasuredRun): number {
  return median(runs.map((run) => run[figure]));
}
