// A lifted column as settings and manifests say it: a name, a JSON Pointer into the detail, and perhaps a type for readers.

import * as z from "zod";
import { shownText } from "../errors/shown-text.ts";
import { SyncError } from "../errors/sync-error.ts";

export interface LiftedColumn {
  readonly name: string;
  /** JSON Pointer (RFC 6901) into the detail; not the detail itself. */
  readonly pointer: string;
  /** Of `events_typed`. Without one the column keeps the type that it has in the warehouse. */
  readonly type?: ColumnType | undefined;
  /** The snapshot whose run named the type; undefined where this run or these settings name it. */
  readonly typedBy?: string | undefined;
}

/** `VARCHAR` is the text itself, `VARCHAR[]` a list of texts. */
export type ColumnType =
  | "BIGINT"
  | "DOUBLE"
  | "BOOLEAN"
  | "DATE"
  | "TIMESTAMP"
  | "VARCHAR"
  | "VARCHAR[]"
  | `DECIMAL(${number},${number})`;

/** What Trino and DuckDB can hold. */
const MAX_PRECISION = 38;

/** A type exactly as it is written. */
const WRITTEN =
  /^(?:BIGINT|DOUBLE|BOOLEAN|DATE|TIMESTAMP|VARCHAR(?:\[\])?|DECIMAL\([0-9]{1,3},[0-9]{1,3}\))$/;

export const TYPES_TEXT =
  "BIGINT, DOUBLE, DECIMAL(p,s) with p from 1 to 38 and s from 0 to p, BOOLEAN, DATE, TIMESTAMP, VARCHAR or VARCHAR[]";
const EXPECTED = `expected ${TYPES_TEXT}`;

export const columnType = z
  .string(EXPECTED)
  .regex(WRITTEN, EXPECTED)
  .pipe(z.custom<ColumnType>((text) => isWithinRanges(String(text)), EXPECTED));

/** As manifests have it. Name and type become parts of the views' SQL, so nothing else passes. */
export const liftedSchema = z.object({
  name: z.string().regex(/^[a-z_][a-z0-9_]*$/),
  pointer: z.string().startsWith("/"),
  type: columnType.optional(),
  /** The snapshot whose run named the type. */
  typed_by: z.string().optional(),
});

/** Of SQL, also of types that columns do not have. */
const NAMES_OF_TYPES =
  /^(?:BIGINT|INT|INTEGER|SMALLINT|NUMBER|NUMERIC|DECIMAL|DOUBLE|FLOAT|REAL|TEXT|STRING|CHAR|VARCHAR|BOOL|BOOLEAN|DATE|DATETIME|TIMESTAMP|TIMESTAMPTZ|JSON)(?:\([0-9,]*\))?(?:\[\])*$/;

/** Whether what the pointer ends with was probably meant as a type, such as `decimal(18, 2)` or `INTEGER`. */
export function endsLikeType(pointer: string): boolean {
  const [, end = ""] = /:([^:/]*)$/.exec(pointer) ?? [];
  return NAMES_OF_TYPES.test(end.toUpperCase().replaceAll(" ", ""));
}

/** Precision and scale of a `DECIMAL`; undefined for every other type. */
export function decimalDigits(type: string): readonly [precision: number, scale: number] | undefined {
  const [, precision, scale] = /^DECIMAL\(([0-9]+),([0-9]+)\)$/.exec(type) ?? [];
  return precision === undefined ? undefined : [Number(precision), Number(scale)];
}

function isWithinRanges(type: string): boolean {
  const [precision, scale] = decimalDigits(type) ?? [];
  if (precision === undefined || scale === undefined) return true;
  const isCanonical = type === `DECIMAL(${precision},${scale})`;
  return isCanonical && precision >= 1 && precision <= MAX_PRECISION && scale <= precision;
}

/** The option that names the column, as `parseLiftedColumns` reads it. */
export function liftText({ name, pointer, type }: LiftedColumn): string {
  // What follows the last colon of the pointer may look like a type without being one.
  const said = type ?? (splitType(pointer).type === undefined ? undefined : "VARCHAR");
  return said === undefined ? `${name}=${pointer}` : `${name}=${pointer}:${said}`;
}

/** From `NAME=POINTER[:TYPE]`. Throws `CONFIG_INVALID` with what was expected and what was found. */
export function parseLiftedColumn(text: string): LiftedColumn {
  const got = `and got ${shownText(text)}`;
  const at = text.indexOf("=");
  if (at === -1) {
    throw invalid(`expected NAME=POINTER or NAME=POINTER:TYPE, for example brand=/brand/name, ${got}`);
  }
  const { pointer, type } = splitType(text.slice(at + 1));
  const parsed = columnType.optional().safeParse(type);
  if (!parsed.success) throw invalid(`${parsed.error.issues[0]?.message}, ${got}`);
  return { name: text.slice(0, at), pointer, ...(type === undefined ? {} : { type: parsed.data }) };
}

/** A text after the last colon is a type only if it is written like one; otherwise it belongs to the pointer. */
function splitType(text: string): { readonly pointer: string; readonly type?: string } {
  const at = text.lastIndexOf(":");
  const type = text.slice(at + 1);
  return at !== -1 && WRITTEN.test(type) ? { pointer: text.slice(0, at), type } : { pointer: text };
}

function invalid(problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", problem);
}
