// The sentence of a notification, as Slack and Teams show it, with the command to run next.

import type { RunEvent } from "../../../lambdas/job/run/record/run-event.ts";
import { oneLine } from "../output/terminal-text.ts";
import type { NextCommand } from "./next-command.ts";

/** Messages of errors may list every wrong key of a file; chats cut long texts. */
const MAX_MESSAGE = 1_000;

export function notificationText(event: RunEvent, { purpose, command }: NextCommand): string {
  const about = `brand-events-sync, account ${event.detail["account"]}`;
  return escaped(oneLine(`${about}: ${what(event)} ${purpose}: ${code(command)}`));
}

function what({ detailType, detail }: RunEvent): string {
  switch (detailType) {
    case "Snapshot Published":
      return `readers see a new snapshot, ${detail["snapshot_id"]}. Events: ${detail["events"]}; ${detail["added"]} added, ${detail["changed"]} changed, ${detail["removed"]} removed.`;
    case "Snapshot Held":
      return `the snapshot ${detail["snapshot_id"]} is held (${detail["reason"]}), and readers keep what they have. ${sentence(detail["explanation"])}`;
    case "Run Failed": {
      const { error_code: errorCode } = detail;
      return `the run failed${errorCode === null ? "" : ` with ${errorCode}`}. ${sentence(detail["error_message"])}`;
    }
  }
}

function sentence(text: unknown): string {
  const words = String(text ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (words.length > MAX_MESSAGE) return `${words.slice(0, MAX_MESSAGE).toWellFormed()}…`;
  return /[.!?)]$/.test(words) || words === "" ? words : `${words}.`;
}

/** As code, where nothing has a meaning but the mark itself. */
function code(command: string): string {
  return command.includes("`") ? command : `\`${command}\``;
}

/** The three characters that mean something in both: a text like `<!channel>` would call everybody. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
