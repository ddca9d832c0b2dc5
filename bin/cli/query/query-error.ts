// What a query that fails says: DuckDB's own words, and what helps.

import { VIEWS } from "../../../lambdas/job/catalog/views/views.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { TABLES } from "../../../lambdas/job/storage/layout.ts";
import { NotReadOnly } from "./prepare-read-only.ts";

const MAX_MESSAGE_CHARS = 2000;

/** How DuckDB's message begins for a file, a URL or an extension that it may not open. */
const LOCKED = "Permission Error: ";

/** How DuckDB begins its message for arguments of types that a function or an operator does not take. */
const NO_OVERLOAD = /^Binder Error: (?:No function matches|Could not choose|Cannot compare)/;

const TRY_CAST =
  "What the service sends is text. TRY_CAST converts it, to NULL where it does not convert: TRY_CAST(event_date AS DATE).";

const ALLOWED =
  "query reads the tables of this warehouse and their files, with SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW and SUMMARIZE, or EXPLAIN of one of them. For anything else read views.sql in a DuckDB of your own.";

export function queryError(error: unknown): SyncError {
  const message = messageOf(error);
  return error instanceof NotReadOnly || message.startsWith(LOCKED) ? refused(message) : failed(message);
}

export function failed(message: string): SyncError {
  const isAboutTypes = message.startsWith("Conversion Error: ") || NO_OVERLOAD.test(message);
  const remedies = [
    ...(isAboutTypes ? [TRY_CAST] : []),
    `The tables are ${Object.keys(TABLES).join(", ")}, and the views ${Object.keys(VIEWS).join(" and ")}; DESCRIBE events shows the columns of one.`,
  ];
  return new SyncError("QUERY_FAILED", [message, ...remedies].join("\n"));
}

/** What DuckDB says quotes the SQL, and a value that does not convert with it: enough is enough. */
export function messageOf(error: unknown): string {
  const message = withoutCandidates(error instanceof Error ? error.message : String(error));
  return message.length > MAX_MESSAGE_CHARS ? `${message.slice(0, MAX_MESSAGE_CHARS)}…` : message;
}

function refused(message: string): SyncError {
  return new SyncError("QUERY_FAILED", `${message}\n${ALLOWED}`);
}

/** Without the list of every function of that name, one to a line that begins with a tab. */
function withoutCandidates(message: string): string {
  if (!message.includes("Candidate functions:")) return message;
  const lines = message.split("\n").filter((line) => !line.startsWith("\t") && line !== "");
  return lines.join("\n");
}
