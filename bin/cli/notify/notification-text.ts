// The sentence of a notification, as Slack and Teams show it, with the command to run next.

import type { RunEvent } from "../../../lambdas/job/run/record/run-event.ts";
import { oneLine } from "../output/terminal-text.ts";
import type { NextCommand } from "./next-command.ts";

/** Messages of errors may list every wrong key of a file; chats cut long texts. */
const MAX_MESSAGE = 1_000;

export function notificationText(event: RunEvent, { purpose, command }: NextCommand): string {
  const about = `brand-events-sync, account ${event.detail["account"]}`;
  return escaped(oneLine(`${about}: ${what(event, command)} ${purpose}: ${code(command)}`));
}

function what({ detailType, detail }: RunEvent, command: string): string {
  switch (detailType) {
    case "Snapshot Published":
      return `readers see a new snapshot, ${detail["snapshot_id"]}. Events: ${detail["events"]}; ${detail["added"]} added, ${detail["changed"]} changed, ${detail["removed"]} removed.`;
    case "Snapshot Held":
      return `the snapshot ${detail["snapshot_id"]} is held (${detail["reason"]}), and readers keep what they have. ${sentence(detail["explanation"])}${wouldDo(detail)}`;
    case "Run Failed": {
      const { error_code: errorCode } = detail;
      return `the run failed${errorCode === null ? "" : ` with ${errorCode}`}. ${withoutCommand(sentence(detail["error_message"]), command)}`;
    }
  }
}

function wouldDo({ added, changed, removed }: RunEvent["detail"]): string {
  if (added === null || added === undefined) return "";
  return ` Publishing it would add ${added}, change ${changed} and remove ${removed} events.`;
}

function sentence(text: unknown): string {
  const words = String(text ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (words.length > MAX_MESSAGE) return `${words.slice(0, MAX_MESSAGE).toWellFormed()}…`;
  return /[.!?)]$/.test(words) || words === "" ? words : `${words}.`;
}

/** An error whose remedy is a command ends with it, and the text's own end names it too. */
function withoutCommand(words: string, command: string): string {
  const end = words.lastIndexOf(command);
  return end === -1 ? words : words.slice(0, words.lastIndexOf(". ", end) + 1);
}

/** As code, where nothing has a meaning but the mark itself. */
function code(command: string): string {
  return command.includes("`") ? command : `\`${command}\``;
}

/** The three characters that mean something in both: a text like `<!channel>` would call everybody. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
