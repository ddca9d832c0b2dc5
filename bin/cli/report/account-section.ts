// One account: what is known of it at a glance, what needs attention, and the figures.

import { type Status, status } from "../../../lambdas/job/commands/status.ts";
import type { HeldSnapshot } from "../../../lambdas/job/run/publish/held-snapshots.ts";
import { ifNotAccepted } from "../../../lambdas/job/run/record/held-mark.ts";
import { isRun, lastRuns, type RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { countText, durationText, missingReasons } from "../../../lambdas/job/run/record/texts.ts";
import { type DamagedAccount, orDamage } from "../../../lambdas/job/storage/known-accounts.ts";
import { publicationId, runInstant } from "../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../lambdas/job/storage/publication.ts";
import { readLogSince } from "../../../lambdas/job/storage/publication-log.ts";
import type { AccountStore } from "../../../lambdas/job/storage/store.ts";
import { explained, heldCommands } from "../../../lambdas/words/ends.ts";
import { ANY_SHELL, type Style, say, sayError } from "../../../lambdas/words/style.ts";
import {
  madeAtMs,
  outcomeWord,
  publishableOf,
  reasonOf,
  running,
  troubleOf,
  wouldDo,
} from "../output/describe-status.ts";
import { type Html, html } from "../output/html.ts";
import type { StyleHere } from "../output/next-command.ts";
import { age, minute, plural } from "../output/words.ts";
import { manifestFigures, publicationsFigure, storageFigure } from "./account-figures.ts";
import { details, type Figure, figures, table } from "./figure.ts";
import { type RequestLimit, runsFigure } from "./run-figures.ts";

interface AccountReport {
  readonly account: string;
  readonly status: Status;
  readonly lastRun: RunLogEntry | undefined;
  /** The newest run that came to nothing, where none made a snapshot since. */
  readonly failed: RunLogEntry | undefined;
  readonly figures: readonly Figure[];
}

export type ReportedAccount = (AccountReport | DamagedAccount) & {
  /** What needs attention, in a few words; undefined where nothing does. */
  readonly trouble: string | undefined;
  /** From when the data are that readers see; undefined where they see nothing. */
  readonly dataMs: number | undefined;
  readonly content: readonly Html[];
};

export interface AccountOptions {
  readonly nowMs: number;
  readonly limitOf: (account: string) => RequestLimit;
  /** How settings and commands of an account are spelled. */
  readonly styleFor: (account: string) => StyleHere;
}

const MOST_RUNS = 60;

/** Reads only, and no event. */
export async function reportAccount(store: AccountStore, options: AccountOptions): Promise<ReportedAccount> {
  const found = await orDamage(store.account, () => readAccount(store, options));
  const head = "damage" in found ? null : found.status.head;
  const style = options.styleFor(store.account);
  return {
    ...found,
    trouble: attentionOf(found, style),
    dataMs: head === null ? undefined : madeAtMs(head),
    content: contentOf(found, options.nowMs, style),
  };
}

async function readAccount(store: AccountStore, { nowMs, limitOf }: AccountOptions): Promise<AccountReport> {
  const { account } = store;
  const found = await status(store, nowMs);
  const publications = await lastPublications(store, found.head);
  const attempts = await lastRuns(store, MOST_RUNS, nowMs);
  const runs = attempts.filter(({ trigger }) => isRun(trigger)).toReversed();
  const failed = troubleOf(found);
  const isAll = publications.length < MOST_PUBLICATIONS;
  const drawn = [
    publicationsFigure(publications, isAll),
    runsFigure(runs, limitOf(account), nowMs),
    await storageFigure(store, found, publications, isAll),
    ...(await manifestFigures(store, publications)),
  ];
  const lastRun = runs.at(-1);
  return {
    account,
    status: found,
    lastRun,
    failed,
    figures: drawn.filter((each) => each !== undefined),
  };
}

/** Wide enough for a year of days; each is one small read. */
const MOST_PUBLICATIONS = 400;

/** Up to the head, oldest first. Throws `STORE_CORRUPT` for a damaged one. */
async function lastPublications(
  store: AccountStore,
  head: Publication | null,
): Promise<readonly Publication[]> {
  if (head === null) return [];
  const after = publicationId(Math.max(0, Number(head.publication) - MOST_PUBLICATIONS));
  const { publications } = await readLogSince(store, after);
  return publications.filter(({ publication }) => publication <= head.publication);
}

export const NOTHING = "Nothing is published yet";

function attentionOf(one: AccountReport | DamagedAccount, style: StyleHere): string | undefined {
  if ("damage" in one) return `The account cannot be read (${one.damage.code})`;
  const { status: found, failed } = one;
  const held = publishableOf(found).length;
  if (held > 0) return `${plural(held, "snapshot")} ${held === 1 ? "waits" : "wait"} for your decision`;
  if (failed) return failureText(failed);
  if (found.head === null) return NOTHING;
  return style.doubt(found.doubt) === undefined ? undefined : DOUBTED;
}

const DOUBTED = "The list of events may be a part only";

const HOW: Readonly<Record<string, string>> = { SKIPPED: "was skipped", interrupted: "was interrupted" };

function failureText(failed: RunLogEntry): string {
  const reason = reasonOf(failed);
  const how = HOW[outcomeWord(failed)] ?? "failed";
  return `The last run ${how}${reason === "" ? "" : ` (${reason})`}`;
}

function contentOf(one: AccountReport | DamagedAccount, nowMs: number, style: StyleHere): readonly Html[] {
  if ("damage" in one)
    return [failedNote(`This account cannot be read: ${one.damage.code}`, sayError(one.damage, ANY_SHELL))];
  const { failed } = one;
  const doubt = style.doubt(one.status.doubt);
  const notes = [
    ...heldNotes(one.status, style),
    ...(failed
      ? [
          failedNote(
            failureText(failed),
            [failed.error_message, say(one.status.next, style)].filter(Boolean).join(" ") || null,
          ),
        ]
      : []),
    ...(doubt === undefined ? [] : [doubtNote(doubt)]),
  ];
  return [
    facts(one, nowMs),
    ...(notes.length > 0 ? [html`<div class="notes">\n${notes}</div>\n`] : []),
    ...figures(one.figures),
  ];
}

function failedNote(title: string, message: string | null): Html {
  return html`<div class="note failed"><h3>${title}</h3>${message === null ? "" : html`\n<p>${message}</p>`}
</div>
`;
}

function doubtNote(doubt: string): Html {
  return html`<div class="note held"><h3>${DOUBTED}</h3>\n<p>${doubt}</p>\n</div>\n`;
}

type Fact = readonly [name: string, value: string, more: string];

/** What everybody asks for first: how old, how many events, and how the last run ended. */
function facts({ status: { head, lease }, lastRun }: AccountReport, nowMs: number): Html {
  const now: readonly Fact[] = lease
    ? [["Running now", runInstant(lease.run_id) === undefined ? "a command" : "a run", running(lease)]]
    : [];
  const items = [...headFacts(head, nowMs), lastRunFact(lastRun), ...now].map(
    ([name, value, more]) => html`<div><dt>${name}</dt><dd>${value}</dd><dd>${more}</dd></div>\n`,
  );
  return html`<dl class="facts">\n${items}</dl>\n`;
}

function headFacts(head: Publication | null, nowMs: number): readonly Fact[] {
  if (head === null) return [["Readers see", "nothing", "no snapshot is published yet"]];
  const madeAt = madeAtMs(head);
  const by = head.action === "run" ? "" : ` by ${head.action}`;
  const pinned = head.pinned ? ", pinned: later runs are held" : "";
  return [
    ["Data from", age(madeAt, nowMs), minute(madeAt)],
    [
      "Readers see",
      plural(head.events, "event"),
      `publication ${countText(Number(head.publication))}${by}${pinned}`,
    ],
  ];
}

function lastRunFact(last: RunLogEntry | undefined): Fact {
  if (last === undefined) return ["Last run", "none", "no run has ended yet"];
  const reason = reasonOf(last);
  const took = durationText(last.seconds * 1000);
  return [
    "Last run",
    outcomeWord(last),
    `${reason === "" ? "" : `${reason}, `}${minute(Date.parse(last.started_at))}, ${took}`,
  ];
}

function heldNotes(status: Status, style: Style): readonly Html[] {
  // To publish the newest makes the others older than what readers see.
  const [newest, ...others] = publishableOf(status).toReversed();
  const older = status.held.filter(({ snapshotId }) => snapshotId <= (status.head?.snapshot_id ?? ""));
  return [
    ...(newest ? [note(newest, status, style)] : []),
    ...more(`${plural(others.length, "held snapshot")} more`, others),
    ...more(`${plural(older.length, "held snapshot")} older than what readers see`, older.toReversed()),
  ];
}

function note(one: HeldSnapshot, { head }: Status, style: Style): Html {
  const { accept, diff } = heldCommands(one.snapshotId, style);
  const { snapshotId, reason, preview, facts: hold } = one;
  const missing = preview ? missingReasons(preview) : "";
  const lines = [
    ...(preview ? [sentence(wouldDo(preview, head?.snapshot_id ?? null))] : []),
    ...(missing === "" ? [] : [sentence(`missing: ${missing}`)]),
  ];
  return html`<div class="note held"><h3>Held: ${reason}</h3>
<p>${explained({ ...one, hold }, style) ?? ""}</p>
${lines.map((line) => html`<p>${line}</p>\n`)}<p class="quiet">Look at the snapshot ${snapshotId}:</p>
<pre>${diff}</pre>
<p class="quiet">Publish it anyway:</p>
<pre>${accept}</pre>
<p class="quiet">Or wait: ${ifNotAccepted(head?.pinned === true)} This one is retired after 30 days.</p>
</div>
`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function more(label: string, snapshots: readonly HeldSnapshot[]): readonly Html[] {
  if (snapshots.length === 0) return [];
  return [
    details(
      table(label, snapshots, [
        ["snapshot", ({ snapshotId }) => snapshotId],
        ["reason", ({ reason }) => reason],
        ["explanation", ({ explanation }) => explanation, "long"],
      ]),
    ),
  ];
}
