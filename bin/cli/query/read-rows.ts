// The rows of a result while DuckDB makes them: every value as text, exact, in batches that fit into memory.

import {
  type DuckDBResult,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  type DuckDBVector,
} from "@duckdb/node-api";
import accessors from "@duckdb/node-api/lib/vectors/dataAccessors.js";
import type { ResultRow } from "../output/format-result.ts";

const BATCH_CHARACTERS = 1024 * 1024;

/** A vector keeps each text that was read from it: so many rows are read from a part of it, which is then let go. */
const PART_ROWS = 16;

/** The client's own drops a byte order mark at the beginning of each text, in a list too, and there is no option against it. */
const EXACT = { textDecoder: new TextDecoder("utf-8", { ignoreBOM: true }) };

/** Each batch has at most 2,048 rows, and one row more than `BATCH_CHARACTERS`. Throws what DuckDB says. */
export async function* resultBatches(
  result: DuckDBResult,
  signal: AbortSignal,
): AsyncGenerator<readonly ResultRow[]> {
  Object.assign(accessors, EXACT);
  for await (const chunk of result) {
    signal.throwIfAborted();
    const { rowCount } = chunk;
    const vectors = Array.from({ length: chunk.columnCount }, (_, column) => chunk.getColumnVector(column));
    let batch: ResultRow[] = [];
    let characters = 0;
    for (let from = 0; from < rowCount; from += PART_ROWS) {
      const length = Math.min(PART_ROWS, rowCount - from);
      const part = vectors.map((vector) => vector.slice(from, length));
      for (let index = 0; index < length; index++) {
        const row = part.map((vector) => textAt(vector, index));
        batch.push(row);
        characters += row.reduce((sum, text) => sum + (text?.length ?? 0), 0);
        if (characters < BATCH_CHARACTERS) continue;
        yield batch;
        signal.throwIfAborted();
        batch = [];
        characters = 0;
      }
    }
    if (batch.length > 0) yield batch;
  }
}

function textAt(vector: DuckDBVector, index: number): string | null {
  const value: DuckDBValue = vector.getItem(index);
  return value === null ? null : textOf(value, vector.type);
}

/** As DuckDB writes it, but for the strings in a list or struct, which are quoted. */
function textOf(value: Exclude<DuckDBValue, null>, { typeId }: DuckDBType): string {
  const text = String(value);
  // JavaScript drops what tells a whole number of a floating type from an integer.
  const isFloating = typeId === DuckDBTypeId.DOUBLE || typeId === DuckDBTypeId.FLOAT;
  return isFloating && /^-?\d+$/.test(text) ? `${text}.0` : text;
}
