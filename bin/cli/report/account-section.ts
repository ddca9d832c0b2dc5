// One account: what is known of it at a glance, what needs attention, and the figures.

import { type AccountStatus, type Status, status } from "../../../lambdas/job/commands/status.ts";
import type { HeldSnapshot } from "../../../lambdas/job/run/publish/held-snapshots.ts";
import { ifNotAccepted } from "../../../lambdas/job/run/record/held-mark.ts";
import { isRun, lastRuns, type RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { countText, durationText, missingReasons } from "../../../lambdas/job/run/record/texts.ts";
import { orDamage } from "../../../lambdas/job/storage/known-accounts.ts";
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
import { details, figures, table } from "./figure.ts";
import { type RequestLimit, runsFigure } from "./run-figures.ts";

export interface ReportedAccount {
  readonly account: string;
  readonly found: AccountStatus;
  /** What needs attention, in a few words; undefined where nothing does. */
  readonly trouble: string | undefined;
  /** From when the data are that readers see; undefined where they see nothing. */
  readonly dataMs: number | undefined;
  readonly content: readonly Html[];
}

export interface AccountOptions {
  readonly nowMs: number;
  readonly limitOf: (account: string) => RequestLimit;
  /** How settings and commands of an account are spelled. */
  readonly styleFor: (account: string) => StyleHere;
}

const MOST_RUNS = 60;

/** Reads only, and no event. */
export async function reportAccount(store: AccountStore, options: AccountOptions): Promise<ReportedAccount> {
  const { account } = store;
  const read = await orDamage(account, () => readAccount(store, options));
  if (!("damage" in read)) return read;
  const { code } = read.damage;
  return {
    account,
    found: read,
    trouble: `The account cannot be read (${code})`,
    dataMs: undefined,
    content: [note("failed", `This account cannot be read: ${code}`, sayError(read.damage, ANY_SHELL))],
  };
}

async function readAccount(
  store: AccountStore,
  { nowMs, limitOf, styleFor }: AccountOptions,
): Promise<ReportedAccount> {
  const { account } = store;
  const found = await status(store, nowMs);
  const publications = await lastPublications(store, found.head);
  const attempts = await lastRuns(store, MOST_RUNS, nowMs);
  const runs = attempts.filter(({ trigger }) => isRun(trigger)).toReversed();
  const isAll = publications.length < MOST_PUBLICATIONS;
  const drawn = [
    publicationsFigure(publications, isAll),
    runsFigure(runs, limitOf(account), nowMs),
    await storageFigure(store, found, publications, isAll),
    ...(await manifestFigures(store, publications)),
  ].filter((each) => each !== undefined);
  const style = styleFor(account);
  const doubt = style.doubt(found.doubt);
  const notes = [...heldNotes(found, style), ...failedNotes(found, style)];
  if (doubt !== undefined) notes.push(note("held", DOUBTED, doubt));
  return {
    account,
    found,
    trouble: attentionOf(found) ?? (doubt === undefined ? undefined : DOUBTED),
    dataMs: found.head === null ? undefined : madeAtMs(found.head),
    content: [
      facts(found, runs.at(-1), nowMs),
      ...(notes.length > 0 ? [html`<div class="notes">\n${notes}</div>\n`] : []),
      ...figures(drawn),
    ],
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

function attentionOf(found: Status): string | undefined {
  const held = publishableOf(found).length;
  if (held > 0) return `${plural(held, "snapshot")} ${held === 1 ? "waits" : "wait"} for your decision`;
  const failed = troubleOf(found);
  if (failed) return failureText(failed);
  return found.head === null ? NOTHING : undefined;
}

const DOUBTED = "The list of events may be a part only";

const HOW: Readonly<Record<string, string>> = { SKIPPED: "was skipped", interrupted: "was interrupted" };

function failureText(failed: RunLogEntry): string {
  const reason = reasonOf(failed);
  const how = HOW[outcomeWord(failed)] ?? "failed";
  return `The last run ${how}${reason === "" ? "" : ` (${reason})`}`;
}

/** Of the newest run that came to nothing, where none made a snapshot since. */
function failedNotes(found: Status, style: Style): readonly Html[] {
  const failed = troubleOf(found);
  if (failed === undefined) return [];
  const message = [failed.error_message, say(found.next, style)].filter(Boolean).join(" ");
  return [note("failed", failureText(failed), message)];
}

function note(kind: "failed" | "held", title: string, message: string): Html {
  return html`<div class="note ${kind}"><h3>${title}</h3>${message === "" ? "" : html`\n<p>${message}</p>`}
</div>
`;
}

type Fact = readonly [name: string, value: string, more: string];

/** What everybody asks for first: how old, how many events, and how the last run ended. */
function facts({ head, lease }: Status, lastRun: RunLogEntry | undefined, nowMs: number): Html {
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
    ...(newest ? [heldNote(newest, status, style)] : []),
    ...more(`${plural(others.length, "held snapshot")} more`, others),
    ...more(`${plural(older.length, "held snapshot")} older than what readers see`, older.toReversed()),
  ];
}

function heldNote(one: HeldSnapshot, { head }: Status, style: Style): Html {
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
