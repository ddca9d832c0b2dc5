// `query`: SQL on the local warehouse, with the table names that Athena has.

import { resolve } from "node:path";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { isS3 } from "../options/s3-location.ts";
import { EXIT } from "../output/exit-code.ts";
import { formatTable } from "../output/table.ts";
import { verifyTables } from "../query/verify-tables.ts";
import { openDirectory } from "../wiring/open-warehouse.ts";
import { refuseMissingWarehouse } from "../wiring/refuse-missing-warehouse.ts";
import type { CommandSpec } from "./command.ts";

const OPTIONS = ["warehouse", "json"] as const;

export const queryCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "query",
  summary: "run SQL on the warehouse: events, event_snapshots, event_changes, publications, sync_runs",
  argument: {
    name: "sql",
    description: "one statement in DuckDB's SQL that only reads; json_extract_scalar is defined as in Athena",
  },
  options: OPTIONS,
  example: `query "SELECT uuid, event_date FROM events LIMIT 5"`,
  execute: async (values, context, sql) => {
    if (isS3(values.warehouse)) {
      throw new SyncError(
        "CONFIG_INVALID",
        "query reads a warehouse on this computer. One in S3 is read with Athena, where the tables have the same names: run the SQL there, in the stack's workgroup and database.",
      );
    }
    const { store, views } = openDirectory(resolve(context.cwd, values.warehouse));
    const { directory } = views;
    await refuseMissingWarehouse(store, directory);
    const { signal } = context;
    const { query } = await import("../query/query.ts"); // DuckDB loads for this command alone
    const result = await query(views, sql, {
      signal,
      verify: (use) => verifyTables({ store, directory, signal, ...use }),
    });
    if (values.json) context.stdout.json(result);
    else context.stdout.text(formatTable(result));
    return EXIT.done;
  },
};
