// Texts that engines convert differently, or not at all, or with an error; what each type makes of a text, reckoned without SQL:
// the law that both dialects of the views are compared with; and the words of Trino that DuckDB lacks.

import type { ColumnType } from "../../../../lambdas/job/settings/lifted-column.ts";

export const HOSTILE_VALUES: readonly string[] = [
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
  ...["2026-11-21/2026-11-25", "2026-11-21x", "2026-11-21\u0000", "2026-11-21T10:00:00Z\n", "2026-11-21Z"],
  ...["2026-11-21T10:00:00Z\u0000", "2026-11-21 ", "2026-11-21T", "\ufeff2026-11-21"],
  ...["9999-12-31T23:59:59.999-18:00", "2026-02-30T10:00:00Z", "1582-10-10", "2026-11-21T10:00:00.Z"],
  ...["0001-01-01T17:59:59.999+1800", "0001-01-01T18:00+18:00", "0001-01-01 00:00-00:01"],
  ...[
    "[]",
    "[ ]",
    '["a"]',
    '[null,"a"]',
    ' [ "a" ,\tnull\r\n] ',
    '["a"]\u0000',
    '["a"]x',
    '["a"',
    '["a",]',
    "['a']",
    "[1.10]",
  ],
  ...[
    '[["a"]]',
    '{"a":"b"}',
    '"a"',
    '["a" "b"]',
    '["\u0000"]',
    '["\u001f"]',
    '["\u007f\u0085\u2028"]',
    '["a\n"]',
    "[true]",
    "[NULL]",
  ],
  ...[
    '["\\u0000"]',
    '["\\ud83d\\ude00"]',
    '["\\uD83D"]',
    '["\\ude00"]',
    '["\\ud83dx"]',
    '["\\ud83d\\u0041"]',
    '["\\ud7ff\\ue000"]',
  ],
  ...[
    '["\\"\\\\\\/\\b\\f\\n\\r\\t"]',
    '["\\x"]',
    '["\\u12"]',
    '["\\U0041"]',
    '["\\"]',
    '["😀","ä"]',
    '["1.10","007",""]',
  ],
  ...["9999-12-31T06:00:00-18", "9999-12-31T05:59:59.9999-18:00", "9999-12-31 23:59:59.999999Z"],
];

/** A column of each type, by name. */
export const COLUMNS: readonly (readonly [string, ColumnType])[] = (
  ["BIGINT", "DOUBLE", "DECIMAL(18,2)", "BOOLEAN", "DATE", "TIMESTAMP", "VARCHAR", "VARCHAR[]"] as const
).map((type, index) => [`c${index}`, type]);

/** As SQL shows it: whole numbers and decimals as text, instants in milliseconds, lists as JSON; null where the text does not fit. */
export type Value = string | number | boolean | null;

export function valueIn(text: string, type: ColumnType): Value {
  switch (type) {
    case "BIGINT":
      return bigint(text);
    case "DOUBLE":
      return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text))
        ? Number(text)
        : null;
    case "BOOLEAN":
      return boolean(text);
    case "DATE":
      return INSTANT.test(text) ? day(text.slice(0, 10)) : null;
    case "TIMESTAMP":
      return instant(text);
    case "VARCHAR[]":
      return strings(text);
    default: {
      const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
      return decimal(text, Number(precision), Number(scale));
    }
  }
}

function strings(text: string): Value {
  try {
    const items: unknown = JSON.parse(text);
    const isOne = (item: unknown): boolean =>
      item === null || (typeof item === "string" && item.isWellFormed());
    return Array.isArray(items) && items.every(isOne) ? JSON.stringify(items) : null;
  } catch {
    return null;
  }
}

function bigint(text: string): Value {
  if (!/^-?\d{1,19}$/.test(text)) return null;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? String(value) : null;
}

function boolean(text: string): Value {
  if (["t", "true", "1"].includes(text.toLowerCase())) return true;
  return ["f", "false", "0"].includes(text.toLowerCase()) ? false : null;
}

function day(text: string): Value {
  const [year = 0, month = 0, date = 0] = text.split("-").map(Number);
  const found = new Date(0);
  found.setUTCFullYear(year, month - 1, date);
  const isReal = found.getUTCMonth() === month - 1 && found.getUTCDate() === date && month >= 1;
  return year >= 1 && isReal ? text : null;
}

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})(?:[T ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.(\d+))?)?(?:Z|([+-])(0\d|1[0-8])(?::?([0-5]\d))?)?)?$/;

function instant(text: string): Value {
  const [, date = "", time = "00:00", seconds = "00", fraction = "", sign, hours = "0", minutes = "0"] =
    INSTANT.exec(text) ?? [];
  if (date === "" || day(date) === null) return null;
  const local = Date.parse(`${date}T${time}:${seconds}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const value = sign === "-" ? local + offset : local - offset;
  return value >= Date.parse("0001-01-01") && value < Date.parse("+010000-01-01") ? value : null;
}

/** Half of the last digit is rounded away from zero. */
function decimal(text: string, precision: number, scale: number): Value {
  const [, minus, whole = "", fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === "") return null;
  const kept = BigInt(whole + fraction.slice(0, scale).padEnd(scale, "0"));
  const unscaled = kept + (Number(fraction[scale] ?? "0") >= 5 ? 1n : 0n);
  if (unscaled >= 10n ** BigInt(precision)) return null;
  const digits = String(unscaled).padStart(scale + 1, "0");
  const point = digits.length - scale;
  const written = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return minus && unscaled > 0n ? `-${written}` : written;
}

export const TRINO_WORDS = `CREATE MACRO regexp_like(text, pattern) AS regexp_matches(text, pattern);
CREATE MACRO date_add(unit, count, instant) AS instant + to_minutes(count);
CREATE MACRO json_parse(text) AS CAST(text AS JSON);`;

/** A type can be no macro. */
export const withDuckDBTypes = (sql: string): string => sql.replaceAll("ARRAY(VARCHAR)", "VARCHAR[]");
