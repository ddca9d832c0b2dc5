// The five tables as SQL for DuckDB: views over the files of a warehouse, by absolute path; and the views over these.
// Which units each table shows, the publication logs say.

import { join, sep } from "node:path";
import type { SyncError } from "../../errors/sync-error.ts";
import type { LiftedColumn } from "../../settings/lifted-column.ts";
import { type DamagedUnit, describeUnit, folderOf, type Unit } from "../../snapshot/files/units.ts";
import { MAX_ROW_BYTES } from "../../snapshot/rows/row.ts";
import { FOLDERS, KEYS_IN, TABLES, type TableName } from "../../storage/layout.ts";
import { hasChanges, type PublishedUnits } from "../../storage/publication.ts";
import { createView, DUCKDB, EVENT_HISTORY, eventsTyped } from "../catalog.ts";

/** Tables of units; the others show lines as they come. */
export const UNIT_TABLES = ["events", "event_snapshots", "event_changes"] as const;

type UnitTable = (typeof UNIT_TABLES)[number];

export interface AccountLog {
  readonly account: string;
  /** The publications that count, oldest first. */
  readonly log: readonly PublishedUnits[];
  /** The number of the removal below that, if there is one. */
  readonly removal: string | undefined;
  /** The newest publication of each snapshot that `event_snapshots` shows. */
  readonly kept: readonly PublishedUnits[];
  /** Units that lack a file, so that no table shows them. */
  readonly incomplete: readonly DamagedUnit[];
  /** Why the account cannot be read. What is said here is then what `views.sql` said before. */
  readonly damage: SyncError | undefined;
}

/** What the table shows of the account where nothing is damaged, each unit once. */
export function unitsOf(table: UnitTable, { account, log, kept }: AccountLog): readonly Unit[] {
  if (table === "event_changes") {
    return log.filter(hasChanges).map((publication) => ({ account, holds: "changes", publication }));
  }
  const shown = table === "events" ? log.slice(-1) : kept;
  // A snapshot without events has no parts.
  return shown
    .filter(({ events }) => events > 0)
    .map((publication) => ({ account, holds: "snapshot", publication }));
}

interface WarehouseFiles {
  /** Absolute, without a closing slash. */
  readonly directory: string;
  readonly accounts: readonly AccountLog[];
  /** The lifted ones, in order; where a snapshot has fewer, the rest is null. Without a type they are text. */
  readonly columns: readonly Pick<LiftedColumn, "name" | "type">[];
  /** Whether there is any run log, of whatever account. */
  readonly hasRunLogs: boolean;
  /** The tables that have rows; all where it is absent. */
  readonly tables?: ReadonlySet<string> | undefined;
}

/** The files of the publications and the run logs, and others. */
const LINES = "*/*/*.ndjson";

const TYPES = { string: "VARCHAR", bigint: "BIGINT", double: "DOUBLE", boolean: "BOOLEAN" } as const;

/** On the account and the name of a file, both as SQL. */
type Condition = (account: string, name: string) => string | undefined;

/** The files of a table. */
interface Source {
  readonly directory: string;
  /** Below the directory; each matches a file, because DuckDB refuses one that does not. None: an empty table. */
  readonly patterns: readonly string[];
  readonly compression: "gzip" | "uncompressed";
  /** Where in a file's path each partition column stands, from the end. */
  readonly partitions: Readonly<Record<string, number>>;
  /** Only files whose key looks so, as a regular expression, and that meet the condition. */
  readonly keys?: string;
  readonly condition?: Condition;
  /** Strings that come after the table's own columns, before the partitions. */
  readonly lifted?: readonly string[];
}

