// What each type makes of a text, reckoned without SQL: the law that both dialects of the views are compared with.

import type { ColumnType } from "../../../../lambdas/job/snapshot/rows/lifted-column.ts";

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
