// `columns`: the columns of one's own, of each account: where they come from, and in how many events they have a value.

import { resolve } from "node:path";
import { DUCKDB, typedValue } from "../../../lambdas/job/catalog/views/views.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { readColumns, type TableColumns } from "../../../lambdas/job/snapshot/rows/table-columns.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import { EXIT } from "../output/exit-code.ts";
import type { ResultRow } from "../output/format-result.ts";
import { formatTable } from "../output/format-result.ts";
import { verifyTables } from "../query/verify-tables.ts";
import type { CommandSpec } from "../wiring/command.ts";
import { openDirectory, refuseMissingWarehouse } from "../wiring/open-warehouse.ts";
import { needDuckDB } from "./query.ts";

const OPTIONS = ["config", "warehouse", "json"] as const;

export const columnsCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "columns",
  summary: "list the columns of your own: name, pointer, type, and in how many events they have a value",
  options: OPTIONS,
  example: "columns --warehouse ./warehouse",
  execute: async (values, { cwd, stdout, stderr, signal }) => {
    if (isS3(values.warehouse)) {
      throw new SyncError(
        "CONFIG_INVALID",
        "columns counts the values of a warehouse on this computer. For one in S3, query events_typed in Athena.",
      );
    }
    const { store, views } = openDirectory(resolve(cwd, values.warehouse), stderr);
    await refuseMissingWarehouse(store, values, cwd);
    const columns = await readColumns(store);
    await needDuckDB();
    const { query } = await import("../query/query.ts");
    const { directory } = views;
    const counted =
      columns.length === 0
        ? []
        : (
            await query(views, countsSql(columns), {
              signal,
              verify: (use) => verifyTables({ store, directory, signal, ...use }),
            })
          ).rows;
    const found = counted.flatMap((row) => columnsOf(row, columns));
    if (values.json) stdout.json({ columns: found });
    else if (found.length === 0)
      stdout.lines(["There are no columns of your own, or no events. discover suggests some."]);
    else
      stdout.text(
        formatTable({ columns: HEADER, rows: found.map((one) => HEADER.map((key) => text(one[key]))) }),
      );
    return EXIT.done;
  },
};

const HEADER = ["account", "name", "pointer", "type", "events", "filled", "misfits"] as const;

type Counted = Readonly<Record<(typeof HEADER)[number], string | number | null>>;

/** One row for each account: its name, its events, and of each column the texts and the misfits. */
function countsSql(columns: TableColumns): string {
  const counts = columns.flatMap(({ name, type = "VARCHAR" }) => [
    `count("${name}")`,
    `count(*) FILTER ("${name}" IS NOT NULL AND ${typedValue(`"${name}"`, type, DUCKDB)} IS NULL)`,
  ]);
  return `SELECT account, count(*), ${counts.join(", ")} FROM events GROUP BY account ORDER BY account`;
}

function columnsOf([account, events, ...counts]: ResultRow, columns: TableColumns): readonly Counted[] {
  return columns.map(({ name, type, pointers }, index) => ({
    account: account ?? null,
    name,
    pointer: pointers[account ?? ""] ?? null,
    type: type ?? "VARCHAR",
    events: Number(events),
    filled: Number(counts[2 * index]),
    misfits: Number(counts[2 * index + 1]),
  }));
}

const text = (value: string | number | null): string | null => (value === null ? null : String(value));
