// How Glue describes a table and its partitions: one description for the template and for the catalog.

import { FOLDERS, layout, TABLES, type TableName } from "../../storage/layout.ts";

/** A storage descriptor with the names that CloudFormation's construct library has for its parts. */
export interface GlueStorage {
  readonly columns: { readonly name: string; readonly type: string }[];
  readonly location: string;
  readonly inputFormat: string;
  readonly outputFormat: string;
  readonly serdeInfo: {
    readonly serializationLibrary: string;
    readonly parameters: Readonly<Record<string, string>>;
  };
}

/** The tables that have lifted columns, after their own. */
export const LIFTED_TABLES = ["events", "event_snapshots"] as const satisfies readonly TableName[];

/** The folder of the one partition that an account has in each table of single lines. */
export const LINE_FOLDERS = {
  publications: (account) => layout(account).publications,
  sync_runs: (account) => layout(account).runLogs,
} as const satisfies Partial<Record<TableName, (account: string) => string>>;

export type LineTable = keyof typeof LINE_FOLDERS;

/** Of every table: external files of JSON lines. */
export const TABLE_TYPE = "EXTERNAL_TABLE";
export const TABLE_PARAMETERS = { EXTERNAL: "TRUE", classification: "json" } as const;

/** `s3://bucket/prefix` of a warehouse, without a closing slash. `prefix` is `""` or ends in a slash. */
export function warehouseLocation(bucket: string, prefix: string): string {
  return `s3://${bucket}/${prefix}`.replace(/\/$/, "");
}

/** The columns of a table, without its partitions; `lifted` names count for the tables that have such columns. */
function glueColumns(table: TableName, lifted: readonly string[] = []): GlueStorage["columns"] {
  const own = TABLES[table].columns.map(({ name, type }) => ({ name, type }));
  const isLifted = LIFTED_TABLES.some((name) => name === table);
  return isLifted ? [...own, ...lifted.map((name) => ({ name, type: "string" }))] : own;
}

/** Of the table itself. No partition lies where Hive would look for it below this, so each names its own location. */
export function tableStorage(
  table: TableName,
  warehouse: string,
  lifted: readonly string[] = [],
): GlueStorage {
  return storageAt(`${warehouse}/${TABLE_FOLDERS[table]}`, glueColumns(table, lifted));
}

/** JSON lines below `location`, gzipped where a file's name says so. Files that begin with `_` are skipped. */
export function storageAt(location: string, columns: GlueStorage["columns"]): GlueStorage {
  return {
    columns,
    location,
    inputFormat: "org.apache.hadoop.mapred.TextInputFormat",
    outputFormat: "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
    // AWS documents row counts of the OpenX one as non-deterministic.
    serdeInfo: {
      serializationLibrary: "org.apache.hive.hcatalog.data.JsonSerDe",
      parameters: { "serialization.format": "1" },
    },
  };
}

const TABLE_FOLDERS: Readonly<Record<TableName, string>> = {
  events: FOLDERS.snapshots,
  event_snapshots: FOLDERS.snapshots,
  event_changes: FOLDERS.changes,
  publications: FOLDERS.publications,
  sync_runs: FOLDERS.runLogs,
};
