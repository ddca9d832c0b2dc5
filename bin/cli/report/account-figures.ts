// The figures about an account's data: its snapshot, its publications, and what it stores.

import type { Status } from "../../../lambdas/job/commands/status.ts";
import { undefinedIfDamaged } from "../../../lambdas/job/errors/sync-error.ts";
import { countText, missingText } from "../../../lambdas/job/run/record/texts.ts";
import {
  type FieldChanges,
  fieldChanges,
  toldChanges,
  typeText,
} from "../../../lambdas/job/snapshot/fields/field-changes.ts";
import { type Manifest, readManifest } from "../../../lambdas/job/snapshot/files/manifest.ts";
import { FOLDERS, runInstant } from "../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../lambdas/job/storage/publication.ts";
import { listSnapshots, type SnapshotFiles } from "../../../lambdas/job/storage/snapshot-marks.ts";
import type { AccountStore } from "../../../lambdas/job/storage/store.ts";
import { type Html, html } from "../output/html.ts";
import { changeCounts, plural } from "../output/words.ts";
import { bars, chart, niceScale, type Shape, symbol } from "./chart.ts";
import { type Figure, instantCell, sizeText, sizeUnit, table } from "./figure.ts";

/** Each takes a read of a manifest, which may be large. */
const MOST_PUBLICATIONS = 60;

/** @param publications oldest first, up to the head */
export async function manifestFigures(
  store: AccountStore,
  publications: readonly Publication[],
): Promise<readonly Figure[]> {
  // Undefined where retention has deleted it, or it is damaged: `check` reports damage.
  const manifestOf = (id: string): Promise<Manifest | undefined> =>
    readManifest(store, id).catch(undefinedIfDamaged);
  const compared: ChangedFields[] = [];
  let before: Manifest | undefined;
  let after: Manifest | undefined;
  for (const { base_snapshot_id: base, snapshot_id, published_at } of publications.slice(
    -MOST_PUBLICATIONS,
  )) {
    if (base === null) before = undefined;
    else before = after?.snapshot_id === base ? after : await manifestOf(base);
    after = await manifestOf(snapshot_id);
    if (before && after) compared.push({ published_at, ...fieldChanges(before, after) });
  }
  return [
    ...(after ? [leftOutFigure(after.counts, before?.counts)] : []),
    ...(compared.length > 0 ? [fieldsFigure(compared, after?.fields.length)] : []),
  ];
}

type Counts = Manifest["counts"];

/** @param before of the snapshot that the head is compared with; undefined where that is gone */
function leftOutFigure(now: Counts, before: Counts | undefined): Figure {
  const earlier = before ? `; ${countText(before.listed - before.events)} in the snapshot before` : "";
  const missing = missingText(now);
  return {
    finding: missing === "" ? `All ${countText(now.listed)} listed events have details` : missing + earlier,
  };
}

/** The changes from the snapshot before a publication to its own. */
interface ChangedFields extends FieldChanges {
  readonly published_at: string;
}

const MOST_ROWS = 200;

/**
 * @param compared one for each publication that could be compared with the one before
 * @param fields of the head; undefined where its manifest cannot be read
 */
function fieldsFigure(compared: readonly ChangedFields[], fields: number | undefined): Figure {
  const rows = compared.toReversed().flatMap(rowsOf);
  const more = rows.length - MOST_ROWS;
  const kinds = [
    [compared.flatMap(({ added }) => added), "new"],
    [compared.flatMap(({ gone }) => gone), "gone"],
    [compared.flatMap(({ retyped }) => retyped), "with another type"],
  ] as const;
  const parts = kinds.flatMap(([{ length }, what]) => (length > 0 ? [`${countText(length)} ${what}`] : []));
  const where =
    compared.length === 1
      ? "in the last publication"
      : `in the last ${countText(compared.length)} publications`;
  if (parts.length === 0) return { finding: `No field is new, gone or of another type ${where}` };
  return {
    finding: `Fields ${where}: ${parts.join(", ")}`,
    description: `${fields === undefined ? "Fields" : `The events have ${plural(fields, "field")}, which`} are compared between publications; names that look like data are not repeated.${more > 0 ? ` ${countText(more)} more changes are not shown.` : ""}`,
    table: table("Changed fields", rows.slice(0, MOST_ROWS), [
      ["published, UTC", ([instant]) => instant],
      ["what", ([, what]) => what],
      ["field", ([, , field]) => field, "long"],
      ["type", ([, , , type]) => type],
    ]),
  };
}

type FieldRow = readonly [instant: string, what: string, field: string, type: string];

function rowsOf({ published_at, ...changes }: ChangedFields): readonly FieldRow[] {
  const { added, gone, retyped } = toldChanges(changes);
  const kinds = [["gone", gone] as const, ["type", retyped] as const, ["new", added] as const];
  return kinds
    .flatMap(([what, fields]) => fields.map((field) => ({ what, ...field })))
    .sort((a, b) => b.count - a.count)
    .map(({ what, times, pointer, ...field }) => {
      const all = times === 1 ? "" : `, ${countText(times)} fields`;
      return [instantCell(published_at), what + all, pointer, typeText(field)];
    });
}