/** Reads nothing: the same publications give the same text. */
export function viewsSql(files: WarehouseFiles): string {
  const { directory, accounts, columns, hasRunLogs, tables } = files;
  const isRead = (table: TableName): boolean => tables?.has(table) ?? true;
  const absent = new Set(accounts.flatMap(({ incomplete }) => incomplete.map(folderOf)));
  const patternsOf = (table: UnitTable): readonly string[] =>
    (isRead(table) ? accounts : [])
      .flatMap((account) => unitsOf(table, account).map(folderOf))
      .filter((folder) => !absent.has(folder))
      .map((folder) => `${folder}part-${"[0-9]".repeat(5)}.ndjson.gz`);
  const gzip = { directory, compression: "gzip" } as const;
  const rows = { ...gzip, lifted: columns.map(({ name }) => name) };
  // One pattern for publications and run logs, so that the view of the run logs, made after a publication,
  // finds a file before the first run log is written.
  const lines = {
    directory,
    patterns: accounts.length > 0 || hasRunLogs ? [LINES] : [],
    compression: "uncompressed",
    partitions: { account: -2 },
  } as const;
  return [
    "-- The tables of this warehouse for DuckDB 1.3 or newer. Moved or copied? brand-events-sync views --warehouse <this folder>",
    "-- From anywhere: .read <warehouse>/views.sql. Replaced whole after each publication, so change nothing here.",
    ...damageLines(files),
    FUNCTIONS,
    table("events", { ...rows, patterns: patternsOf("events"), partitions: { account: -3 } }),
    table("event_snapshots", {
      ...rows,
      patterns: patternsOf("event_snapshots"),
      partitions: { account: -3, snapshot_id: -2 },
    }),
    table("event_changes", {
      ...gzip,
      patterns: patternsOf("event_changes"),
      partitions: { account: -4, publication: -3 },
    }),
    publicationsTable(isRead("publications") ? lines : { ...lines, patterns: [] }, files),
    table("sync_runs", {
      ...(isRead("sync_runs") ? lines : { ...lines, patterns: [] }),
      keys: KEYS_IN.runLogs,
      condition: notOf(refusedOf(files, FOLDERS.runLogs)),
    }),
    createView(eventsTyped(columns, DUCKDB)),
    createView(EVENT_HISTORY),
  ].join("\n");
}

/** The publications that the other tables know, and none that came later: a consumer that joins them misses none. */
function publicationsTable(lines: Source, files: WarehouseFiles): string {
  const refused = refusedOf(files, FOLDERS.publications);
  const known = files.accounts.filter(({ account, log }) => log.length > 0 && !refused.includes(account));
  const condition: Condition = (of, name) => {
    const whens = known.map(({ account, log }) => {
      const names = [log[0], log.at(-1)].map((each) => literal(`${each?.publication}.ndjson`));
      return `    WHEN ${literal(account)} THEN ${name} BETWEEN ${names.join(" AND ")}`;
    });
    return `CASE ${of}\n${whens.join("\n")}\n  END`;
  };
  const patterns = known.length > 0 ? lines.patterns : [];
  return table("publications", { ...lines, patterns, keys: KEYS_IN.publications, condition });
}

function notOf(accounts: readonly string[]): Condition {
  return (account) =>
    accounts.length > 0 ? `${account} NOT IN (${accounts.map(literal).join(", ")})` : undefined;
}

/** The accounts of which the store refuses a file in the folder: the pattern would follow a link, and find others by it. */
function refusedOf({ directory, accounts }: WarehouseFiles, folder: string): readonly string[] {
  const path = join(directory, folder);
  return accounts.flatMap(({ account, damage }) =>
    String(damage?.fields["path"]).startsWith(path) ? [account] : [],
  );
}

/** Comments that name what is not in the tables, and what is not of today. */
function damageLines({ accounts }: WarehouseFiles): readonly string[] {
  const damaged = accounts.flatMap(({ account, log, damage }) => {
    if (damage === undefined) return [];
    const shown = log.length === 0 ? "it is in no table of events" : "its tables stay as they were";
    return [`NOT READ: the account ${account}; ${shown}. ${damage.message}`];
  });
  const absent = accounts
    .flatMap(({ incomplete }) => incomplete)
    .map((unit) => `LEFT OUT: ${describeUnit(unit)}. ${unit.damage.message}`);
  // A key may hold the end of a line.
  return [...damaged, ...absent].map((text) => `-- ${text.replaceAll(/[\p{Cc}\s]+/gu, " ")}`);
}

