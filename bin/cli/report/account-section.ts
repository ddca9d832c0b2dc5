// One account: what is known of it at a glance, what waits for a person, and the figures.

import {
  type HeldCommands,
  type HeldSnapshot,
  ifNotAccepted,
} from "../../../lambdas/job/run/compare/held-snapshots.ts";
import { countText } from "../../../lambdas/job/run/record/count-text.ts";
import { durationText } from "../../../lambdas/job/run/record/duration-text.ts";
import type { RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import type { Status } from "../../../lambdas/job/run/status.ts";
import { shownPointer, typesOf } from "../../../lambdas/job/snapshot/fields/field-changes.ts";
import type { JsonType } from "../../../lambdas/job/snapshot/fields/field-profile.ts";
import { madeAtMs, missingOf, publishableOf, reasonOf, running, wouldDo } from "../output/describe-status.ts";
import { age, minute, plural } from "../output/words.ts";
import type {
  AccountReport,
  ChangedFields,
  FieldNews,
  LeftOutCounts,
  ReportedAccount,
} from "./data/account-report.ts";
import { publicationsFigure } from "./figures/publications-figure.ts";
import { runsFigure } from "./figures/runs-figure.ts";
import { requestsFigure, storageFigure } from "./figures/usage-figures.ts";
import { type Figure, figure, table } from "./page/figure.ts";
import { type Html, html } from "./page/html.ts";
import { type Chart, INK, label, line, MARK, px, QUIET } from "./page/plot.ts";

export function accountSection(one: ReportedAccount, nowMs: number, commandsFor: CommandsFor): Html {
  const { account } = one;
  const content =
    "damage" in one ? damageNote(one.damage.code, one.damage.message) : report(one, nowMs, commandsFor);
  return html`<section class="account" id="account-${account}">
<h2>${account}</h2>
${content}</section>
`;
}

function report(one: AccountReport, nowMs: number, commandsFor: CommandsFor): readonly Html[] {
  const found = [
    publicationsFigure(one.publications),
    runsFigure(one),
    requestsFigure(one),
    one.leftOut && leftOutFigure(one.leftOut),
    fieldsFigure(one.fieldNews),
    storageFigure(one.storage),
  ].filter((each) => each !== undefined);
  return [
    facts(one, nowMs),
    ...heldNotes(one.status, commandsFor),
    ...failedNote(one),
    ...found.map((each) => figure(each)),
  ];
}

function failedNote({ runs }: AccountReport): readonly Html[] {
  const last = runs.at(-1);
  if (last?.outcome !== "FAILED" || last.error_message === null) return [];
  return [
    html`<div class="note failed"><h3>The last run failed${last.error_code === null ? "" : `: ${last.error_code}`}</h3>
<p>${last.error_message}</p>
</div>
`,
  ];
}

function damageNote(code: string, message: string): Html {
  return html`<div class="note failed"><h3>This account cannot be read: ${code}</h3>
<p>${message}</p>
</div>
`;
}

/** The few facts that everybody asks for first: how many events, how old, and how the last run ended. */
type Fact = readonly [name: string, value: string, more: string];

function facts({ status, runs }: AccountReport, nowMs: number): Html {
  const items = [...headFacts(status, nowMs), lastRun(runs.at(-1)), lease(status)].map(
    ([name, value, more]) => html`<div><dt>${name}</dt><dd>${value}</dd><dd>${more}</dd></div>\n`,
  );
  return html`<dl class="facts">\n${items}</dl>\n`;
}

function headFacts({ head }: Status, nowMs: number): readonly Fact[] {
  if (head === null) return [["Readers see", "nothing", "no snapshot is published yet"]];
  const madeAt = madeAtMs(head);
  const by = head.action === "run" ? "" : ` by ${head.action}`;
  const pinned = head.pinned ? ", pinned: later runs are held" : "";
  return [
    [
      "Readers see",
      `${countText(head.events)} ${head.events === 1 ? "event" : "events"}`,
      `publication ${countText(Number(head.publication))}${by}${pinned}`,
    ],
    ["Data from", minute(madeAt), age(madeAt, nowMs)],
  ];
}

function lastRun(last: RunLogEntry | undefined): Fact {
  if (last === undefined) return ["Last run", "none", "no run has ended yet"];
  const reason = reasonOf(last);
  const took = durationText(last.seconds * 1000);
  return [
    "Last run",
    last.outcome,
    `${reason === "" ? "" : `${reason}, `}${minute(Date.parse(last.started_at))}, ${took}`,
  ];
}

function lease({ lease: found }: Status): Fact {
  return found === null
    ? ["Running now", "nothing", "no run is under way"]
    : ["Running now", "a run", running(found)];
}

/** The commands that decide on a held snapshot. */
export type CommandsFor = (account: string, snapshotId: string) => HeldCommands;

function heldNotes(status: Status, commandsFor: CommandsFor): readonly Html[] {
  // To publish the newest makes the others older than what readers see.
  const [newest, ...others] = publishableOf(status).toReversed();
  const older = status.held.filter(({ snapshotId }) => snapshotId <= (status.head?.snapshot_id ?? ""));
  return [
    ...(newest ? [note(newest, status, commandsFor(status.account, newest.snapshotId))] : []),
    ...more(`${plural(others.length, "held snapshot")} more`, others),
    ...more(`${plural(older.length, "held snapshot")} older than what readers see`, older.toReversed()),
  ];
}

function note(one: HeldSnapshot, { head }: Status, { accept, diff }: HeldCommands): Html {
  const { snapshotId, reason, explanation, preview } = one;
  const missing = preview ? missingOf(preview).filter(([, missed]) => missed > 0) : [];
  const would = preview ? [sentence(wouldDo(preview, head?.snapshot_id ?? null))] : [];
  const lacks = missing.map(([what, missed]) => `${countText(missed)} ${what}`);
  const lines = [...would, ...(lacks.length > 0 ? [sentence(`missing: ${lacks.join(", ")}`)] : [])];
  return html`<div class="note held"><h3>Held: ${reason}</h3>
<p>${explanation}</p>
${lines.map((line) => html`<p>${line}</p>\n`)}<p class="quiet">Look at the snapshot ${snapshotId}:</p>
<pre>${diff}</pre>
<p class="quiet">Publish it anyway:</p>
<pre>${accept}</pre>
<p class="quiet">Or wait: ${ifNotAccepted(head?.pinned === true)}</p>
</div>
`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function more(label: string, snapshots: readonly HeldSnapshot[]): readonly Html[] {
  if (snapshots.length === 0) return [];
  const columns = [
    { title: "snapshot" },
    { title: "reason" },
    { title: "explanation", kind: "long" },
  ] as const;
  const rows = snapshots.map(({ snapshotId, reason, explanation }) => [snapshotId, reason, explanation]);
  return [html`<details><summary>${label}</summary>\n${table({ label, columns, rows })}\n</details>\n`];
}

type Counts = LeftOutCounts["now"];

const REASONS: readonly (readonly [name: string, countOf: (counts: Counts) => number])[] = [
  ["gone (404 or 410)", ({ gone }) => gone],
  ["forbidden (403)", ({ forbidden }) => forbidden],
  ["too large", ({ oversize }) => oversize],
  ["nested too deep", ({ too_deep }) => too_deep],
  ["without a valid uuid", ({ rejected, oversize, too_deep }) => rejected - oversize - too_deep],
];

function leftOutFigure({ now, before }: LeftOutCounts): Figure {
  const counts = REASONS.map(
    ([name, countOf]): NamedCount => ({ name, count: countOf(now), before: before && countOf(before) }),
  ).filter((one) => one.count + (one.before ?? 0) > 0);
  const missing = now.listed - now.events;
  const listed = `${countText(now.listed)} listed events`;
  return {
    finding:
      missing === 0
        ? `None of ${listed} is left out`
        : `${countText(missing)} of ${listed} ${missing === 1 ? "is" : "are"} left out`,
    description:
      counts.length === 0
        ? "Every event of the list has its details in what readers see."
        : `Listed events without a row in what readers see, by reason.${counts.some((one) => (one.before ?? 0) > 0) ? " The lines are the snapshot before." : ""}`,
    chart: counts.length === 0 ? undefined : countsChart(counts),
    table:
      counts.length === 0
        ? undefined
        : {
            label: "Left out by reason",
            columns: [
              { title: "reason" },
              { title: "now", kind: "number" },
              { title: "before", kind: "number" },
            ],
            rows: counts.map(({ name, count, before: then }) => [
              name,
              countText(count),
              then === undefined ? "" : countText(then),
            ]),
          },
  };
}

/** A few named counts as bars, each with its number, and where wanted what it was before. */
interface NamedCount {
  readonly name: string;
  readonly count: number;
  /** Drawn as a line across the bar. */
  readonly before: number | undefined;
}

const ROW_HEIGHT = 30;
const BAR_HEIGHT = 12;
const NAMES_WIDTH = 150;
const NUMBERS_WIDTH = 60;

function countsChart(counts: readonly NamedCount[]): Chart {
  const highest = Math.max(1, ...counts.flatMap(({ count, before = 0 }) => [count, before]));
  return (width) => {
    const lengthOf = (count: number): number => (count / highest) * (width - NAMES_WIDTH - NUMBERS_WIDTH);
    const body = counts.flatMap(({ name, count, before = 0 }, index) => {
      const y = (index + 0.5) * ROW_HEIGHT;
      const [length, then] = [lengthOf(count), NAMES_WIDTH + lengthOf(before)];
      return [
        label({ x: NAMES_WIDTH - 6, y: y + 4, fill: INK, anchor: "end" }, name),
        html`<rect x="${NAMES_WIDTH}" y="${px(y - BAR_HEIGHT / 2)}" width="${px(length)}" height="${BAR_HEIGHT}" fill="${MARK}"/>`,
        ...(before > 0 ? [line(then, y - 10, then, y + 10, QUIET, 2)] : []),
        label({ x: NAMES_WIDTH + length + 8, y: y + 4, fill: INK }, countText(count)),
      ];
    });
    return { height: counts.length * ROW_HEIGHT, body };
  };
}

const MOST_ROWS = 200;

/** Undefined where no publication can be compared with the one before. */
function fieldsFigure({ changed, compared, fields }: FieldNews): Figure | undefined {
  if (compared === 0) return undefined;
  const rows = changed.toReversed().flatMap(rowsOf);
  const more = rows.length - MOST_ROWS;
  const inHow =
    compared === 1 ? "in the last publication" : `in the last ${countText(compared)} publications`;
  return {
    finding: findingOf(changed, inHow),
    description: `${fields === undefined ? "Fields" : `The events have ${plural(fields, "field")}, which`} are compared between publications; names that look like data are not repeated.${more > 0 ? ` ${countText(more)} more changes are not shown.` : ""}`,
    chart: undefined,
    table:
      rows.length === 0
        ? undefined
        : {
            label: "Changed fields",
            columns: [
              { title: "published, UTC" },
              { title: "what" },
              { title: "field", kind: "long" },
              { title: "type" },
            ],
            rows: rows.slice(0, MOST_ROWS),
          },
  };
}

function findingOf(changed: readonly ChangedFields[], inHow: string): string {
  const sum = (kind: "added" | "gone" | "retyped"): number =>
    changed.reduce((count, { changes }) => count + changes[kind].length, 0);
  const [added, gone, retyped] = [sum("added"), sum("gone"), sum("retyped")];
  const parts = [
    ...(added > 0 ? [`${countText(added)} new`] : []),
    ...(gone > 0 ? [`${countText(gone)} gone`] : []),
    ...(retyped > 0 ? [`${countText(retyped)} with another type`] : []),
  ];
  return parts.length === 0 ? `No field changed ${inHow}` : `Fields ${inHow}: ${parts.join(", ")}`;
}

function rowsOf({ publication, changes }: ChangedFields): readonly (readonly string[])[] {
  const instant = minute(Date.parse(publication.published_at)).replace(" UTC", "");
  const texts = (types: readonly JsonType[]): string => types.join(" or ");
  const rows = [
    ...changes.added.map((field) => ["new", shownPointer(field.pointer), texts(typesOf(field))]),
    ...changes.gone.map((field) => ["gone", shownPointer(field.pointer), texts(typesOf(field))]),
    ...changes.retyped.map(({ pointer, before, after }) => [
      "type",
      shownPointer(pointer),
      `${texts(before)} → ${texts(after)}`,
    ]),
  ];
  // Names that are not repeated make rows alike.
  const alike = Map.groupBy(rows, (row) => JSON.stringify(row));
  return [...alike.values()].map((same) => {
    const [what = "", field = "", type = ""] = same[0] ?? [];
    return [instant, same.length === 1 ? what : `${what}, ${countText(same.length)} times`, field, type];
  });
}
