// Where readers find the data, and the views over the tables: what they are called, and which tables they read.

import type { ColumnType, LiftedColumn } from "../settings/lifted-column.ts";
import { TEXT_FORMS, TYPED_VIEW_NAMES } from "../snapshot/rows/lifted-column.ts";
import type { TableName } from "../storage/layout.ts";

export interface Catalog {
  /**
   * Brings the tables up to the account's publication log; an account that was removed leaves them. Idempotent: every
   * start calls it before it logs in, which completes a run that died between its commit and this call. Damage of another
   * account does not end it.
   * Throws `SyncError` `CATALOG_FAILED`, and `STORE_CORRUPT` where the account's log is damaged; performs no retries.
   * @param what `new`: only what the tables do not show yet is looked at, so that it costs the same however old the
   * warehouse is. Without it what is retired or lacks a file leaves the tables, and what is restored comes back.
   */
  refresh(account: string, what?: "new"): Promise<void>;

  /**
   * Where a deployment makes the tables: their columns, in order, without those that come from the path. Absent where
   * the tables have what `columns.json` says. Reads only; performs no retries.
   */
  columns?(): Promise<readonly string[]>;
}

export const VIEWS = {
  events_typed: ["events"],
  event_history: ["event_changes", "publications"],
} as const satisfies Record<string, readonly TableName[]>;

export type ViewName = keyof typeof VIEWS;

interface View {
  readonly name: ViewName;
  /** With the names and types that both engines have. */
  readonly columns: readonly { readonly name: string; readonly type: ColumnType | "INTEGER" }[];
  readonly query: string;
}

/** The statement that makes the view, in either dialect. */
export function createView({ name, query }: Pick<View, "name" | "query">): string {
  return `CREATE OR REPLACE VIEW ${name} AS ${query};\n`;
}

/** The tables behind these names, in lower case: a table stands for itself, and others for nothing. */
export function tablesBehind(names: ReadonlySet<string>): ReadonlySet<string> {
  const behind = Object.entries(VIEWS).flatMap(([view, tables]) => (names.has(view) ? tables : []));
  return new Set([...names, ...behind]);
}

/** Where DuckDB and Trino, on which Athena is based, say the same in different words. */
export interface Dialect {
  /** Whether a part of the text matches the pattern, which both read alike. */
  readonly matches: (text: string, pattern: string) => string;
  /** The type of an instant in milliseconds, without a time zone. */
  readonly timestamp: string;
  readonly minusMinutes: (timestamp: string, minutes: string) => string;
  /** The strings of an array of JSON as a list; null where the text is none. */
  readonly strings: (text: string) => string;
}

export const DUCKDB: Dialect = {
  matches: (text, pattern) => `regexp_matches(${text}, '${pattern}')`,
  timestamp: "TIMESTAMP",
  minusMinutes: (timestamp, minutes) => `${timestamp} - to_minutes(${minutes})`,
  strings: (text) => `TRY_CAST(TRY_CAST(${text} AS JSON) AS VARCHAR[])`,
};

export const TRINO: Dialect = {
  matches: (text, pattern) => `regexp_like(${text}, '${pattern}')`,
  timestamp: "TIMESTAMP(3)",
  minusMinutes: (timestamp, minutes) => `date_add('minute', -(${minutes}), ${timestamp})`,
  strings: (text) => `TRY(CAST(json_parse(${text}) AS ARRAY(VARCHAR)))`,
};

/** Larger ones become infinity. */
const MAX_DOUBLE = "1.7976931348623157E308";
/** There is no year 0, and the engines disagree about it. */
const FIRST_YEAR = "0001";