function table(name: TableName, source: Source): string {
  const lifted = (source.lifted ?? []).map((name) => ({ name, type: TYPES.string }));
  const columns = [
    ...TABLES[name].columns.map((column) => ({ name: column.name, type: TYPES[column.type] })),
    ...lifted,
  ];
  const partitions = Object.entries(source.partitions);
  // DuckDB leaves files unopened only by a column of this name, which a lifted one may have already.
  const file = columns.some(({ name }) => name === "filename") ? "its file" : "filename";
  if (source.patterns.length === 0) {
    const nothing = [
      ...columns.map(({ name, type }) => `  NULL::${type} AS "${name}"`),
      ...partitions.map(([name]) => `  NULL::VARCHAR AS "${name}"`),
    ];
    return `CREATE OR REPLACE VIEW ${name} AS SELECT\n${nothing.join(",\n")}\nWHERE false;\n`;
  }
  const selected = [
    ...columns.map(({ name }) => `  "${name}"`),
    ...partitions.map(([name, at]) => `  parse_path("${file}")[${at}] AS "${name}"`),
  ];
  const directory = patternOf(source.directory);
  const files = source.patterns.map((pattern) => `  ${literal(`${directory}/${pattern}`)}`);
  const types = columns.map(({ name, type }) => `'${name}': '${type}'`);
  // DuckDB opens only the files whose name meets the conditions, those of a query on the view too.
  const { keys, condition } = source;
  const at = (place: string): string => `parse_path("${file}")[${place}]`;
  const isKey = keys && `regexp_full_match(array_to_string(${at("-3:")}, '/'), ${literal(keys)})`;
  const conditions = [isKey, condition?.(at("-2"), at("-1"))].filter(Boolean);
  const where = conditions.length > 0 ? `\nWHERE ${conditions.join("\n  AND ")}` : "";
  return `CREATE OR REPLACE VIEW ${name} AS SELECT
${selected.join(",\n")}
FROM read_json([
${files.join(",\n")}
], format = 'newline_delimited', compression = '${source.compression}', columns = {${types.join(", ")}},
  maximum_object_size = ${MAX_ROW_BYTES},${keys ? " ignore_errors = true," : ""} filename = '${file}', hive_partitioning = false)${where};
`;
}

/** The pattern of the publications and the run logs. */
export const linesIn = (directory: string): string => `${patternOf(directory)}/${LINES}`;

const patternOf = (directory: string): string => escapePattern(directory.replaceAll(sep, "/"));

/**
 * `well_formed`: the JSON text as DuckDB's functions read it, null for what is no JSON. DuckDB reads none with an unpaired
 * escaped surrogate, which the service may send: only there, all escaped surrogates become U+FFFD. CASE and not TRY: the
 * optimizer moves an expression that occurs twice out of a TRY, where it fails after all.
 * `json_extract_scalar`, as in Athena: the text of the scalar at the path, null for anything else. Brackets around a key
 * are Athena's way to write it, quotes DuckDB's.
 * `json_format`: the text of a JSON value, such as `json_extract` returns. `from_iso8601_timestamp`: the instant in a text.
 */
const FUNCTIONS = String.raw`CREATE OR REPLACE MACRO _without_surrogates(json_text) AS
  regexp_replace(json_text, '\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\\ufffd', 'g');
CREATE OR REPLACE MACRO well_formed(json_text) AS
  CASE WHEN json_valid(json_text) THEN json_text
  WHEN json_valid(_without_surrogates(json_text)) THEN _without_surrogates(json_text) END;
CREATE OR REPLACE MACRO _scalar_at(json_text, json_path) AS
  CASE WHEN json_type(json_text, json_path) IN ('OBJECT', 'ARRAY') THEN NULL
  ELSE json_extract_string(json_text, json_path) END;
CREATE OR REPLACE MACRO _quoted_keys(json_path) AS regexp_replace(json_path, '\["([^"]*)"\]', '."\1"', 'g');
CREATE OR REPLACE MACRO json_extract_scalar(json_text, json_path) AS
  _scalar_at(well_formed(json_text), _quoted_keys(json_path));
CREATE OR REPLACE MACRO json_format(json_value) AS CAST(json_value AS VARCHAR);
CREATE OR REPLACE MACRO from_iso8601_timestamp(instant) AS CAST(instant AS TIMESTAMPTZ);
`;

/** How texts are written in DuckDB's SQL. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** In a pattern of DuckDB a bracket expression is the only way to write a special character itself. */
export const escapePattern = (path: string): string => path.replaceAll(/[[*?]/g, (special) => `[${special}]`);
