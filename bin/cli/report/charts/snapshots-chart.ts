// How large each snapshot is as it is stored, and what it is to readers.

import { runInstant } from "../../../../lambdas/job/storage/layout.ts";
import type { SnapshotState, StoredSnapshot } from "../data/storage-use.ts";
import {
  type Chart,
  type ChartSpec,
  DOTTED,
  HATCHED,
  HELD,
  halfBar,
  MARK,
  plotWidth,
  QUIET,
} from "./chart-config.ts";
import { indexAxis } from "./index-axis.ts";

const HEIGHT = 110;

/** Each state has its own pattern; colour only helps. */
const LOOKS: Readonly<Record<SnapshotState, { readonly fill: string; readonly stroke: string }>> = {
  "what readers see": { fill: MARK, stroke: MARK },
  "published before": { fill: HATCHED, stroke: MARK },
  held: { fill: DOTTED, stroke: HELD },
  retired: { fill: "none", stroke: MARK },
  "not published": { fill: "none", stroke: QUIET },
};

const STATES = ["what readers see", "published before", "held", "retired", "not published"] as const;

interface SizeUnit {
  readonly name: string;
  readonly bytes: number;
}

const UNITS: readonly SizeUnit[] = [
  { name: "GiB", bytes: 1024 ** 3 },
  { name: "MiB", bytes: 1024 ** 2 },
  { name: "KiB", bytes: 1024 },
];

/** In which sizes up to this one are easy to read. */
export function sizeUnit(bytes: number): SizeUnit {
  return UNITS.find((unit) => bytes >= unit.bytes) ?? { name: "bytes", bytes: 1 };
}

export function snapshotsChart(snapshots: readonly StoredSnapshot[]): Chart {
  const instantsMs = snapshots.map(({ snapshotId }) => runInstant(snapshotId) ?? 0);
  const unit = sizeUnit(Math.max(0, ...snapshots.map(({ bytes }) => bytes)));
  const states = STATES.filter((state) => snapshots.some((snapshot) => snapshot.state === state));
  return (width): ChartSpec => {
    const plot = plotWidth(width);
    const half = halfBar(snapshots.length, plot);
    const values = snapshots.map(({ state, bytes }, index) => ({
      from: index + 1 - half,
      to: index + 1 + half,
      state,
      size: bytes / unit.bytes,
    }));
    const legend = { columns: Math.max(1, Math.floor(plot / 140)), symbolType: "square" };
    const look = (kind: "fill" | "stroke"): object => ({
      field: "state",
      type: "nominal",
      scale: { domain: states, range: states.map((state) => LOOKS[state][kind]) },
      legend,
    });
    return {
      width: plot,
      height: HEIGHT,
      data: { values },
      mark: { type: "rect", strokeWidth: 1 },
      encoding: {
        x: { field: "from", type: "quantitative", ...indexAxis(instantsMs, plot) },
        x2: { field: "to" },
        y: { field: "size", type: "quantitative", axis: { tickCount: 3 } },
        y2: { datum: 0 },
        fill: look("fill"),
        stroke: look("stroke"),
      },
    };
  };
}
