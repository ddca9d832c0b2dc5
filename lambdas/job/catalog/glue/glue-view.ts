// The views as Glue holds them: a definition in Base64 that Athena and Trino read, and the columns that others see.
// They have no description: Trino takes it for the comment, and asks for the comment `Presto View` exactly.

import type { LiftedColumn } from "../../snapshot/rows/lifted-column.ts";
import {
  EVENT_HISTORY_COLUMNS,
  EVENT_HISTORY_SQL,
  eventsTypedColumns,
  eventsTypedSql,
  TRINO,
  type ViewColumn,
  type ViewName,
} from "../views/views.ts";

/** A table's input with the names that CloudFormation's construct library has for its parts. */
interface GlueView {
  readonly name: ViewName;
  readonly tableType: "VIRTUAL_VIEW";
  readonly parameters: Readonly<Record<string, string>>;
  readonly viewOriginalText: string;
  readonly viewExpandedText: string;
  readonly storageDescriptor: {
    readonly columns: { readonly name: string; readonly type: string }[];
    readonly location: string;
    readonly serdeInfo: { readonly serializationLibrary: string };
  };
}

/** What Athena calls Glue's catalog of the account. Names in the views' SQL are looked up there. */
const CATALOG = "awsdatacatalog";

/** Over the tables of this database with these lifted columns; without a type they are text. */
export function glueViews(database: string, lifted: readonly LiftedColumn[]): readonly GlueView[] {
  const typed = lifted.map(({ name, type = "VARCHAR" }) => ({ name, type }));
  return [
    glueView("events_typed", database, eventsTypedColumns(typed), eventsTypedSql(typed, TRINO)),
    glueView("event_history", database, EVENT_HISTORY_COLUMNS, EVENT_HISTORY_SQL),
  ];
}

function glueView(
  name: ViewName,
  database: string,
  columns: readonly ViewColumn[],
  originalSql: string,
): GlueView {
  const definition = {
    originalSql,
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
}

function trinoType(type: ViewColumn["type"]): string {
  return type === "TIMESTAMP" ? "timestamp(3)" : type.toLowerCase();
}

function hiveType(type: ViewColumn["type"]): string {
  if (type === "VARCHAR") return "string";
  return type === "INTEGER" ? "int" : type.toLowerCase();
}
