// A text becomes the same value, or none, in both dialects, and never an error. DuckDB runs both: the words of Trino
// that it lacks are defined as macros.

import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Dialect, DUCKDB, TRINO } from "../../../../lambdas/job/catalog/views/dialect.ts";
import { typedValue } from "../../../../lambdas/job/catalog/views/typed-value.ts";
import type { ColumnType } from "../../../../lambdas/job/snapshot/rows/column-type.ts";
import { type Value, valueIn } from "./text-values.ts";
import { TRINO_WORDS } from "./trino-words.ts";

const TYPES: readonly ColumnType[] = [
  ...(["BIGINT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP"] as const),
  ...(["DECIMAL(18,2)", "DECIMAL(38,10)", "DECIMAL(4,2)", "DECIMAL(38,0)", "DECIMAL(3,3)"] as const),
];

const DIALECTS: readonly (readonly [string, Dialect])[] = [
  ["DuckDB", DUCKDB],
  ["Trino", TRINO],
];

/** As `valueIn` has them. */
function shown(value: string, type: ColumnType): string {
  if (type === "TIMESTAMP") return `epoch_ms(${value})`;
  return type === "DOUBLE" || type === "BOOLEAN" ? value : `CAST(${value} AS VARCHAR)`;
}

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run(TRINO_WORDS);
});

async function valuesIn(dialect: Dialect, texts: readonly string[]): Promise<readonly (readonly Value[])[]> {
  const columns = TYPES.map((type) => shown(typedValue("text", type, dialect), type));
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
  // DuckDB shows a decimal without digits before the point as it is stored.
  return type?.startsWith("DECIMAL") ? String(value).replace(/^(-?)\./, "$10.") : String(value);
}

const expected = (text: string): readonly Value[] =>
  TYPES.map((type) => {
    const value = valueIn(text, type);
    return value === 0 ? 0 : value;
  });

const HOSTILE = [
  ...["", " ", "null", "NaN", "nan", "Infinity", "-inf", "x", "😀", "\u0000", "1\u0000", "\ufeff1"],
  ...["12", " 12", "12 ", "12\n", "+5", "-0", "007", "1_000", "0x10", "1d", "1.", ".5", "--5", "\u00a012"],
  ...["٣", "१२", "１２", "２０２６-11-21", "1e3", "1e400", "-1e400", "1e-400", "5e-324", "1e999999999"],
  ...["9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809"],
  ...[
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "0".repeat(60),
    "1".repeat(400),
    "1.10",
    "1.2345e2",
  ],
  ...[
    "1.005",
    "-1.005",
    "1.0049",
    "99.995",
    "9.995",
    "0.9995",
    "9999999999999999.995",
    `0.${"0".repeat(60)}5`,
  ],
  ...[
    "true",
    "TRUE",
    "t",
    "F",
    "yes",
    "off",
    "1",
    "0",
    "2026-02-30",
    "2024-02-29",
    "2026-02-29",
    "2026-13-45",
  ],
  ...["0000-01-01", "0001-01-01", "9999-12-31", "99999-01-01", "-2026-01-01", "2026-1-1", "2026-11-219"],
  ...["2026-11-21", "2026-11-21\n", "2026-11-21T10:00", "2026-11-21 10:00:00", "2026-11-21T10:00:00Z"],
  ...[
    "2026-11-21T10:00:00.8879Z",
    "2026-11-21T10:00:00+02:00",
    "2026-11-21T10:00:00-0230",
    "2026-11-21T10:00+02",
  ],
  ...["2026-11-21T24:00:00Z", "2026-11-21T23:59:60Z", "2026-11-21T10:00:00+19:00", "2026-11-21t10:00:00z"],
  ...[
    "2026-11-21T10:00:00 UTC",
    "2026-11-21T10:00:00\n",
    "0001-01-01T00:00:00+18:00",
    "epoch",
    "now",
    "infinity",
  ],
  ...["9999-12-31T23:59:59.999-18:00", "2026-02-30T10:00:00Z", "1582-10-10", "2026-11-21T10:00:00.Z"],
];

const number = fc.stringMatching(/^-?[0-9]{0,40}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?$/);
const date = fc.stringMatching(
  /^[0-9]{4}-(0[0-9]|1[0-3])-[0-3][0-9]([T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,9})?)?(Z|[+-][01][0-9]:?[0-5][0-9])?)?.?$/,
);
const text = fc.oneof(
  number,
  date,
  fc.string({ maxLength: 8, unit: "grapheme" }),
  fc.constantFrom(...HOSTILE),
);

describe.each(DIALECTS)("the SQL for %s", (_, dialect) => {
  it("gives each hostile text the value that the type says, or none", async () => {
    const values = await valuesIn(dialect, HOSTILE);

    const found = HOSTILE.map((each, index) => [each, values[index]]);
    expect(found).toEqual(HOSTILE.map((each) => [each, expected(each)]));
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
    const columns = TYPES.map((type) => `${typedValue("CAST(NULL AS VARCHAR)", type, dialect)} IS NULL`);
    const read = await connection.runAndReadAll(`SELECT ${columns.join(" AND ")}`);

    expect(read.getRows()).toEqual([[true]]);
  });
});
