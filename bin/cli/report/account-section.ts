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
import { missingOf, wouldDo } from "../output/describe-held.ts";
import { madeAtMs, publishableOf, reasonOf, running } from "../output/describe-status.ts";
import { age, minute } from "../output/minute.ts";
import { plural } from "../output/progress-text.ts";
import type { AccountReport, ReportedAccount } from "./data/account-report.ts";
import { fieldsFigure } from "./figures/fields-figure.ts";
import { leftOutFigure } from "./figures/left-out-figure.ts";
import { publicationsFigure } from "./figures/publications-figure.ts";
import { requestsFigure } from "./figures/requests-figure.ts";
import { runsFigure } from "./figures/runs-figure.ts";
import { storageFigure } from "./figures/storage-figure.ts";
import { figure, table } from "./page/figure.ts";
import { type Html, html } from "./page/html.ts";

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
