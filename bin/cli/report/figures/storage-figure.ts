// How much room the snapshots take.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import { runInstant } from "../../../../lambdas/job/storage/layout.ts";
import { plural } from "../../output/progress-text.ts";
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
} from "../charts/chart-config.ts";
import { indexAxis } from "../charts/strip.ts";
import type { SnapshotState, StorageUse, StoredSnapshot } from "../data/account-report.ts";
import type { Figure } from "../page/figure.ts";

const MOST = 120;

/** Undefined where there is no snapshot. */
export function storageFigure({ snapshots, changesBytes, stagedBytes }: StorageUse): Figure | undefined {
  if (snapshots.length === 0) return undefined;
  const total = snapshots.reduce((sum, { bytes }) => sum + bytes, 0);
  const shown = snapshots.slice(-MOST);
  const unit = sizeUnit(Math.max(...shown.map(({ bytes }) => bytes)));
  const others = (["held", "retired"] as const).flatMap((state) => {
    const count = snapshots.filter((snapshot) => snapshot.state === state).length;
    return count === 0 ? [] : [`${count === snapshots.length ? "all" : countText(count)} ${state}`];
  });
  const which = others.length === 0 ? "" : `: ${others.join(", ")}`;
  const newest = shown.length < snapshots.length ? `, the newest ${MOST}` : "";
  return {
    finding: `${plural(snapshots.length, "snapshot")} ${snapshots.length === 1 ? "takes" : "take"} ${sizeText(total)}${which}`,
    description: `Size as it is stored, in ${unit.name}, by snapshot${newest}. Lists of changes take another ${sizeText(changesBytes)}, fetched work ${sizeText(stagedBytes)}.`,
    chart: shown.length === 1 ? undefined : snapshotsChart(shown),
    table: {
      label: shown.length === 1 ? "The snapshot" : `Storage of ${plural(shown.length, "snapshot")}`,
      columns: [{ title: "snapshot" }, { title: "is" }, { title: "size", kind: "number" }],
      rows: shown.toReversed().map(({ snapshotId, state, bytes }) => [snapshotId, state, sizeText(bytes)]),
    },
  };
}

/** How large each snapshot is as it is stored, and what it is to readers. */
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
function sizeUnit(bytes: number): SizeUnit {
  return UNITS.find((unit) => bytes >= unit.bytes) ?? { name: "bytes", bytes: 1 };
}

function snapshotsChart(snapshots: readonly StoredSnapshot[]): Chart {
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

/** A number of bytes as people read it: `1.2 MiB`. */
export function sizeText(bytes: number): string {
  const { name, bytes: unit } = sizeUnit(bytes);
  const size = bytes / unit;
  return `${unit === 1 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${name}`;
}
