// What an account uses: how many requests its attempts sent, against what the limit allows in that time, and how much room
// its snapshots take.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import type { RunLogEntry } from "../../../../lambdas/job/run/record/run-log.ts";
import { windowAllowance } from "../../../../lambdas/job/settings/limit.ts";
import { runInstant } from "../../../../lambdas/job/storage/layout.ts";
import { minute, plural, throttledText } from "../../output/words.ts";
import type {
  AccountReport,
  RequestLimit,
  SnapshotState,
  StorageUse,
  StoredSnapshot,
} from "../data/account-report.ts";
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
  type Panel,
  panels,
  QUIET,
  type Space,
  strip,
} from "../page/plot.ts";

const REQUESTS_HEIGHT = 100;
/** Up to so many times the most that was used, the budget is drawn. */
const NEAR = 1.25;

/** Undefined where no attempt sent a request. */
export function requestsFigure({ runs, limit }: Pick<AccountReport, "runs" | "limit">): Figure | undefined {
  const sent = runs.filter(({ requests }) => (requests ?? 0) > 0);
  const last = sent.at(-1);
  if (last === undefined) return undefined;
  const allowed = sent.map((run) => allowedFor(run, limit));
  const most = Math.max(...sent.map(({ requests }) => requests ?? 0));
  // The scale is that of what was used, so a budget that is far above has no line.
  const limits = allowed.map((count) => (count !== null && count <= NEAR * most ? count : null));
  const counts = strip(
    "requests",
    sent.map(({ requests }) => requests),
    { height: REQUESTS_HEIGHT, limits },
  );
  const refusals = [
    ...refused("429: too many requests", sent, "throttled"),
    ...refused("requests sent again", sent, "retries"),
  ];
  return {
    finding: `${plural(last.requests ?? 0, "request")} in the last run${last === runs.at(-1) ? "" : " that sent any"}${shareText(last, limit)}`,
    description: `${troubleText(last, limit)} The bars are the requests of each attempt. ${limitText(limit, limits)}`,
    chart:
      sent.length === 1
        ? undefined
        : panels(
            [counts, ...refusals],
            sent.map(({ started_at }) => Date.parse(started_at)),
          ),
    table: {
      label: sent.length === 1 ? "Its requests" : "The requests of each attempt",
      columns: [
        { title: "started, UTC" },
        { title: "requests", kind: "number" },
        { title: "allowed", kind: "number" },
        { title: "429", kind: "number" },
        { title: "sent again", kind: "number" },
        { title: "logins", kind: "number" },
        { title: "received", kind: "number" },
      ],
      rows: sent.map((run, index) => rowOf(run, allowed[index] ?? null)).reverse(),
    },
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

function limitText(
  { requestsPerMinute, limitWindowSeconds }: RequestLimit,
  limits: readonly (number | null)[],
): string {
  if (requestsPerMinute === "unlimited") return "No limit is set.";
  const window = limitWindowSeconds === 60 ? "" : `, on average over ${countText(limitWindowSeconds)} s`;
  const budget = `90 % of ${countText(requestsPerMinute)} a minute${window}`;
  const [drawn] = limits.filter((limit) => limit !== null);
  return drawn === undefined
    ? `The budget of today, ${budget}, allows far more than was used.`
    : `The lines are what the budget of today allows in that time: ${budget}.`;
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

function refused(
  title: string,
  runs: readonly RunLogEntry[],
  column: "throttled" | "retries",
): readonly Panel[] {
  const counts = runs.map((run) => run[column]);
  return counts.some((count) => (count ?? 0) > 0) ? [strip(title, counts)] : [];
}

function rowOf(run: RunLogEntry, allowed: number | null): readonly string[] {
  const { requests, throttled, retries, logins, bytes } = run;
  const counts = [requests, allowed, throttled, retries, logins].map((count) =>
    count === null ? "" : countText(count),
  );
  return [
    minute(Date.parse(run.started_at)).replace(" UTC", ""),
    ...counts,
    bytes === null ? "" : sizeText(bytes),
  ];
}

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
