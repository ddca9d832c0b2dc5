// How much room the snapshots of an account take, and what each of them is to readers.

import type { Status } from "../../../../lambdas/job/commands/status.ts";
import { countText } from "../../../../lambdas/job/run/record/texts.ts";
import { FOLDERS, runInstant } from "../../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import { listSnapshots, type SnapshotFiles } from "../../../../lambdas/job/storage/snapshot-marks.ts";
import type { AccountStore } from "../../../../lambdas/job/storage/store.ts";
import { type Html, html } from "../../output/html.ts";
import { plural } from "../../output/words.ts";
import { bars, chart, niceScale } from "../page/chart.ts";
import { type Figure, sizeText, sizeUnit, table } from "../page/figure.ts";

/** What a snapshot is to readers. Each has its own pattern; colour only helps. */
const LOOKS = {
  "what readers see": html`fill="var(--mark)" stroke="var(--mark)"`,
  "published before": html`fill="url(#hatched)" stroke="var(--mark)"`,
  held: html`fill="url(#dotted)" stroke="var(--held)"`,
  retired: html`fill="none" stroke="var(--mark)"`,
  "not published": html`fill="none" stroke="var(--quiet)"`,
} as const satisfies Record<string, Html>;

interface StoredSnapshot {
  readonly snapshotId: string;
  readonly state: keyof typeof LOOKS;
  /** The size as it is stored. */
  readonly bytes: number;
}

const MOST = 120;

/** Undefined where there is no snapshot. */
export async function storageFigure(
  store: AccountStore,
  { head, held }: Status,
  publications: readonly Publication[],
): Promise<Figure | undefined> {
  const published = new Set(publications.map(({ snapshot_id }) => snapshot_id));
  const oldestKnown = publications[0]?.snapshot_id ?? "";
  const stateOf = ({ snapshotId, isRetired }: SnapshotFiles): StoredSnapshot["state"] => {
    if (snapshotId === head?.snapshot_id) return "what readers see";
    if (isRetired) return "retired";
    if (held.some((one) => one.snapshotId === snapshotId)) return "held";
    // Those before the publications that were read are most likely published.
    return published.has(snapshotId) || snapshotId < oldestKnown ? "published before" : "not published";
  };
  // Some snapshots have only marks left.
  const found = (await listSnapshots(store)).filter(({ snapshotId, files }) => {
    const marks = [store.keys.held(snapshotId), store.keys.retired(snapshotId)];
    return files.some(({ key }) => !marks.includes(key));
  });
  if (found.length === 0) return undefined;
  const snapshots = found.map((one): StoredSnapshot => ({ ...one, state: stateOf(one) }));
  const shown = snapshots.slice(-MOST);
  const others = (["held", "retired"] as const).flatMap((state) => {
    const count = snapshots.filter((snapshot) => snapshot.state === state).length;
    return count === 0 ? [] : [`${count === snapshots.length ? "all" : countText(count)} ${state}`];
  });
  const total = sizeText(sum(snapshots));
  const size = async (prefix: string): Promise<number> => sum(await Array.fromAsync(store.list(prefix)));
  const changes = await size(`${FOLDERS.changes}${store.account}/`);
  const fetched = await size(store.keys.runs);
  const isOnly = shown.length === 1;
  const label = `Storage of ${shown.length < snapshots.length ? "the newest " : ""}${shown.length} snapshots`;
  return {
    finding: `${plural(snapshots.length, "snapshot")} ${isOnly ? "takes" : "take"} ${total}${others.length === 0 ? "" : `: ${others.join(", ")}`}`,
    description: `Lists of changes take another ${sizeText(changes)}, fetched work ${sizeText(fetched)}.`,
    chart: isOnly ? undefined : snapshotsChart(shown),
    table: isOnly
      ? undefined
      : table(label, shown.toReversed(), [
          ["snapshot", ({ snapshotId }) => snapshotId],
          ["is", ({ state }) => state],
          ["size", ({ bytes }) => sizeText(bytes), "number"],
        ]),
  };
}

function sum(files: readonly { readonly bytes: number }[]): number {
  return files.reduce((all, { bytes }) => all + bytes, 0);
}

function snapshotsChart(snapshots: readonly StoredSnapshot[]): Html {
  const unit = sizeUnit(Math.max(...snapshots.map(({ bytes }) => bytes)));
  const sizes = snapshots.map(({ bytes }) => bytes / unit.bytes);
  const looks = snapshots.map(({ state }) => LOOKS[state]);
  const legend = Object.entries(LOOKS)
    .filter(([, look]) => looks.includes(look))
    .map(([name, look]) => ({
      name,
      symbol: html`<rect x="-5" y="-5" width="10" height="10" ${look}/>`,
    }));
  const scale = niceScale([0, ...sizes], 3, 0.1);
  return chart(
    [
      {
        title: `${unit.name} as they are stored`,
        height: 110,
        legend,
        ...bars(sizes, scale, (place) => looks[place] ?? html``),
      },
    ],
    snapshots.map(({ snapshotId }) => runInstant(snapshotId) ?? 0),
  );
}
