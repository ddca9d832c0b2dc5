// `query`: SQL on the local warehouse, with the table names that Athena has, and what helps where it fails or is empty.
// `views`: the same tables for other programs, after the warehouse was moved or copied.

import { extname, join, resolve } from "node:path";
import { codeOf, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { VIEWS_FILE } from "../../../lambdas/job/storage/layout.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { type OptionValues, RESULT_FORMATS } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import { EXIT } from "../output/exit-code.ts";
import { chosenFormat, formatResult, type PrintedForm } from "../output/format-result.ts";
import type { ResultRows } from "../output/table.ts";
import { plural } from "../output/words.ts";
import { hintFor, whyEmpty } from "../query/hints.ts";
import type { QueryOptions } from "../query/locked-duckdb.ts";
import { type MissingUnit, missingUnits } from "../query/missing-units.ts";
import { writeOutFile } from "../query/out-file.ts";
import { readSql } from "../query/read-sql.ts";
import { type CommandOfList, command } from "../wiring/command.ts";
import { openLocalWarehouse } from "../wiring/open-warehouse.ts";

const PRINTED_OPTIONS = ["config", "warehouse", "format", "out", "full", "json"] as const;
const OPTIONS = [...PRINTED_OPTIONS, "file"] as const;

type Values = OptionValues<(typeof OPTIONS)[number]>;

const queryCommand = command({
  name: "query",
  group: "Every day",
  summary:
    "run SQL on the warehouse: events, event_snapshots, event_changes, publications, sync_runs, events_typed, event_history",
  arguments: [
    [
      "[sql]",
      "statements in DuckDB's SQL that only read, or - for standard input; json_extract_scalar is defined as in Athena",
    ],
  ],
  options: OPTIONS,
  example: `query "SELECT uuid, event_date FROM events LIMIT 5"`,
  execute: async (values, context, argument) => {
    const form = formOf(values);
    const { signal, cwd, stdin, stdout, stderr } = context;
    const again = commandLineText(["query", "-"], PRINTED_OPTIONS, values);
    const sql = await readSql({ argument, file: values.file, again, cwd, stdin, signal });
    const inS3 =
      "query reads a warehouse on this computer. One in S3 is read with Athena, where the tables have the same names: run the SQL there, in the stack's workgroup and database.";
    const { store, views } = await openLocalWarehouse(values, context, inS3);
    const { directory } = views;
    const { queryRows, writeParquet } = await withDuckDB();
    const statusOf = (account: string): string =>
      commandLineText(["status", "--account", account], ["config", "warehouse"], values);
    let missing: readonly MissingUnit[] = [];
    const options: QueryOptions = {
      signal,
      onTables: async (accounts, tables) => {
        stderr.lines(await whyEmpty(store, accounts, tables, statusOf));
        missing = missingUnits(accounts, tables, context.given);
        for (const { message } of missing) stderr.message(`left out: ${message}`);
      },
      hint: (accounts, message) => hintFor(store, accounts, sql, message),
    };
    const exitCode = (): number => (missing.some((unit) => unit.is_head) ? EXIT.failed : EXIT.done);
    if (values.out === undefined) {
      if (form === "parquet")
        throw new SyncError("CONFIG_INVALID", "Parquet is not text: name a file with --out.");
      const width = values.full ? undefined : stdout.width;
      await queryRows(views, sql, options, (result) =>
        stdout.pieces(formatResult(form, { ...result, missing }, { width })),
      );
      return exitCode();
    }
    const { path, replaces, written } = await writeOutFile(
      resolve(cwd, values.out),
      { warehouse: directory, failure: "QUERY_FAILED" },
      (temporary, add) =>
        form === "parquet"
          ? writeParquet(views, sql, options, temporary)
          : queryRows(views, sql, options, (result) => addRows(add, { ...result, missing }, form)),
    );
    const before = replaces ? ", in place of the file before" : "";
    stderr.lines([`${plural(written, "row")} in ${path}${before}`]);
    return exitCode();
  },
});

const viewsCommand = command({
  name: "views",
  group: "Repair",
  summary:
    "write views.sql again after the warehouse was moved or copied; needs no address and no credentials",
  options: ["config", "warehouse", "json"],
  example: "views --warehouse ./warehouse",
  execute: async (values, context) => {
    const inS3 = `${VIEWS_FILE} belongs to a warehouse on this computer. The tables of one in S3 are in Athena.`;
    const { views } = await openLocalWarehouse(values, context, inS3);
    await views.refresh();
    const file = join(views.directory, VIEWS_FILE);
    if (values.json) context.stdout.json({ file });
    else context.stdout.lines([`${file} names the files where they lie now.`]);
    return EXIT.done;
  },
});

export const QUERIES: readonly CommandOfList[] = [queryCommand, viewsCommand];

type Form = PrintedForm | "parquet";

function formOf(values: Values): Form {
  const format = chosenFormat(values);
  if (values.json) return "line";
  if (format !== undefined) return format;
  const ending = extname(values.out ?? "").toLowerCase();
  const byEnding = BY_ENDING[ending];
  if (byEnding !== undefined) return byEnding;
  throw new SyncError(
    "CONFIG_INVALID",
    `--out: the ending ${ending} is none of ${Object.keys(BY_ENDING).filter(Boolean).join(", ")}. Choose one of them, or say with --format what to write: ${RESULT_FORMATS.join(", ")}.`,
  );
}

/** What the ending of a file's name says. */
const BY_ENDING: Readonly<Record<string, Form>> = {
  "": "table",
  ".txt": "table",
  ".csv": "csv",
  ".tsv": "tsv",
  ".json": "json",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".parquet": "parquet",
};

/** Returns the number of rows. */
async function addRows(
  add: (pieces: AsyncIterable<string>) => Promise<void>,
  { batches, ...result }: ResultRows,
  form: PrintedForm,
): Promise<number> {
  let count = 0;
  async function* counted(): ResultRows["batches"] {
    for await (const rows of batches) {
      count += rows.length;
      yield rows;
    }
  }
  await add(formatResult(form, { ...result, batches: counted() }, { lineEnd: "\r\n" }));
  return count;
}

/** DuckDB is an optional dependency, loaded for this command alone. */
async function withDuckDB(): Promise<typeof import("../query/query.ts")> {
  await import("@duckdb/node-api").catch((error: unknown) => {
    const code = codeOf(error);
    const install = `npm install --global @duckdb/node-api@${packageJson.optionalDependencies["@duckdb/node-api"]}`;
    throw new SyncError(
      "QUERY_FAILED",
      `query needs DuckDB, which cannot be loaded here${code ? ` (${code})` : ""}. Install it: ${install} (in a project without --global). No other command needs it.`,
      { cause: error },
    );
  });
  return await import("../query/query.ts");
}
