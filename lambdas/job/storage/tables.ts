// The five tables (`docs/warehouse-format.md`): names, columns in order, types, partitions. Rows have this order too.

export interface Column {
  readonly name: string;
  readonly type: "string" | "bigint" | "double" | "boolean";
}

export interface Table {
  readonly columns: readonly Column[];
  /** Partition columns, strings all; they come from the path, not from the file. */
  readonly partitions: readonly string[];
}

const strings = (...names: readonly string[]): readonly Column[] =>
  names.map((name) => ({ name, type: "string" }));
const counts = (...names: readonly string[]): readonly Column[] =>
  names.map((name) => ({ name, type: "bigint" }));

const EVENT_COLUMNS = strings("uuid", "event_date", "scope", "event", "listing");

export const TABLES = {
  events: { columns: EVENT_COLUMNS, partitions: ["account"] },
  event_snapshots: { columns: EVENT_COLUMNS, partitions: ["account", "snapshot_id"] },
  event_changes: {
    columns: strings("uuid", "change", "fields", "before", "after"),
    partitions: ["account", "publication"],
  },
  publications: {
    columns: [
      ...strings("publication", "action", "snapshot_id", "base_snapshot_id", "published_at"),
      ...counts("events", "added", "changed", "removed"),
      ...strings("run_id"),
      { name: "pinned", type: "boolean" },
      ...strings("write_id"),
    ],
    partitions: ["account"],
  },
  sync_runs: {
    columns: [
      ...strings("run_id"),
      ...counts("attempt"),
      ...strings("trigger", "outcome", "snapshot_id"),
      ...counts("listed", "events", "added", "changed", "removed", "gone", "forbidden", "rejected"),
      ...counts("requests", "retries", "throttled", "logins", "bytes"),
      ...strings("started_at"),
      { name: "seconds", type: "double" },
      ...strings("reason", "error_code", "error_message", "version"),
      ...counts("repeated"),
    ],
    partitions: ["account"],
  },
} as const satisfies Record<string, Table>;

export type TableName = keyof typeof TABLES;
