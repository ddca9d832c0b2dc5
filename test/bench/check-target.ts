// Compares the figure of a case with its target.

import { allowance } from "../../lambdas/job/settings/limit.ts";
import type { BenchCase } from "./bench-case.ts";
import type { CaseResult } from "./case-rounds.ts";
import type { MeasuredRun } from "./measured-process.ts";
import { median } from "./median.ts";

export interface TargetCheck {
  /** As displayed, like `measured`. */
  readonly target: string;
  readonly measured: string;
  readonly isMet: boolean;
}

export function checkTarget(
  { measure, service, job: options }: BenchCase,
  { job, other }: CaseResult,
): TargetCheck {
  switch (measure.kind) {
    case "against-bare-loop": {
      const ratio = medianOf(job, "wallMs") / medianOf(other, "wallMs");
      return compare("wall ≤", measure.most, ratio, "× the bare loop");
    }
    case "against-ideal": {
      const perMinute = allowance(options.requestsPerMinute);
      // The first window's requests go at once.
      const idealMs = (Math.ceil(medianOf(job, "requests") / perMinute) - 1) * 60_000;
      return compare("wall ≤", measure.most, medianOf(job, "wallMs") / idealMs, "× the ideal");
    }
    case "peak-memory":
      return compare("peak ≤", measure.mostMib, medianOf(job, "peakRssMib"), " MiB");
    case "memory-growth": {
      const growth = medianOf(job, "peakRssMib") - medianOf(other, "peakRssMib");
      const { target, measured, isMet } = compare("peak grows by ≤", measure.mostMib, growth, " MiB");
      const each = (growth * 1_048_576) / (service.events - measure.fromEvents);
      return { target, measured: `${measured}, ${each.toFixed(0)} bytes an event`, isMet };
    }
  }
}

function medianOf(runs: readonly MeasuredRun[], figure: "wallMs" | "peakRssMib" | "requests"): number {
  return median(runs.map((run) => run[figure]));
}

function compare(what: string, most: number, value: number, unit: string): TargetCheck {
  const digits = most < 10 ? 2 : 0;
  const shown = (number: number): string => number.toFixed(digits) + unit;
  return { target: `${what} ${shown(most)}`, measured: shown(value), isMet: value <= most };
}
