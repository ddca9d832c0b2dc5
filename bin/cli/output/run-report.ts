// What a run, an accept or a rollback came to: words for a person, a line of JSON for a program, an exit code.

import { wasPinned } from "../../../lambdas/job/run/record/held-mark.ts";
import type { RunResult, Skipped } from "../../../lambdas/job/run/record/run-result.ts";
import { durationText, missingText } from "../../../lambdas/job/run/record/texts.ts";
import { explained } from "../../../lambdas/words/ends.ts";
import { type Style, sayError } from "../../../lambdas/words/style.ts";
import type { OptionValues } from "../options/options.ts";
import { cameTo, describeHeld, heldJson, outcomeWord } from "./describe-status.ts";
import { EXIT, exitCodeOfError } from "./exit-code.ts";
import { changesTable } from "./format-result.ts";
import type { StyleHere } from "./next-command.ts";
import { formatTable } from "./table.ts";
import type { Output } from "./terminal.ts";
import { changeCounts, firstOf, plural, repeatedEntries, throttledText } from "./words.ts";

export interface ResultOutput extends Output {
  /** Takes the result of one account, beside what is printed for a person. */
  readonly result: (result: AccountResult) => void;
  /** How settings and commands of the account are spelled. */
  readonly style: StyleHere;
}

export interface AccountResult {
  /** The result as `--json` prints it. */
  readonly json: object;
  /** The result in one line, for a list of accounts. */
  readonly line: string;
}

/** If the command sends requests, the limit too. */
type ReportValues = OptionValues<"json"> & Partial<OptionValues<"requestsPerMinute">>;

/**
 * Prints the result and returns the exit code.
 * @param more of the JSON
 */
export function reportRun(
  output: ResultOutput,
  result: RunResult,
  values: ReportValues,
  more: object = {},
): number {
  const { row, error } = result;
  const { style } = output;
  const doubt = style.doubt(result.doubt);
  const held = heldOf(result);
  const { differing: rows, columns } = result;
  const ofDryRun = { ...(columns && { columns }), ...(rows && { rows }) };
  const line = `${outcomeWord(row).padEnd(11)} ${cameTo(row)}`.trimEnd();
  const json = { ...row, doubt: doubt ?? null, ...(held && heldJson(held, style)), ...ofDryRun, ...more };
  output.result({ json, line });
  if (!values.json) {
    const decide = held ? describeHeld(held, held.preview?.base_snapshot_id ?? null, style) : [];
    const lines = [...describe(result, values, style), ...decide.map((words) => `  ${words}`)];
    output.stdout.lines(lines);
    if (rows !== undefined && rows.length > 0)
      output.stdout.text(formatTable(changesTable(rows), { width: output.stdout.width, whole: "--json" }));
  }
  if (error) output.stderr.message(`${error.code}: ${sayError(error, style)}`);
  if (doubt !== undefined) output.stderr.message(doubt);
  return exitCodeOf(result);
}

function exitCodeOf({ row, error }: RunResult): number {
  switch (row.outcome) {
    case "PUBLISHED":
    case "HANDED_OVER":
    case "DRY_RUN":
      return EXIT.done;
    case "HELD":
      return EXIT.held;
    case "SKIPPED":
    case "SUPERSEDED":
      return EXIT.skipped;
    default:
      return error === undefined ? EXIT.failed : exitCodeOfError(error);
  }
}

/** What a person or a program decides on. */
function heldOf({ row, explanation = "", preview }: RunResult) {
  const { outcome, reason, snapshot_id: snapshotId } = row;
  if (outcome !== "HELD" || snapshotId === null) return undefined;
  return { snapshotId, reason, explanation, preview, isPinned: wasPinned({ reason, preview }) };
}

/** Reports that another process works on the account. Returns the exit code. */
export function reportSkipped({ style, result, stderr }: ResultOutput, skipped: Skipped): number {
  const { next: _, ...end } = skipped;
  const { outcome, reason } = end;
  const explanation = explained(skipped, style);
  result({ json: { ...end, explanation }, line: `${outcome.padEnd(11)} ${reason}` });
  stderr.message(`${outcome}: ${explanation}`);
  return EXIT.skipped;
}

/** The line of JSON for a failure before anything began. */
export function failureJson(code: string | null, message: string): object {
  return { outcome: "FAILED", error_code: code, error_message: message };
}

function describe(
  result: RunResult,
  { requestsPerMinute = "unlimited" }: ReportValues,
  style: Style,
): readonly string[] {
  const { row, columns = [], differing } = result;
  const name = row.trigger === "accept" || row.trigger === "rollback" ? row.trigger : "run";
  const lines = [`${outcomeWord(row)}  ${name} ${row.run_id}, ${durationText(row.seconds * 1000)}`];
  if (row.events !== null) {
    const missing = missingText(row);
    lines.push(`  ${plural(row.events, "event")} with details${repeatedEntries(row)}`);
    if (missing !== "") lines.push(`  ${missing}`);
  }
  if (row.added !== null) lines.push(`  ${changeCounts(row)}${differing ? firstOf(differing, row) : ""}`);
  if (row.requests !== null) {
    const { logins, retries } = row;
    lines.push(
      `  ${plural(row.requests, "request")}, ${plural(logins ?? 0, "login")}, ${plural(retries ?? 0, "retry", "retries")}`,
    );
    if (row.throttled) lines.push(`  ${throttledText(row, requestsPerMinute, style)}`);
  }
  const explanation = explained(result, style);
  if (explanation !== undefined) lines.push(`  ${explanation}`);
  for (const { name, pointer, values } of columns)
    lines.push(`  ${name} (${pointer}): ${firstValues(values)}`);
  return lines;
}

const VALUE_WIDTH = 40;

function firstValues(values: readonly string[]): string {
  const shown = values.map((text) =>
    text.length > VALUE_WIDTH ? `${text.slice(0, VALUE_WIDTH - 1)}…` : text,
  );
  return shown.length === 0 ? "empty in every row" : shown.map((text) => JSON.stringify(text)).join(", ");
}