/** @param isAll whether the log has no earlier ones */
export function publicationsFigure(publications: readonly Publication[], isAll: boolean): Figure | undefined {
  const head = publications.at(-1);
  if (head === undefined) return undefined;
  if (publications.length === 1)
    return { finding: `${plural(head.events, "event")} in the first publication` };
  const count = countText(publications.length);
  return {
    finding: `${plural(head.events, "event")}, ${difference(publications, head)}`,
    description: `The last publication: ${changeCounts(head)}.`,
    chart: publicationsChart(publications),
    table: table(isAll ? "All publications" : `The last ${count} publications`, publications.toReversed(), [
      ["published, UTC", ({ published_at }) => instantCell(published_at)],
      ["by", ({ action, pinned }) => (pinned ? `${action}, pinned` : action)],
      ["events", ({ events }) => events, "number"],
      ["added", ({ added }) => added, "number"],
      ["changed", ({ changed }) => changed, "number"],
      ["removed", ({ removed }) => removed, "number"],
      ["number", ({ publication }) => Number(publication), "number"],
      ["snapshot", ({ snapshot_id }) => snapshot_id],
    ]),
  };
}

const DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Against what readers saw 30 days before the head, or as early as is known. */
function difference(publications: readonly Publication[], head: Publication): string {
  const since = Date.parse(head.published_at) - DAYS * DAY_MS;
  const then = publications.findLast(({ published_at }) => Date.parse(published_at) <= since);
  if (then) return `${compared(head.events, then.events)} ${DAYS} days before`;
  const [first = head] = publications;
  const when = Number(first.publication) === 1 ? "at the first publication" : "at the oldest one shown";
  return `${compared(head.events, first.events)} ${when}`;
}

/** More dots than this would hide the line. */
const MOST_DOTS = 60;

const SHAPES: Readonly<Record<Publication["action"], Shape>> = {
  run: "circle",
  accept: "diamond",
  rollback: "triangle-down",
};

function publicationsChart(publications: readonly Publication[]): Html {
  const drawn = (action: Publication["action"]): Html => symbol(SHAPES[action], html`fill="var(--mark)"`);
  const used = (["run", "accept", "rollback"] as const).filter((one) =>
    publications.some(({ action }) => action === one),
  );
  const last = publications.length - 1;
  const height = 180;
  const seen = publications.map(({ events }) => events);
  const scale = niceScale(seen, 4, 1);
  const counts = (["added", "changed", "removed"] as const).map((kind) => ({
    title: kind,
    height: 36,
    ...bars(publications.map((one) => (one.base_snapshot_id === null ? null : one[kind]))),
  }));
  return chart(
    [
      {
        // A line that does not begin at zero shows small differences as large ones.
        title: `events${scale.lowest === 0 ? "" : `, on a scale from ${countText(scale.lowest)}`}`,
        height,
        legend: used.map((action) => ({ name: action, symbol: drawn(action) })),
        scale,
        marks: ({ y, at }) => {
          const steps = seen.map((count, place) =>
            place === 0 ? `M0.5,${y(count)}` : `H${place + 0.5}V${y(count)}`,
          );
          return [
            html`<svg viewBox="0 0 ${publications.length} ${height}" height="${height}" preserveAspectRatio="none"><path d="${steps.join("")}" fill="none" stroke="var(--mark)" stroke-width="2" vector-effect="non-scaling-stroke"/></svg>`,
            ...publications.flatMap(({ events: count, action }, place) => {
              const isDrawn = publications.length <= MOST_DOTS || action !== "run" || place === last;
              return isDrawn ? [at(place, count, drawn(action))] : [];
            }),
          ];
        },
      },
      ...counts,
    ],
    publications.map(({ published_at }) => Date.parse(published_at)),
  );
}

/** `3 % more than`, `12 fewer than`, `as many as`: what it is compared with follows. */
export function compared(now: number, before: number): string {
  const difference = Math.abs(now - before);
  if (difference === 0) return "as many as";
  const way = now > before ? "more than" : "fewer than";
  const percent = before === 0 ? 0 : (difference / before) * 100;
  if (percent < 1) return `${countText(difference)} ${way}`;
  return `${percent < 10 ? percent.toFixed(1).replace(/\.0$/, "") : countText(Math.round(percent))}\u00a0% ${way}`;
}

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

const MOST_SNAPSHOTS = 120;

/**
 * Undefined where there is no snapshot.
 * @param isAll whether the log has no earlier publications
 */
export async function storageFigure(
  store: AccountStore,
  { head, held }: Status,
  publications: readonly Publication[],
  isAll: boolean,
): Promise<Figure | undefined> {
  const published = new Set(publications.map(({ snapshot_id }) => snapshot_id));
  const oldestKnown = isAll ? "" : (publications[0]?.snapshot_id ?? "");
  const stateOf = ({ snapshotId, isRetired }: SnapshotFiles): StoredSnapshot["state"] => {
    if (snapshotId === head?.snapshot_id) return "what readers see";
    if (isRetired) return "retired";
    if (held.some((one) => one.snapshotId === snapshotId)) return "held";
    // Snapshots before the publications that were read are most likely published.
    return published.has(snapshotId) || snapshotId < oldestKnown ? "published before" : "not published";
  };
  // Some snapshots have only marks left.
  const found = (await listSnapshots(store)).filter(({ snapshotId, files }) => {
    const marks = [store.keys.held(snapshotId), store.keys.retired(snapshotId)];
    return files.some(({ key }) => !marks.includes(key));
  });
  if (found.length === 0) return undefined;
  const snapshots = found.map((one): StoredSnapshot => ({ ...one, state: stateOf(one) }));
  const shown = snapshots.slice(-MOST_SNAPSHOTS);
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
