// `query`: SQL on the local warehouse, with the table names that Athena has.

import { type CommandSpec, printJson } from "./command.ts";
import { openWarehouse } from "./compose.ts";
import { EXIT } from "./exit-code.ts";
import { query } from "./query.ts";
import { formatTable } from "./table.ts";

const OPTIONS = ["warehouse", "json"] as const;

export const queryCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "query",
  summary: "run SQL on the warehouse: events, event_snapshots, event_changes, publications, sync_runs",
  argument: {
    name: "sql",
    description: "one statement in DuckDB's SQL; json_extract_scalar is defined as in Athena",
  },
  options: OPTIONS,
  example: `npm run sync -- query "SELECT uuid, event_date FROM events LIMIT 5"`,
  execute: async (values, output, sql) => {
    const result = await query(openWarehouse(values.warehouse).views, sql);
    if (values.json) printJson(output, result);
    else output.stdout.write(formatTable(result));
    return EXIT.done;
  },
};