/** @param text a column, or another expression that is cheap to repeat */
export function typedValue(text: string, type: ColumnType, dialect: Dialect): string {
  const cast = (as: string): string => `TRY_CAST(${text} AS ${as})`;
  // `\z` is the end in both; `$` is also the place before a newline at the end.
  const isWritten = (as: keyof typeof TEXT_FORMS): string =>
    dialect.matches(text, String.raw`^${TEXT_FORMS[as]}\z`);
  const ifInstant = (value: string): string =>
    `CASE WHEN ${isWritten("TIMESTAMP")} AND ${text} >= '${FIRST_YEAR}' THEN ${value} END`;
  switch (type) {
    case "VARCHAR":
      return text;
    case "BIGINT":
    case "BOOLEAN":
      return `CASE WHEN ${isWritten(type)} THEN ${cast(type)} END`;
    case "VARCHAR[]":
      return `CASE WHEN ${isWritten(type)} THEN ${dialect.strings(text)} END`;
    case "DOUBLE":
      return `CASE WHEN ${isWritten(type)} THEN CASE WHEN abs(${cast(type)}) <= ${MAX_DOUBLE} THEN ${cast(type)} END END`;
    case "DATE":
      return ifInstant(`TRY_CAST(substr(${text}, 1, 10) AS DATE)`);
    case "TIMESTAMP": {
      const value = instant(text, dialect);
      // The zone can lead out of these years, and some readers fail on a column with such a value. Only the first and the
      // last day are reckoned twice.
      const isWithin = `${text} BETWEEN '0001-01-02' AND '9999-12-31' OR year(${value}) BETWEEN 1 AND 9999`;
      return ifInstant(`CASE WHEN ${isWithin} THEN ${value} END`);
    }
    default:
      return `CASE WHEN ${isWritten("DECIMAL")} THEN ${cast(type)} END`;
  }
}

/** In UTC; without a time zone it is taken as it is. Further digits of a second are cut off: Athena has three. */
function instant(text: string, dialect: Dialect): string {
  const part = (pattern: string): string => `regexp_extract(${text}, '${pattern}', 1)`;
  // DuckDB's part is empty where nothing matches, Trino's is null.
  const time = `coalesce(nullif(${part(String.raw`[T ]([0-9:]+(\.[0-9]{1,3})?)`)}, ''), '00:00')`;
  const local = `TRY_CAST(substr(${text}, 1, 10) || ' ' || ${time} AS ${dialect.timestamp})`;
  const whole = (pattern: string): string => `coalesce(TRY_CAST(${part(pattern)} AS BIGINT), 0)`;
  const hours = whole("[T ][0-9:.]+[+-]([0-9]{2})");
  const minutes = whole(String.raw`[T ][0-9:.]+[+-][0-9]{2}:?([0-9]{2})\z`);
  const sign = `CASE WHEN ${dialect.matches(text, "[T ][0-9:.]+-")} THEN -1 ELSE 1 END`;
  return dialect.minusMinutes(local, `(${hours} * 60 + ${minutes}) * ${sign}`);
}

/**
 * The events of `events` with values for texts, and how many texts are no value. Its query never fails, whatever the texts
 * are.
 * @param lifted without a type they are text
 */
export function eventsTyped(lifted: readonly Pick<LiftedColumn, "name" | "type">[], dialect: Dialect): View {
  const typed = [
    { name: "event_day", type: "DATE", from: "event_date" } as const,
    ...lifted
      .filter(({ name }) => !TYPED_VIEW_NAMES.has(name))
      .map(({ name, type = "VARCHAR" }) => ({ name, type, from: name })),
  ];
  // No column is named like these: their names have a space.
  const texts = typed.map(({ name, from }) => `    "${from}" AS "text of ${name}"`);
  const values = typed.map(
    ({ name, from, type }) => `    ${typedValue(`"${from}"`, type, dialect)} AS "${name}"`,
  );
  const misfits = typed
    .filter(({ type }) => type !== "VARCHAR")
    .map(({ name }) => `CASE WHEN "${name}" IS NULL AND "text of ${name}" IS NOT NULL THEN 1 ELSE 0 END`);
  const columns: View["columns"] = [
    { name: "account", type: "VARCHAR" },
    { name: "uuid", type: "VARCHAR" },
    ...typed.map(({ name, type }) => ({ name, type })),
    { name: "misfits", type: "INTEGER" },
    { name: "event", type: "VARCHAR" },
  ];
  const selected = columns.map(({ name }) =>
    name === "misfits" ? `  ${misfits.join("\n    + ")} AS "misfits"` : `  "${name}"`,
  );
  const query = `SELECT
${selected.join(",\n")}
FROM (
  SELECT
    "account",
    "uuid",
    "event",
${[...texts, ...values].join(",\n")}
  FROM events
) typed`;
  return { name: "events_typed", columns, query };
}

