// `query`: SQL on the local warehouse, with the table names that Athena has.

import { resolve } from "node:path";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { columnsAndRows, formatResult, type ResultRows } from "../formats/format-result.ts";
import { commandLineText } from "../options/command-line-text.ts";
import type { OptionValues, ResultFormat } from "../options/options.ts";
import { EXIT } from "../output/exit-code.ts";
import { plural } from "../output/progress-text.ts";
import { fieldHint, whyEmpty } from "../query/hints.ts";
import { OutFile } from "../query/out-file.ts";
import type { QueryOptions } from "../query/query.ts";
import { readSql } from "../query/read-sql.ts";
import { verifyTables } from "../query/verify-tables.ts";
import type { CommandContext } from "../wiring/command-context.ts";
import { openDirectory, refuseMissingWarehouse } from "../wiring/open-warehouse.ts";
import type { CommandSpec } from "./command.ts";

const PRINTED_OPTIONS = ["config", "warehouse", "format", "out", "full", "partial", "json"] as const;
const OPTIONS = [...PRINTED_OPTIONS, "file"] as const;

type Values = OptionValues<(typeof OPTIONS)[number]>;

export const queryCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "query",
  summary:
    "run SQL on the warehouse: events, event_snapshots, event_changes, publications, sync_runs, events_typed, event_history",
  argument: {
    name: "sql",
    description:
      "statements in DuckDB's SQL that only read, or - for standard input; json_extract_scalar is defined as in Athena",
    isOptional: true,
  },
  options: OPTIONS,
  example: `query "SELECT uuid, event_date FROM events LIMIT 5"`,
  execute: async (values, context, argument) => {
    if (isS3(values.warehouse)) {
      throw new SyncError(
        "CONFIG_INVALID",
        "query reads a warehouse on this computer. One in S3 is read with Athena, where the tables have the same names: run the SQL there, in the stack's workgroup and database.",
      );
    }
    const form = formOf(values);
    await needDuckDB();
    const { signal, cwd, stdin, stdout, stderr } = context;
    const again = commandLineText(["query", "-"], PRINTED_OPTIONS, values);
    const sql = await readSql({ argument, file: values.file, again, cwd, stdin, signal });
    const { store, views } = openDirectory(resolve(cwd, values.warehouse), stderr);
    const { directory } = views;
    await refuseMissingWarehouse(store, values, context.cwd);
    const onLeftOut = values.partial ? (text: string): void => stderr.message(text) : undefined;
    const statusOf = (account: string): string =>
      commandLineText(["status", "--account", account], ["config", "warehouse"], values);
    const options: QueryOptions = {
      signal,
      verify: async (use) => {
        stderr.lines(await whyEmpty(store, use.accounts, use.tables, statusOf));
        return verifyTables({ store, directory, signal, onLeftOut, ...use });
      },
      hint: (accounts, message) => fieldHint(store, accounts, message),
    };
    const { queryRows } = await import("../query/query.ts");
    if (values.out === undefined) {
      if (form === "parquet") throw noText();
      await queryRows(views, sql, options, async (result) => {
        for await (const piece of piecesOf(result, form, values.full ? undefined : stdout.width)) {
          if (!(await stdout.piece(piece))) return;
        }
      });
      return EXIT.done;
    }
    const { writeParquet } = await import("../query/write-parquet.ts");
    await intoFile(values.out, context, directory, (file) =>
      form === "parquet"
        ? writeParquet(views, sql, options, file.temporary)
        : queryRows(views, sql, options, (result) => file.fill(result, (rows) => piecesOf(rows, form))),
    );
    return EXIT.done;
  },
};

/** An optional dependency, loaded for `query` and `columns` alone. */
export async function needDuckDB(): Promise<void> {
  await import("@duckdb/node-api").catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    const install = `npm install --global @duckdb/node-api@${packageJson.optionalDependencies["@duckdb/node-api"]}`;
    throw new SyncError(
      "QUERY_FAILED",
      `query needs DuckDB, as columns does, which cannot be loaded here${code}. Install it: ${install} (in a project without --global). No other command needs it.`,
      { cause: error },
    );
  });
}

/** `json` is an array of objects, `line` what `--json` prints. */
type Form = ResultFormat | "line";

function formOf({ json, format, out }: Values): Form {
  if (json && format !== undefined) {
    throw new SyncError(
      "CONFIG_INVALID",
      `--json and --format ${format} are two forms of the result. Leave one of them out.`,
    );
  }
  if (json) return "line";
  return format ?? BY_ENDING[/\.(\w+)$/.exec(out ?? "")?.[1]?.toLowerCase() ?? ""] ?? "table";
}

/** What the ending of a file's name says. */
const BY_ENDING: Readonly<Record<string, ResultFormat>> = {
  csv: "csv",
  json: "json",
  ndjson: "ndjson",
  jsonl: "ndjson",
  parquet: "parquet",
};

function noText(): SyncError {
  return new SyncError("CONFIG_INVALID", "Parquet is not text: name a file with --out.");
}

function piecesOf(
  result: ResultRows,
  form: Exclude<Form, "parquet">,
  width?: number,
): AsyncGenerator<string> {
  return form === "line" ? columnsAndRows(result) : formatResult(form, result, { width });
}

/** `write` returns the number of rows. */
async function intoFile(
  out: string,
  { stderr, cwd }: CommandContext,
  warehouse: string,
  write: (file: OutFile) => Promise<number>,
): Promise<void> {
  const file = await OutFile.in(resolve(cwd, out), { warehouse, failure: "QUERY_FAILED" });
  try {
    const rows = await write(file);
    await file.keep();
    const before = file.replaces ? ", in place of the file before" : "";
    stderr.lines([`${plural(rows, "row")} in ${file.path}${before}`]);
  } finally {
    await file.discard();
  }
}
