// A text becomes the same value, or none, in both dialects, and never an error. DuckDB runs both: the words of Trino
// that it lacks are defined as macros.

import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Dialect, DUCKDB, TRINO, typedValue } from "../../../../lambdas/job/catalog/catalog.ts";
import type { ColumnType } from "../../../../lambdas/job/settings/lifted-column.ts";
import { fitsType } from "../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { anyText } from "../../json/any-text.ts";
import { HOSTILE_VALUES, TRINO_WORDS, type Value, valueIn, withDuckDBTypes } from "./text-values.ts";

const TYPES: readonly ColumnType[] = [
  ...(["BIGINT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "VARCHAR[]"] as const),
  ...(["DECIMAL(18,2)", "DECIMAL(38,10)", "DECIMAL(4,2)", "DECIMAL(38,0)", "DECIMAL(3,3)"] as const),
];

const DIALECTS: readonly (readonly [string, Dialect])[] = [
  ["DuckDB", DUCKDB],
  ["Trino", TRINO],
];

/** As `valueIn` has them. */
function shown(value: string, type: ColumnType): string {
  if (type === "TIMESTAMP") return `epoch_ms(${value})`;
  if (type === "VARCHAR[]") return `CAST(to_json(${value}) AS VARCHAR)`;
  return type === "DOUBLE" || type === "BOOLEAN" ? value : `CAST(${value} AS VARCHAR)`;
}

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run(TRINO_WORDS);
});

async function valuesIn(dialect: Dialect, texts: readonly string[]): Promise<readonly (readonly Value[])[]> {
  const columns = TYPES.map((type) => shown(withDuckDBTypes(typedValue("text", type, dialect)), type));
  const read = await connection.runAndReadAll(
    `SELECT ${columns.join(", ")} FROM (SELECT unnest(from_json($1, '["VARCHAR"]')) AS text)`,
    [JSON.stringify(texts)],
  );
  return read.getRowsJS().map((row) => row.map((value, index) => canonical(value, TYPES[index])));
}

function canonical(value: unknown, type: ColumnType | undefined): Value {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number") return value === 0 ? 0 : value;
  if (type === "VARCHAR[]") return JSON.stringify(JSON.parse(String(value)));
  // DuckDB shows a decimal without digits before the point as it is stored.
  return type?.startsWith("DECIMAL") ? String(value).replace(/^(-?)\./, "$10.") : String(value);
}

const expected = (text: string): readonly Value[] =>
  TYPES.map((type) => {
    const value = valueIn(text, type);
    return value === 0 ? 0 : value;
  });

const number = fc.stringMatching(/^-?[0-9]{0,40}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?$/);
const date = fc.stringMatching(
  /^[0-9]{4}-(0[0-9]|1[0-3])-[0-3][0-9]([T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,9})?)?(Z|[+-][01][0-9]:?[0-5][0-9])?)?.?$/,
);
const array = fc
  .array(fc.oneof({ weight: 4, arbitrary: anyText }, fc.constantFrom(null, 1, "\u2028")))
  .map((items) => JSON.stringify(items));
const text = fc.oneof(
  number,
  date,
  array,
  fc.string({ maxLength: 8, unit: "grapheme" }),
  fc.constantFrom(...HOSTILE_VALUES),
);

it.each(TYPES.filter((type) => !type.startsWith("DECIMAL")))(
  "a text fits %s without SQL where both dialects have a value",
  (type) => {
    const fitting = HOSTILE_VALUES.filter((each) => valueIn(each, type) !== null);

    expect(HOSTILE_VALUES.filter((each) => fitsType(each, type))).toEqual(fitting);
  },
);

it.each([
  ["0012.345", "DECIMAL(4,2)", true],
  ["-99", "DECIMAL(4,2)", true],
  ["100", "DECIMAL(4,2)", false],
  ["0.5", "DECIMAL(3,3)", true],
  ["1", "DECIMAL(3,3)", false],
  ["1e1", "DECIMAL(4,2)", false],
] as const)("%s fits %s: %s", (each, type, expected) => {
  expect(fitsType(each, type)).toBe(expected);
});

describe.each(DIALECTS)("the SQL for %s", (_, dialect) => {
  it("gives each hostile text the value that the type says, or none", async () => {
    const values = await valuesIn(dialect, HOSTILE_VALUES);

    const found = HOSTILE_VALUES.map((each, index) => [each, values[index]]);
    expect(found).toEqual(HOSTILE_VALUES.map((each) => [each, expected(each)]));
  });

  it("does so for whatever text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 300, maxLength: 400 }), async (texts) => {
        expect(await valuesIn(dialect, texts)).toEqual(texts.map(expected));
      }),
      { numRuns: 4 },
    );
  });

  it("gives null nothing but null", async () => {
    const columns = TYPES.map(
      (type) => `${withDuckDBTypes(typedValue("CAST(NULL AS VARCHAR)", type, dialect))} IS NULL`,
    );
    const read = await connection.runAndReadAll(`SELECT ${columns.join(" AND ")}`);

    expect(read.getRows()).toEqual([[true]]);
  });
});
