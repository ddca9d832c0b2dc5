// A value of DuckDB as text.

import { type DuckDBType, DuckDBTypeId, type DuckDBValue } from "@duckdb/node-api";

/**
 * As DuckDB writes it, but for the strings in a list or struct, which are quoted, and for a byte order mark
 * at the very beginning of a string, which DuckDB's client drops.
 */
export function valueText(value: DuckDBValue, type: DuckDBType): string | null {
  if (value === null) return null;
  const text = String(value);
  // JavaScript drops what tells a whole number of a floating type from an integer.
  const isFloating = type.typeId === DuckDBTypeId.DOUBLE || type.typeId === DuckDBTypeId.FLOAT;
  return isFloating && /^-?\d+$/.test(text) ? `${text}.0` : text;
}
