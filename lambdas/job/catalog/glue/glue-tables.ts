// The tables and views as Glue holds them, with the names that CloudFormation's construct library has for their parts.

import type { ColumnType, LiftedColumn } from "../../settings/lifted-column.ts";
import { FOLDERS, TABLES, type TableName } from "../../storage/layout.ts";
import { EVENT_HISTORY, eventsTyped, TRINO } from "../catalog.ts";

/** The tables that have lifted columns, after their own. */
export const LIFTED_TABLES = ["events", "event_snapshots"] as const satisfies readonly TableName[];

const TABLE_FOLDERS: Readonly<Record<TableName, string>> = {
  events: FOLDERS.snapshots,
  event_snapshots: FOLDERS.snapshots,
  event_changes: FOLDERS.changes,
  publications: FOLDERS.publications,
  sync_runs: FOLDERS.runLogs,
};

/** `s3://bucket/prefix` of a warehouse, without a closing slash. `prefix` is `""` or ends in a slash. */
export function warehouseLocation(bucket: string, prefix: string): string {
  return `s3://${bucket}/${prefix}`.replace(/\/$/, "");
}

interface Column {
  readonly name: string;
  readonly type: string;
}

/**
 * External files of JSON lines, gzipped where a file's name says so; files that begin with `_` are skipped. No partition lies
 * where Hive would look for it below the table's location, so each names its own.
 */
export function glueTable(name: TableName, warehouse: string, lifted: readonly Pick<LiftedColumn, "name">[]) {
  const strings = (names: readonly string[]): Column[] =>
    names.map((each) => ({ name: each, type: "string" }));
  const isLifted = LIFTED_TABLES.some((table) => table === name);
  const own = TABLES[name].columns.map((column) => ({ name: column.name, type: column.type }));
  return {
    name,
    tableType: "EXTERNAL_TABLE",
    parameters: { EXTERNAL: "TRUE", classification: "json" },
    partitionKeys: strings(TABLES[name].partitions),
    storageDescriptor: {
      columns: [...own, ...(isLifted ? strings(lifted.map((column) => column.name)) : [])],
      location: `${warehouse}/${TABLE_FOLDERS[name]}`,
      inputFormat: "org.apache.hadoop.mapred.TextInputFormat",
      outputFormat: "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
      // AWS documents row counts of the OpenX one as non-deterministic.
      serdeInfo: {
        serializationLibrary: "org.apache.hive.hcatalog.data.JsonSerDe",
        parameters: { "serialization.format": "1" },
      },
    },
  };
}

/** What Athena calls Glue's catalog of the account. Names in the views' SQL are looked up there. */
const CATALOG = "awsdatacatalog";

/**
 * Over the tables of this database: a definition in Base64 that Athena and Trino read, and the columns that others see. They
 * have no description: Trino takes it for the comment, and asks for the comment `Presto View` exactly.
 */
export function glueViews(database: string, lifted: readonly LiftedColumn[]) {
  return [eventsTyped(lifted, TRINO), EVENT_HISTORY].map(({ name, columns, query }) => {
    const definition = {
      originalSql: query,
      catalog: CATALOG,
      schema: database,
      columns: columns.map((column) => ({ name: column.name, type: trinoType(column.type) })),
      // As Athena reads every view. Without it Trino asks for an owner with whose permissions it reads.
      runAsInvoker: true,
    };
    return {
      name,
      tableType: "VIRTUAL_VIEW",
      parameters: { presto_view: "true", comment: "Presto View" },
      viewOriginalText: `/* Presto View: ${Buffer.from(JSON.stringify(definition)).toString("base64")} */`,
      viewExpandedText: "/* Presto View */",
      storageDescriptor: {
        columns: columns.map((column) => ({ name: column.name, type: hiveType(column.type) })),
        location: "",
        // No file is read with it, but Trino wants one to be there.
        serdeInfo: { serializationLibrary: "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe" },
      },
    };
  });
}

type ViewType = ColumnType | "INTEGER";

function trinoType(type: ViewType): string {
  if (type === "VARCHAR[]") return "array(varchar)";
  return type === "TIMESTAMP" ? "timestamp(3)" : type.toLowerCase();
}

function hiveType(type: ViewType): string {
  if (type === "VARCHAR") return "string";
  if (type === "VARCHAR[]") return "array<string>";
  return type === "INTEGER" ? "int" : type.toLowerCase();
}
