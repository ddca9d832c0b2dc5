// The SQL of a query: from the command line, a file, or standard input.

import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { NOT_UTF8, shellWord, utf8Text } from "../../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import {
  MOST_TEXT_BYTES,
  readAtMost,
  readInputAtMost,
  TooLarge,
} from "../../../lambdas/job/runtime/bounded-input.ts";
import { systemReason } from "../output/exit-code.ts";

const WAYS =
  'query "SELECT …" takes it from the command line, query -f FILE from a file, and query - from standard input.';

/** The account's place in the saved queries of the stack (`lib/data/queries`). */
const PLACEHOLDER = "{{account}}";

interface SqlSource {
  /** Empty if there is none; `-` for standard input. */
  readonly argument: string;
  /** A relative path starts from `cwd`. */
  readonly file: string | undefined;
  /** The command that reads SQL from standard input, and is otherwise the same. */
  readonly again: string;
  readonly cwd: string;
  readonly stdin: () => NodeJS.ReadableStream;
  readonly signal: AbortSignal;
}

/** Throws `CONFIG_INVALID` unless there is exactly one of them and it can be run as it is; the signal's reason. */
export async function readSql(source: SqlSource): Promise<string> {
  const sql = await readSource(source);
  if (!sql.includes(PLACEHOLDER)) return sql;
  const { file = "-", again } = source;
  const filled = `sed 's/${PLACEHOLDER}/NAME/g' ${file === "-" ? "FILE" : shellWord(file)} | ${again}`;
  throw new SyncError(
    "CONFIG_INVALID",
    `The SQL has the placeholder ${PLACEHOLDER} of a saved query, so it would find nothing. Replace it with the name of an account: ${filled}`,
  );
}

/** The error where there is no SQL, or an input that has no statement. */
export function noSql(): SyncError {
  return new SyncError("CONFIG_INVALID", `There is no SQL. ${WAYS}`);
}

async function readSource({ argument, file, cwd, stdin, signal }: SqlSource): Promise<string> {
  if (argument !== "" && file !== undefined) {
    throw new SyncError(
      "CONFIG_INVALID",
      `There is SQL twice: an argument, and the file ${file} (--file). ${WAYS}`,
    );
  }
  if (argument === "" && file === undefined) throw noSql();
  if (argument === "-" || file === "-")
    return textOf(readInputAtMost(stdin(), MOST_TEXT_BYTES, signal), "Standard input");
  if (file === undefined) return argument;
  const path = resolve(cwd, file);
  const read = readAtMost(createReadStream(path), MOST_TEXT_BYTES).catch((error: unknown) => {
    if (error instanceof TooLarge) throw error;
    throw new SyncError(
      "CONFIG_INVALID",
      `The SQL in ${path} cannot be read: ${systemReason(error)}. Correct --file.`,
    );
  });
  return textOf(read, path);
}

async function textOf(read: Promise<Uint8Array>, place: string): Promise<string> {
  const bytes = await read.catch((error: unknown) => {
    throw error instanceof TooLarge ? new SyncError("CONFIG_INVALID", `${place} ${error.message}.`) : error;
  });
  const text = utf8Text(bytes);
  if (text === undefined) throw new SyncError("CONFIG_INVALID", `${place} ${NOT_UTF8}`);
  return text;
}
