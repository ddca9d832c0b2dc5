// The forms of a query's result.

import { shownText } from "../../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";

export const RESULT_FORMATS = ["table", "vertical", "csv", "json", "ndjson", "parquet"] as const;

export type ResultFormat = (typeof RESULT_FORMATS)[number];

/** Parquet is the only one that is no text. */
export type TextFormat = Exclude<ResultFormat, "parquet">;

export const resultFormat = (value: string): ResultFormat => {
  const format = RESULT_FORMATS.find((each) => each === value);
  if (format !== undefined) return format;
  throw new SyncError(
    "CONFIG_INVALID",
    `expected ${RESULT_FORMATS.slice(0, -1).join(", ")} or ${RESULT_FORMATS.at(-1)}, and got ${shownText(value)}`,
  );
};

const BY_ENDING: Readonly<Record<string, ResultFormat>> = {
  csv: "csv",
  json: "json",
  ndjson: "ndjson",
  jsonl: "ndjson",
  parquet: "parquet",
};

/** What the ending of a file's name says. */
export function formatOfFile(file: string): ResultFormat | undefined {
  return BY_ENDING[/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? ""];
}
