// Where DuckDB and Trino, on which Athena is based, say the same in different words.

export interface Dialect {
  /** Whether a part of the text matches the pattern, which both read alike. */
  readonly matches: (text: string, pattern: string) => string;
  /** The type of an instant in milliseconds, without a time zone. */
  readonly timestamp: string;
  readonly minusMinutes: (timestamp: string, minutes: string) => string;
}

export const DUCKDB: Dialect = {
  matches: (text, pattern) => `regexp_matches(${text}, '${pattern}')`,
  timestamp: "TIMESTAMP",
  minusMinutes: (timestamp, minutes) => `${timestamp} - to_minutes(${minutes})`,
};

export const TRINO: Dialect = {
  matches: (text, pattern) => `regexp_like(${text}, '${pattern}')`,
  timestamp: "TIMESTAMP(3)",
  minusMinutes: (timestamp, minutes) => `date_add('minute', -(${minutes}), ${timestamp})`,
};
