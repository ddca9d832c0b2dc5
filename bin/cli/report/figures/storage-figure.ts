// How much room the snapshots take.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import { runInstant } from "../../../../lambdas/job/storage/layout.ts";
import { plural } from "../../output/progress-text.ts";
import type { SnapshotState, StorageUse, StoredSnapshot } from "../data/account-report.ts";
import type { Figure } from "../page/figure.ts";
import { type Html, html } from "../page/html.ts";
import {
  bar,
  type Chart,
  DOTTED,
  HATCHED,
  HELD,
  MARK,
  niceScale,
  panels,
  QUIET,
  type Space,
} from "../page/plot.ts";

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

/** How large each snapshot is as it is stored, and what it is to readers. */
function snapshotsChart(snapshots: readonly StoredSnapshot[]): Chart {
  const unit = sizeUnit(Math.max(0, ...snapshots.map(({ bytes }) => bytes)));
  const sizes = snapshots.map(({ bytes }) => bytes / unit.bytes);
  const states = STATES.filter((state) => snapshots.some((snapshot) => snapshot.state === state));
  const look = (state: SnapshotState): Html =>
    html`fill="${LOOKS[state].fill}" stroke="${LOOKS[state].stroke}"`;
  const panel = {
    height: 110,
    legend: states.map((name) => ({
      name,
      symbol: html`<rect x="-5" y="-5" width="10" height="10" ${look(name)}/>`,
    })),
    scale: niceScale([0, ...sizes], 3, 0.1),
    marks: (space: Space): readonly Html[] =>
      snapshots.map(({ state }, index) => bar(space, index + 1, sizes[index] ?? 0, look(state))),
  };
  return panels(
    [panel],
    snapshots.map(({ snapshotId }) => runInstant(snapshotId) ?? 0),
  );
}

/** A number of bytes as people read it: `1.2 MiB`. */
export function sizeText(bytes: number): string {
  const { name, bytes: unit } = sizeUnit(bytes);
  const size = bytes / unit;
  return `${unit === 1 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${name}`;
}
