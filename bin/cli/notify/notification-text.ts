// The text of a notification, as Slack and Teams show it, with the commands to run next.

import type { RunEvent } from "../../../lambdas/job/run/record/run-event.ts";
import { runInstant } from "../../../lambdas/job/storage/layout.ts";
import { commandLineText } from "../options/command-line-text.ts";
import { AUTHORIZE_OPTIONS, PLACE_OPTIONS, RUN_OPTIONS, SERVICE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";
import { minute } from "../output/minute.ts";
import { oneLine } from "../output/terminal.ts";

/** Messages of errors may list every wrong key of a file; chats cut long texts. */
const MAX_MESSAGE = 1_000;

interface More {
  /** The snapshots are, and who tells: the host, the settings file. */
  readonly where: string;
  /** For the person who reads it. */
  readonly link: string | undefined;
}

export function notificationText(
  event: RunEvent,
  next: readonly NextCommand[],
  { where, link }: More,
): string {
  const about = `brand-events-sync, account ${event.detail["account"]}`;
  const commands = next.map(({ purpose, command }) => `${purpose}: ${code(command)}.`);
  const wait = event.detailType === "Snapshot Held" ? [`Or wait: ${event.detail["wait"]}`] : [];
  const more = link === undefined ? [] : [`More: ${link}`];
  const parts = [`${about}: ${what(event, next)}`, ...commands, ...wait, `Where: ${where}.`, ...more];
  return escaped(oneLine(parts.join(" ")));
}

function what({ detailType, detail }: RunEvent, next: readonly NextCommand[]): string {
  switch (detailType) {
    case "Snapshot Published":
      return `readers see a new snapshot, ${detail["snapshot_id"]}. Events: ${detail["events"]}; ${detail["added"]} added, ${detail["changed"]} changed, ${detail["removed"]} removed.`;
    case "Snapshot Held":
      return `the snapshot ${detail["snapshot_id"]} is held (${detail["reason"]}). ${sentence(detail["explanation"])}${wouldDo(detail)} ${readersKeep(detail["base_snapshot_id"])}; nothing is urgent.`;
    case "Run Failed": {
      const { error_code: errorCode, run_id: runId } = detail;
      const run = runId === null ? "a start" : `the run ${runId}`;
      const why = next.reduce(
        (words, { command }) => withoutCommand(words, command),
        sentence(detail["error_message"]),
      );
      return `${run} failed${errorCode === null ? "" : ` with ${errorCode}`}. Readers keep what they have. ${why}`;
    }
  }
}

function wouldDo({ added, changed, removed }: RunEvent["detail"]): string {
  if (added === null || added === undefined) return "";
  return ` Publishing it would add ${added}, change ${changed} and remove ${removed} events.`;
}

/** @param base what readers saw when the snapshot was held */
function readersKeep(base: unknown): string {
  if (typeof base !== "string") return "Readers keep what they have";
  return `Readers keep the snapshot of ${minute(runInstant(base) ?? Number.NaN)}`;
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

/** A command that a person runs after a run, by how it ended. */
interface NextCommand {
  /** What the command is for: `To publish it anyway`. */
  readonly purpose: string;
  readonly command: string;
}

export type NextCommandValues = OptionValues<
  Exclude<(typeof SERVICE_OPTIONS)[number], "json" | "logLevel"> | (typeof RUN_OPTIONS)[number]
>;

export function nextCommands(
  { detailType, detail }: RunEvent,
  values: NextCommandValues,
): readonly NextCommand[] {
  switch (detailType) {
    case "Snapshot Published":
      return [
        {
          purpose: "To see what readers have",
          command: commandLineText(["status"], PLACE_OPTIONS, values),
        },
      ];
    case "Snapshot Held":
      return [
        { purpose: "To see what publishing it would change", command: String(detail["diff_command"]) },
        { purpose: "To publish it anyway", command: String(detail["accept_command"]) },
      ];
    case "Run Failed":
      return [afterFailure(detail["error_code"], detail["finished"] === false, values)];
  }
}

function afterFailure(code: unknown, isUnfinished: boolean, values: NextCommandValues): NextCommand {
  if (code === "AUTHORIZATION_EXPIRED") {
    return {
      purpose: "To authorize again",
      command: commandLineText(["authorize"], AUTHORIZE_OPTIONS, values),
    };
  }
  if (isUnfinished) {
    return {
      purpose: "To resume it",
      command: commandLineText(["run"], [...OF_THE_SERVICE, ...RUN_OPTIONS], values),
    };
  }
  return { purpose: "To find the cause", command: commandLineText(["check"], OF_THE_SERVICE, values) };
}

const OF_THE_SERVICE = SERVICE_OPTIONS.filter((name) => name !== "json" && name !== "logLevel");
