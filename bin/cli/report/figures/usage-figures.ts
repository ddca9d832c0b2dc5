// What an account uses: how many requests its attempts sent, against what the limit allows in that time, and how much room
// its snapshots take.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import type { RunLogEntry } from "../../../../lambdas/job/run/record/run-log.ts";
import type { Status } from "../../../../lambdas/job/run/status.ts";
import { type Limit, windowAllowance } from "../../../../lambdas/job/settings/limit.ts";
import { FOLDERS, runInstant } from "../../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import { listSnapshots, type SnapshotFiles } from "../../../../lambdas/job/storage/snapshot-marks.ts";
import type { AccountStore } from "../../../../lambdas/job/storage/store.ts";
import { plural, throttledText } from "../../output/words.ts";
import { bars, chart, niceScale } from "../page/chart.ts";
import { type Figure, instantCell, table } from "../page/figure.ts";
import { type Html, html } from "../page/html.ts";

export interface RequestLimit {
  readonly requestsPerMinute: Limit;
  readonly limitWindowSeconds: number;
}

/**
 * Undefined where no attempt sent a request.
 * @param runs oldest first
 */
export function requestsFigure(runs: readonly RunLogEntry[], limit: RequestLimit): Figure | undefined {
  const sent = runs.filter(({ requests }) => (requests ?? 0) > 0);
  const last = sent.at(-1);
  if (last === undefined) return undefined;
  const isOnly = sent.length === 1;
  const panels = (
    [
      { title: "requests", height: 100, column: "requests" },
      { title: "429: too many requests", height: 36, column: "throttled" },
      { title: "requests sent again", height: 36, column: "retries" },
    ] as const
  ).filter(({ column }) => sent.some((run) => (run[column] ?? 0) > 0));
  return {
    finding: `${plural(last.requests ?? 0, "request")} in the last run${last === runs.at(-1) ? "" : " that sent any"}${shareText(last, limit)}`,
    description: `${troubleText(last, limit)} The bars are the requests of each attempt. ${limitText(limit)}`,
    chart: isOnly
      ? undefined
      : chart(
          panels.map(({ column, ...panel }) => ({ ...panel, ...bars(sent.map((run) => run[column])) })),
          sent.map(({ started_at }) => Date.parse(started_at)),
        ),
    table: table(isOnly ? "Its requests" : "The requests of each attempt", sent.toReversed(), [
      ["started, UTC", ({ started_at }) => instantCell(started_at)],
      ["requests", ({ requests }) => requests, "number"],
      ["allowed", (run) => allowedFor(run, limit), "number"],
      ["429", ({ throttled }) => throttled, "number"],
      ["sent again", ({ retries }) => retries, "number"],
      ["logins", ({ logins }) => logins, "number"],
      ["received", ({ bytes }) => (bytes === null ? null : sizeText(bytes)), "number"],
    ]),
  };
}

/** What a sliding window lets through at most in the time of the attempt; null without a limit. */
export function allowedFor({ seconds }: Pick<RunLogEntry, "seconds">, limit: RequestLimit): number | null {
  if (limit.requestsPerMinute === "unlimited") return null;
  const inWindow = windowAllowance(limit.requestsPerMinute, limit.limitWindowSeconds * 1_000);
  return inWindow * (Math.floor(seconds / limit.limitWindowSeconds) + 1);
}

function shareText(run: RunLogEntry, limit: RequestLimit): string {
  const allowed = allowedFor(run, limit);
  if (allowed === null) return "";
  const percent = Math.round(((run.requests ?? 0) / allowed) * 100);
  return percent > 100
    ? ", more than the budget of today allows in that time"
    : `, ${percent}\u00a0% of the budget of that time`;
}

function limitText({ requestsPerMinute, limitWindowSeconds }: RequestLimit): string {
  if (requestsPerMinute === "unlimited") return "No limit is set.";
  const window = limitWindowSeconds === 60 ? "" : `, on average over ${countText(limitWindowSeconds)} s`;
  return `The budget of today is 90 % of ${countText(requestsPerMinute)} a minute${window}.`;
}

