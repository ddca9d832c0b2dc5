// A row of a snapshot (`docs/warehouse-format.md`) and its line in a file.

import { SyncError } from "../../errors/sync-error.ts";
import { jsonLine } from "../../json/json-line.ts";
import type { LiftedTexts } from "./lifter.ts";

/** Everything is text: `event` and `listing` are the JSON texts that the service sent. */
export interface Row {
  readonly uuid: string;
  readonly event_date: string | null;
  readonly scope: string | null;
  readonly event: string;
  readonly listing: string;
}

/** One line of NDJSON without the newline: equal rows give equal bytes. Lifted columns come last, in their order. */
export function rowLine(row: Row, lifted: LiftedTexts = {}): string {
  const { uuid, event_date, scope, event, listing } = row;
  return jsonLine({ uuid, event_date, scope, event, listing, ...lifted });
}

/** Checked by hand, not by a schema: it runs once per event. Lifted columns are ignored. */
export function parseRow(line: string): Row {
  const value = parseObject(line);
  if (value === undefined) throw notARow("it is not a JSON object");
  const { uuid, event_date, scope, event, listing } = value;
  if (!isText(uuid)) throw notARow("uuid is not a string");
  if (!isTextOrNull(event_date)) throw notARow("event_date is neither a string nor null");
  if (!isTextOrNull(scope)) throw notARow("scope is neither a string nor null");
  if (!isText(event)) throw notARow("event is not a string");
  if (!isText(listing)) throw notARow("listing is not a string");
  return { uuid, event_date, scope, event, listing };
}

function parseObject(line: string): Partial<Record<keyof Row, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined; // the parser's own error quotes the line
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function notARow(problem: string): SyncError {
  return new SyncError(
    "STORE_CORRUPT",
    `A line of a snapshot is not a row: ${problem}. Restore the snapshot's files from a backup or an older version.`,
  );
}
