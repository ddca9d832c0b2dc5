// `query`: SQL on the local warehouse, with the table names that Athena has.

import { resolve } from "node:path";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import { columnsAndRows } from "../formats/columns-and-rows.ts";
import { formatResult } from "../formats/format-result.ts";
import type { ResultRows } from "../formats/result-rows.ts";
import type { OptionValues } from "../options/options.ts";
import { formatOfFile } from "../options/result-format.ts";
import { EXIT } from "../output/exit-code.ts";
import { plural } from "../output/progress-text.ts";
import { OutFile } from "../query/out-file.ts";
import { readSql } from "../query/read-sql.ts";
import { verifyTables } from "../query/verify-tables.ts";
import type { CommandContext } from "../wiring/command-context.ts";
import { openDirectory } from "../wiring/open-warehouse.ts";
import { refuseMissingWarehouse } from "../wiring/refuse-missing-warehouse.ts";
import type { CommandSpec } from "./command.ts";

const OPTIONS = ["config", "warehouse", "file", "format", "out", "full", "json"] as const;

type Values = OptionValues<(typeof OPTIONS)[number]>;

export const queryCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "query",
  summary: "run SQL on the warehouse: events, event_snapshots, event_changes, publications, sync_runs",
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
    if (values.json && values.format !== undefined) {
      throw new SyncError(
        "CONFIG_INVALID",
        `--json and --format ${values.format} are two forms of the result. Leave one of them out.`,
      );
    }
    const { signal, cwd, stdin } = context;
    const sql = await readSql({ argument, file: values.file, cwd, stdin, signal });
    const { store, views } = openDirectory(resolve(cwd, values.warehouse));
    const { directory } = views;
    await refuseMissingWarehouse(store, directory);
    const { queryRows } = await import("../query/query.ts"); // DuckDB loads for this command alone
    const verify = { store, directory, signal };
    await deliver(values, context, directory, (use) =>
      queryRows(views, sql, { signal, verify: (tables) => verifyTables({ ...verify, ...tables }) }, use),
    );
    return EXIT.done;
  },
};

type Query = (use: (result: ResultRows) => Promise<void>) => Promise<void>;

async function deliver(
  values: Values,
  { stdout, stderr, cwd }: CommandContext,
  warehouse: string,
  query: Query,
): Promise<void> {
  if (values.out === undefined) {
    await query(async (result) => {
      for await (const piece of piecesOf(result, values, stdout.width)) {
        if (!(await stdout.piece(piece))) return;
      }
    });
    return;
  }
  const file = await OutFile.in(resolve(cwd, values.out), warehouse);
  let rows = 0;
  try {
    await query((result) => {
      const counted = countRows(result, (count) => {
        rows += count;
      });
      return file.fill(piecesOf(counted, values));
    });
    await file.keep();
  } finally {
    await file.discard();
  }
  stderr.lines([
    `${plural(rows, "row")} in ${file.path}${file.replaces ? ", in place of the file before" : ""}`,
  ]);
}

function piecesOf(
  result: ResultRows,
  { json, format, out = "", full }: Values,
  width?: number,
): AsyncGenerator<string> {
  if (json) return columnsAndRows(result);
  return formatResult(format ?? formatOfFile(out) ?? "table", result, { width: full ? undefined : width });
}

function countRows({ columns, batches }: ResultRows, count: (rows: number) => void): ResultRows {
  async function* counted(): ResultRows["batches"] {
    for await (const rows of batches) {
      count(rows.length);
      yield rows;
    }
  }
  return { columns, batches: counted() };
}