function troubleText(run: RunLogEntry, { requestsPerMinute }: RequestLimit): string {
  const { throttled, retries } = run;
  const again = retries ?? 0;
  if ((throttled ?? 0) + again === 0)
    return "The service answered none of them with 429, and none was sent again.";
  const sentAgain = `${countText(again)} ${again === 1 ? "was" : "were"} sent again`;
  if (!throttled) return `The service answered none of them with 429; ${sentAgain}.`;
  return `${throttledText(run, requestsPerMinute)} (${sentAgain}).`;
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
  /** As it is stored. */
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
  // Of some only marks are left.
  const found = (await listSnapshots(store)).filter(({ snapshotId, files }) => {
    const marks = [store.keys.held(snapshotId), store.keys.retired(snapshotId)];
    return files.some(({ key }) => !marks.includes(key));
  });
  if (found.length === 0) return undefined;
  const snapshots = found.map((one): StoredSnapshot => ({ ...one, state: stateOf(one) }));
  const shown = snapshots.slice(-MOST);
  const isOnly = shown.length === 1;
  const unit = sizeUnit(Math.max(...shown.map(({ bytes }) => bytes)));
  const others = (["held", "retired"] as const).flatMap((state) => {
    const count = snapshots.filter((snapshot) => snapshot.state === state).length;
    return count === 0 ? [] : [`${count === snapshots.length ? "all" : countText(count)} ${state}`];
  });
  const total = sizeText(sum(snapshots));
  const changes = sizeText(sum(await Array.fromAsync(store.list(`${FOLDERS.changes}${store.account}/`))));
  const fetched = sizeText(sum(await Array.fromAsync(store.list(store.keys.runs))));
  return {
    finding: `${plural(snapshots.length, "snapshot")} ${snapshots.length === 1 ? "takes" : "take"} ${total}${others.length === 0 ? "" : `: ${others.join(", ")}`}`,
    description: `Size as it is stored, in ${unit.name}, by snapshot${shown.length < snapshots.length ? `, the newest ${MOST}` : ""}. Lists of changes take another ${changes}, fetched work ${fetched}.`,
    chart: isOnly ? undefined : snapshotsChart(shown, unit.bytes),
    table: table(
      isOnly ? "The snapshot" : `Storage of ${plural(shown.length, "snapshot")}`,
      shown.toReversed(),
      [
        ["snapshot", ({ snapshotId }) => snapshotId],
        ["is", ({ state }) => state],
        ["size", ({ bytes }) => sizeText(bytes), "number"],
      ],
    ),
  };
}

function sum(files: readonly { readonly bytes: number }[]): number {
  return files.reduce((all, { bytes }) => all + bytes, 0);
}

/** How large each snapshot is as it is stored, and what it is to readers. */
function snapshotsChart(snapshots: readonly StoredSnapshot[], unitBytes: number): Html {
  const sizes = snapshots.map(({ bytes }) => bytes / unitBytes);
  const looks = snapshots.map(({ state }) => LOOKS[state]);
  const legend = Object.entries(LOOKS)
    .filter(([, look]) => looks.includes(look))
    .map(([name, look]) => ({
      name,
      symbol: html`<rect x="-5" y="-5" width="10" height="10" ${look}/>`,
    }));
  const scale = niceScale([0, ...sizes], 3, 0.1);
  return chart(
    [{ height: 110, legend, ...bars(sizes, scale, (place) => looks[place] ?? html``) }],
    snapshots.map(({ snapshotId }) => runInstant(snapshotId) ?? 0),
  );
}

const UNITS = [
  { name: "GiB", bytes: 1024 ** 3 },
  { name: "MiB", bytes: 1024 ** 2 },
  { name: "KiB", bytes: 1024 },
];

/** In which sizes up to this one are easy to read. */
function sizeUnit(bytes: number): (typeof UNITS)[number] {
  return UNITS.find((unit) => bytes >= unit.bytes) ?? { name: "bytes", bytes: 1 };
}

/** A number of bytes as people read it: `1.2 MiB`. */
export function sizeText(bytes: number): string {
  const { name, bytes: unit } = sizeUnit(bytes);
  const size = bytes / unit;
  return `${unit === 1 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${name}`;
}
