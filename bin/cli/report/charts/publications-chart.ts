// Events over publications, and below them what each publication added, changed and removed.

import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import { type Chart, type ChartSpec, INK, MARK, plotWidth } from "./chart-config.ts";
import { indexAxis } from "./index-axis.ts";
import { stripView } from "./strip.ts";

const HEIGHT = 150;
/** More dots than this would hide the line. */
const MOST_DOTS = 60;

export function publicationsChart(publications: readonly Publication[]): Chart {
  const instantsMs = publications.map(({ published_at }) => Date.parse(published_at));
  const values = publications.map(({ events, action }, index) => ({ place: index + 1, events, action }));
  const isDotted = ({ place, action }: (typeof values)[number]): boolean =>
    values.length <= MOST_DOTS || action !== "run" || place === values.length;
  return (width): ChartSpec => {
    const plot = plotWidth(width);
    const x = { field: "place", type: "quantitative", ...indexAxis(instantsMs, plot, false) };
    const y = {
      field: "events",
      type: "quantitative",
      scale: { zero: false, nice: 4 },
      axis: { tickCount: 4, tickMinStep: 1, format: ",d" },
    };
    const actions = ACTIONS.filter((one) => values.some(({ action }) => action === one));
    const shape = {
      field: "action",
      type: "nominal",
      scale: { domain: actions, range: actions.map((action) => SHAPES[action]) },
      legend: actions.every((action) => action === "run") ? null : {},
    };
    const events = {
      width: plot,
      height: HEIGHT,
      layer: [
        {
          data: { values },
          mark: { type: "line", interpolate: "step-after", stroke: MARK, strokeWidth: 2 },
          encoding: { x, y },
        },
        {
          data: { values: values.filter(isDotted) },
          mark: { type: "point", filled: true, fill: MARK, size: 46, opacity: 1 },
          encoding: { x, y, shape },
        },
        {
          data: { values: values.slice(-1) },
          mark: { type: "text", align: "right", dy: -12, fill: INK, fontSize: 13, fontWeight: 600 },
          encoding: { x, y, text: { field: "events", format: ",d" } },
        },
      ],
    };
    const counts = (kind: "added" | "changed" | "removed"): readonly (number | null)[] =>
      publications.map((publication) => (publication.base_snapshot_id === null ? null : publication[kind]));
    const strips = [
      stripView({ title: "added", counts: counts("added") }, instantsMs, width, false),
      stripView({ title: "changed", counts: counts("changed") }, instantsMs, width, false),
      stripView({ title: "removed", counts: counts("removed") }, instantsMs, width, true),
    ];
    return { vconcat: [events, ...strips] };
  };
}

/** In the order of the legend. */
const ACTIONS = ["run", "accept", "rollback"] as const;

const SHAPES: Readonly<Record<Publication["action"], string>> = {
  run: "circle",
  accept: "diamond",
  rollback: "triangle-down",
};
