// What waits for a person: the newest held snapshot, what publishing it would do, and the commands; the others in a
// table.

import {
  type HeldCommands,
  type HeldSnapshot,
  ifNotAccepted,
} from "../../../lambdas/job/run/compare/held-snapshots.ts";
import { countText } from "../../../lambdas/job/run/record/count-text.ts";
import type { Status } from "../../../lambdas/job/run/status.ts";
import { missingOf, wouldDo } from "../output/describe-held.ts";
import { publishableOf } from "../output/describe-status.ts";
import { plural } from "../output/progress-text.ts";
import { type Html, html } from "./page/html.ts";
import { table } from "./page/table.ts";

/** The commands that decide on a held snapshot. */
export type CommandsFor = (account: string, snapshotId: string) => HeldCommands;

export function heldNotes(status: Status, commandsFor: CommandsFor): readonly Html[] {
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
<p class="quiet">Or wait: ${ifNotAccepted(reason)}</p>
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
