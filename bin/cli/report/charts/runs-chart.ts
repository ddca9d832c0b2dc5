// How long each attempt of a run took, and how it ended.

import type { Outcome, RunLogEntry } from "../../../../lambdas/job/run/record/run-log.ts";
import { type Chart, type ChartSpec, FAILED, HELD, MARK, plotWidth, QUIET } from "./chart-config.ts";
import { indexAxis } from "./index-axis.ts";

const HEIGHT = 150;

/** Each outcome has its own shape; colour only helps. */
const LOOKS: Readonly<Record<Outcome, { readonly shape: string; readonly colour: string }>> = {
  PUBLISHED: { shape: "circle", colour: MARK },
  HELD: { shape: "square", colour: HELD },
  FAILED: { shape: "M-1,-1L1,1M-1,1L1,-1", colour: FAILED },
  SKIPPED: { shape: "triangle-down", colour: QUIET },
  SUPERSEDED: { shape: "diamond", colour: QUIET },
  HANDED_OVER: { shape: "triangle-right", colour: MARK },
  DRY_RUN: { shape: "M-1,0L1,0M0,-1L0,1", colour: QUIET },
};

/** Outcomes in the order of a legend: the good one first. */
export const OUTCOMES_SHOWN = [
  "PUBLISHED",
  "HELD",
  "FAILED",
  "SKIPPED",
  "SUPERSEDED",
  "HANDED_OVER",
  "DRY_RUN",
] as const satisfies readonly Outcome[];

interface TimeUnit {
  readonly name: "seconds" | "minutes" | "hours";
  readonly seconds: number;
}

/** In which durations are easy to read. */
export function timeUnit(runs: readonly RunLogEntry[]): TimeUnit {
  const longest = Math.max(0, ...runs.map(({ seconds }) => seconds));
  if (longest >= 7_200) return { name: "hours", seconds: 3_600 };
  return longest >= 120 ? { name: "minutes", seconds: 60 } : { name: "seconds", seconds: 1 };
}

export function runsChart(runs: readonly RunLogEntry[]): Chart {
  const instantsMs = runs.map(({ started_at }) => Date.parse(started_at));
  const unit = timeUnit(runs);
  const values = runs.map(({ outcome, seconds }, index) => ({
    place: index + 1,
    outcome,
    took: seconds / unit.seconds,
  }));
  const outcomes = OUTCOMES_SHOWN.filter((outcome) => runs.some((run) => run.outcome === outcome));
  return (width): ChartSpec => {
    const plot = plotWidth(width);
    const x = { field: "place", type: "quantitative", ...indexAxis(instantsMs, plot) };
    const y = { field: "took", type: "quantitative", axis: { tickCount: 4 } };
    const legend = { columns: Math.max(1, Math.floor(plot / 130)) };
    const shape = {
      field: "outcome",
      type: "nominal",
      scale: { domain: outcomes, range: outcomes.map((outcome) => LOOKS[outcome].shape) },
      legend,
    };
    const stroke = {
      field: "outcome",
      type: "nominal",
      scale: { domain: outcomes, range: outcomes.map((outcome) => LOOKS[outcome].colour) },
      legend,
    };
    return {
      width: plot,
      height: HEIGHT,
      data: { values },
      layer: [
        {
          mark: { type: "rule", stroke: "var(--grid)", strokeWidth: 1 },
          encoding: { x, y, y2: { datum: 0 } },
        },
        {
          mark: { type: "point", filled: false, strokeWidth: 1.75, size: 58, opacity: 1 },
          encoding: { x, y, shape, stroke },
        },
      ],
    };
  };
}
