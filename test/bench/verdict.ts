// What came of a case: the figure that the target is about, and whether it is met.

import { allowance } from "../../lambdas/job/settings/limit.ts";
import type { BenchCase } from "./bench-case.ts";
import type { CaseResult } from "./case-rounds.ts";
import type { MeasuredRun } from "./measured-process.ts";
import { median } from "./median.ts";

export interface Verdict {
  /** Both as they are shown. */
  readonly target: string;
  readonly measured: string;
  readonly isMet: boolean;
}

export function verdict({ measure, job: options }: BenchCase, { job, other }: CaseResult): Verdict {
  switch (measure.kind) {
    case "against-bare-loop": {
      const ratio = of(job, "wallMs") / of(other, "wallMs");
      return against("wall ≤", measure.most, ratio, "× the bare loop");
    }
    case "against-ideal": {
      const perMinute = allowance(options.requestsPerMinute);
      // The first window's requests go at once.
      const idealMs = (Math.ceil(of(job, "requests") / perMinute) - 1) * 60_000;
      return against("wall ≤", measure.most, of(job, "wallMs") / idealMs, "× the ideal");
    }
    case "peak-memory":
      return against("peak ≤", measure.mostMib, of(job, "peakRssMib"), " MiB");
    case "memory-growth": {
      const growth = of(job, "peakRssMib") - of(other, "peakRssMib");
      return against("peak grows by ≤", measure.mostMib, growth, " MiB");
    }
  }
}

function of(runs: readonly MeasuredRun[], figure: "wallMs" | "peakRssMib" | "requests"): number {
  return median(runs.map((run) => run[figure]));
}

function against(what: string, most: number, value: number, unit: string): Verdict {
  const digits = most < 10 ? 2 : 0;
  const shown = (number: number): string => number.toFixed(digits) + unit;
  return { target: `${what} ${shown(most)}`, measured: shown(value), isMet: value <= most };
}