/**
 * The versions of each event, from the changes of all publications. The query is the same for both engines. The order is
 * that of the publications: clocks may differ.
 *
 * A restart is compared with nothing, or, in logs of an earlier version, with an older snapshot: its base. What the
 * publications after the base changed is undone by it without a change of its own. So there an event has what its newest
 * change up to the base says, of those that were not undone before; without one there is no such event.
 */
export const EVENT_HISTORY: View = {
  name: "event_history",
  columns: [
    { name: "account", type: "VARCHAR" },
    { name: "uuid", type: "VARCHAR" },
    { name: "valid_from", type: "VARCHAR" },
    { name: "valid_to", type: "VARCHAR" },
    { name: "is_deleted", type: "BOOLEAN" },
    { name: "publication_from", type: "VARCHAR" },
    { name: "event", type: "VARCHAR" },
  ],
  query: `WITH numbered AS (
  SELECT account, publication, published_at, snapshot_id, base_snapshot_id,
    lag(snapshot_id) OVER (PARTITION BY account ORDER BY publication) AS previous_snapshot_id
  FROM publications
),
undoing AS (
  SELECT p.account, p.publication, p.published_at, coalesce(max(b.publication), '') AS base
  FROM numbered p
  LEFT JOIN numbered b
    ON b.account = p.account AND b.publication < p.publication AND b.snapshot_id = p.base_snapshot_id
  WHERE p.previous_snapshot_id IS NOT NULL AND p.previous_snapshot_id IS DISTINCT FROM p.base_snapshot_id
  GROUP BY p.account, p.publication, p.published_at
),
effects AS (
  SELECT account, publication, publication AS effective, published_at, 0 AS undone FROM numbered
  UNION ALL
  SELECT n.account, n.publication, u.publication AS effective, u.published_at,
    CASE WHEN n.publication > u.base THEN 1 ELSE count(earlier.publication) END AS undone
  FROM numbered n
  JOIN undoing u ON u.account = n.account AND n.publication < u.publication
  LEFT JOIN undoing earlier
    ON earlier.account = n.account AND n.publication > earlier.base AND n.publication < earlier.publication
    AND earlier.publication <= u.base
  GROUP BY n.account, n.publication, u.publication, u.published_at, u.base
),
states AS (
  SELECT c.account, c.uuid, e.effective, e.published_at,
    CASE WHEN e.undone = 0 THEN c.after END AS event,
    row_number() OVER (
      PARTITION BY c.account, c.uuid, e.effective
      ORDER BY CASE WHEN e.undone = 0 THEN 0 ELSE 1 END, c.publication DESC
    ) AS place
  FROM event_changes c
  JOIN effects e ON e.account = c.account AND e.publication = c.publication
),
versions AS (
  SELECT account, uuid, effective, published_at, event,
    row_number() OVER (PARTITION BY account, uuid ORDER BY effective) AS number,
    lag(event) OVER (PARTITION BY account, uuid ORDER BY effective) AS earlier
  FROM states
  WHERE place = 1
)
SELECT account, uuid,
  published_at AS valid_from,
  lead(published_at) OVER (PARTITION BY account, uuid ORDER BY effective) AS valid_to,
  event IS NULL AS is_deleted,
  effective AS publication_from,
  event
FROM versions
WHERE number = 1 OR event IS DISTINCT FROM earlier`,
};
