// A text as a value of a type, in SQL: null for every text that does not fit, never an error. The engines convert
// different texts, so each type names the texts that both convert alike, and only those are converted.

import { type ColumnType, DAY_FORM, TIME_FORM, ZONE_FORM } from "../../snapshot/rows/column-type.ts";
import type { Dialect } from "./dialect.ts";

// `\z` is the end in both; `$` is also the place before a newline at the end.
const WHOLE = String.raw`^-?[0-9]{1,19}\z`;
/** Without an exponent: DuckDB rounds one wrongly, and Trino would write all digits of 1e999999999. */
const FIXED = String.raw`^-?[0-9]+(\.[0-9]+)?\z`;
const FLOATING = String.raw`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\z`;
const TRUTH = String.raw`^([tT]([rR][uU][eE])?|[fF]([aA][lL][sS][eE])?|[01])\z`;
/** A day, alone or at the beginning of an instant. */
const DAY = String.raw`^${DAY_FORM}([^0-9]|\z)`;
const INSTANT = String.raw`^${DAY_FORM}([T ]${TIME_FORM}${ZONE_FORM}?)?\z`;

/** Larger ones become infinity. */
const MAX_DOUBLE = "1.7976931348623157E308";
/** There is no year 0, and the engines disagree about it. */
const FIRST_YEAR = "0001";

/** @param text a column, or another expression that is cheap to repeat */
export function typedValue(text: string, type: ColumnType, dialect: Dialect): string {
  const cast = (as: string): string => `TRY_CAST(${text} AS ${as})`;
  const ifMatches = (pattern: string, value: string): string =>
    `CASE WHEN ${dialect.matches(text, pattern)} THEN ${value} END`;
  switch (type) {
    case "VARCHAR":
      return text;
    case "BIGINT":
      return ifMatches(WHOLE, cast(type));
    case "BOOLEAN":
      return ifMatches(TRUTH, cast(type));
    case "DOUBLE":
      return ifMatches(FLOATING, `CASE WHEN abs(${cast(type)}) <= ${MAX_DOUBLE} THEN ${cast(type)} END`);
    case "DATE":
      return `CASE WHEN ${dialect.matches(text, DAY)} AND ${text} >= '${FIRST_YEAR}' THEN TRY_CAST(substr(${text}, 1, 10) AS DATE) END`;
    case "TIMESTAMP":
      return `CASE WHEN ${dialect.matches(text, INSTANT)} AND ${text} >= '${FIRST_YEAR}' THEN ${instant(text, dialect)} END`;
    default:
      return ifMatches(FIXED, cast(type));
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
