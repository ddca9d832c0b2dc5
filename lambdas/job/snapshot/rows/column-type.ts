// The type that readers may give a lifted column in `events_typed`. The files hold text whatever it is.

import * as z from "zod";

/** `VARCHAR` is the text itself. */
export type ColumnType =
  | "BIGINT"
  | "DOUBLE"
  | "BOOLEAN"
  | "DATE"
  | "TIMESTAMP"
  | "VARCHAR"
  | `DECIMAL(${number},${number})`;

/** Precision and scale of a `DECIMAL`. */
interface Digits {
  readonly precision: number;
  readonly scale: number;
}

/** What Trino and DuckDB can hold. */
const MAX_PRECISION = 38;

/** Of a type as it is written: exactly so. */
const WRITTEN = /^(?:BIGINT|DOUBLE|BOOLEAN|DATE|TIMESTAMP|VARCHAR|DECIMAL\([0-9]{1,3},[0-9]{1,3}\))$/;

const EXPECTED =
  "expected BIGINT, DOUBLE, DECIMAL(p,s) with p from 1 to 38 and s from 0 to p, BOOLEAN, DATE, TIMESTAMP or VARCHAR";

export const columnType = z
  .string(EXPECTED)
  .regex(WRITTEN, { error: EXPECTED, abort: true })
  .transform((text, context): ColumnType => {
    if (isColumnType(text)) return text;
    context.addIssue({ code: "custom", message: EXPECTED });
    return z.NEVER;
  });

/** Whether a text is written like a type, within its ranges or not. */
export function looksLikeType(text: string): boolean {
  return WRITTEN.test(text);
}

/** Whether a text that is no type was probably meant as one, such as `decimal(18, 2)`. */
export function resemblesType(text: string): boolean {
  return looksLikeType(text.toUpperCase().replaceAll(" ", ""));
}

function isColumnType(text: string): text is ColumnType {
  if (!looksLikeType(text)) return false;
  const digits = decimalDigits(text);
  if (digits === undefined) return true;
  const { precision, scale } = digits;
  const isCanonical = text === decimalType(precision, scale);
  return isCanonical && precision >= 1 && precision <= MAX_PRECISION && scale <= precision;
}

export function decimalType(precision: number, scale: number): `DECIMAL(${number},${number})` {
  return `DECIMAL(${precision},${scale})`;
}

/** Undefined for every other type. */
function decimalDigits(type: string): Digits | undefined {
  const [, precision, scale] = /^DECIMAL\(([0-9]+),([0-9]+)\)$/.exec(type) ?? [];
  return scale === undefined ? undefined : { precision: Number(precision), scale: Number(scale) };
}

/** Whether `events_typed` has a value for the text; of a decimal, before it is rounded. */
export function fitsType(text: string, type: ColumnType): boolean {
  switch (type) {
    case "VARCHAR":
      return true;
    case "BIGINT":
      return /^-?[0-9]{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
    case "DOUBLE":
      return FLOATING.test(text) && Number.isFinite(Number(text));
    case "BOOLEAN":
      return /^(?:true|false|t|f|1|0)$/i.test(text);
    case "DATE":
    case "TIMESTAMP":
      return (DAY.test(text) || INSTANT.test(text)) && isRealDay(text.slice(0, 10));
    default: {
      const { precision, scale } = decimalDigits(type) ?? { precision: 0, scale: 0 };
      const [, whole] = FIXED.exec(text) ?? [];
      return whole !== undefined && whole.replace(/^0+/, "").length <= precision - scale;
    }
  }
}

const FIXED = /^-?([0-9]+)(?:\.[0-9]+)?$/;
const FLOATING = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** Of a text that is written like a day. */
export function isRealDay(text: string): boolean {
  const at = DAY.test(text) && text >= "0001" ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/**
 * What days, times of day and time zones look like as text: without anchors, and alike for JavaScript, DuckDB and Trino.
 * `[0-9]` and not `\d`, which matches digits of other scripts in some engines.
 */
export const DAY_FORM = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
export const TIME_FORM = String.raw`([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?`;
export const ZONE_FORM = "(Z|[+-](0[0-9]|1[0-8])(:?[0-5][0-9])?)";

/** A text that is a day, and one that is an instant, with or without a zone: these forms, with anchors. */
export const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
export const INSTANT =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?(Z|[+-](0[0-9]|1[0-8])(:?[0-5][0-9])?)?$/;
