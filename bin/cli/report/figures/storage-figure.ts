// How much room the snapshots take.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import { plural } from "../../output/progress-text.ts";
import { sizeUnit, snapshotsChart } from "../charts/snapshots-chart.ts";
import type { StorageUse } from "../data/storage-use.ts";
import type { Figure } from "../page/figure.ts";
import { sizeText } from "./size-text.ts";

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
