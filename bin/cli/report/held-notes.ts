// What waits for a person: the newest held snapshot with the command that publishes it, and the others in a table.

import type { HeldSnapshot } from "../../../lambdas/job/run/compare/held-snapshots.ts";
import type { Status } from "../../../lambdas/job/run/status.ts";
import { plural } from "../output/progress-text.ts";
import { publishableOf } from "../output/status/describe-status.ts";
import { type Html, html } from "./page/html.ts";
import { table } from "./page/table.ts";

/** The command that publishes a held snapshot. */
export type AcceptCommand = (account: string, snapshotId: string) => string;

export function heldNotes(status: Status, acceptCommand: AcceptCommand): readonly Html[] {
  // To publish the newest makes the others older than what readers see.
  const [newest, ...others] = publishableOf(status).toReversed();
  const older = status.held.filter(({ snapshotId }) => snapshotId <= (status.head?.snapshot_id ?? ""));
  return [
    ...(newest ? [note(newest, acceptCommand(status.account, newest.snapshotId))] : []),
    ...more(`${plural(others.length, "held snapshot")} more`, others),
    ...more(`${plural(older.length, "held snapshot")} older than what readers see`, older.toReversed()),
  ];
}

function note({ snapshotId, reason, explanation }: HeldSnapshot, command: string): Html {
  return html`<div class="note held"><h3>Held: ${reason}</h3>
<p>${explanation}</p>
<p class="quiet">Snapshot ${snapshotId}. Publish it anyway:</p>
<pre>${command}</pre>
</div>
`;
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
