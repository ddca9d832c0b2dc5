// Which fields are worth a column of their own, and what to call them.

import { columnText } from "../../json/json-line.ts";
import { formatPointer, parsePointer } from "../../json/json-pointers.ts";
import { members, type Span, wholeOf } from "../../json/json-scanner.ts";
import type { ColumnType, LiftedColumn } from "../../settings/lifted-column.ts";
import {
  type Field,
  type JsonType,
  MAX_FIELDS,
  MAX_POINTER_LENGTH,
  typesOf,
} from "../fields/field-profile.ts";
import { fitsType, isTakenOtherwise, RESERVED_NAMES, TYPED_VIEW_NAMES } from "./lifted-column.ts";

const SCALARS: ReadonlySet<JsonType> = new Set(["string", "number", "boolean", "null"]);

/** Every row has these already. */
const OWN_COLUMNS: ReadonlySet<string> = new Set(["/uuid", "/date", "/scope"]);

/** Nothing that a terminal or a shell could read as anything but text. */
const PRINTABLE = /^[^\p{Control}\p{Surrogate}\p{Format}\u2028\u2029]+$/u;

const MAX_NAME_LENGTH = 60;
/** How many tokens of a pointer a name has. */
const MAX_TOKENS = 4;

/** A column that there is already. */
interface PresentColumn {
  readonly name: string;
  readonly pointers: readonly string[];
}

/**
 * Scalar fields outside of arrays, and arrays of strings, that at least half of the events have, and that are no column yet;
 * in the order of their pointers.
 * @param typeAt the type of a field's texts, where they have one
 */
export function suggestColumns(
  fields: readonly Field[],
  events: number,
  present: readonly PresentColumn[] = [],
  typeAt: (pointer: string) => ColumnType | undefined = () => undefined,
): readonly LiftedColumn[] {
  const lifted = new Set(present.flatMap(({ pointers }) => pointers));
  const chosen = fields.filter(
    (field) => field.count * 2 >= events && isSuitable(field, typeAt) && !lifted.has(field.pointer),
  );
  const reserved = new Set([...RESERVED_NAMES, ...TYPED_VIEW_NAMES, ...present.map(({ name }) => name)]);
  const names = uniqueNames(
    chosen.map(({ pointer }) => parsePointer(pointer)),
    (name) => reserved.has(name) || isTakenOtherwise(name),
  );
  return chosen.map(({ pointer }, index) => {
    const type = typeAt(pointer);
    return { name: names[index] ?? "", pointer, ...(type && { type }) };
  });
}

/** The outermost arrays that at least half of the events have, and that no column can hold, because not all of it is text. */
export function arraysLeftOut(
  fields: readonly Field[],
  events: number,
  columns: readonly PresentColumn[],
): readonly string[] {
  const lifted = new Set(columns.flatMap(({ pointers }) => pointers));
  return fields
    .filter((field) => field.count * 2 >= events && typesOf(field).includes("array"))
    .map(({ pointer }) => pointer)
    .filter((pointer) => !lifted.has(pointer) && !parsePointer(pointer).includes("*"));
}

function isSuitable(field: Field, typeAt: (pointer: string) => ColumnType | undefined): boolean {
  const { pointer } = field;
  const types = typesOf(field);
  return (
    (types.every((type) => SCALARS.has(type)) || typeAt(pointer) === "VARCHAR[]") &&
    types.some((type) => type !== "null") &&
    !OWN_COLUMNS.has(pointer) &&
    !parsePointer(pointer).includes("*") &&
    PRINTABLE.test(pointer)
  );
}

/**
 * A name for each path: its last token, or where others have that too or it is reserved, as many tokens more
 * as it takes. What is not unique with those gets a number.
 */
function uniqueNames(
  paths: readonly (readonly string[])[],
  isReserved: (name: string) => boolean,
): readonly string[] {
  let names = paths.map((path) => snakeCase(path.slice(-1)));
  for (let tokens = 2; tokens <= MAX_TOKENS; tokens += 1) {
    const times = new Map<string, number>();
    for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
    names = names.map((name, index) => {
      const path = paths[index] ?? [];
      const isTaken = isReserved(name) || (times.get(name) ?? 0) > 1;
      return isTaken ? snakeCase(path.slice(-tokens)) : name;
    });
  }
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free) || isReserved(free); n += 1) free = `${name}_${n}`;
    taken.add(free);
    return free;
  });
}

/** `["spend", "grossAmount"]` is `spend_gross_amount`. */
function snakeCase(tokens: readonly string[]): string {
  const words = tokens
    .join("_")
    .normalize("NFKD")
    .replaceAll(/\p{Mark}/gu, "")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .slice(0, MAX_NAME_LENGTH);
  if (words === "") return "field";
  return /^[0-9]/.test(words) ? `_${words}` : words;
}

/** Which type fits all texts that a field was seen with, for a suggestion. */
const NUMBER = /^-?([0-9]+)(?:\.([0-9]+))?([eE][+-]?[0-9]+)?$/;

/** Longer texts are no day, no instant, and no number that is worth a type. */
const MAX_LENGTH = 64;

/** Decimals that a DECIMAL is suggested for: money has few, measurements many. */
const MAX_SCALE = 6;
const USUAL_SCALE = 2;
/** Trino's and DuckDB's fast decimals, and the digits that always fit a BIGINT. */
const USUAL_PRECISION = 18;
const MAX_PRECISION = 38;

type Form =
  | "whole"
  | "fixed"
  | "floating"
  | "numeral"
  | "boolean"
  | "day"
  | "instant"
  | "texts"
  | "empty"
  | "text";

/** What was seen of one field. */
interface Seen {
  readonly forms: Set<Form>;
  /** The most digits before the point, and after it. */
  digits: number;
  scale: number;
}

/** Looks at every scalar and every array outside of arrays, in bounded memory. */
export class TextTypes {
  readonly #fields = new Map<string, Seen>();

  /** Adds an event, a text that is known to be JSON without white space around it. */
  add(event: string): void {
    this.#visit(event, wholeOf(event), "");
  }

  /** The type of numbers that stand in strings, if all do: they may be identifiers, so that a person decides. */
  numberAt(pointer: string): ColumnType | undefined {
    const seen = this.#fields.get(pointer);
    if (!seen?.forms.has("numeral") || !areAll(seen, "numeral", "whole", "fixed")) return undefined;
    return seen.scale <= MAX_SCALE ? decimalFor(seen.digits, Math.max(1, seen.scale)) : "DOUBLE";
  }

  /** Undefined where text is all that fits, or nothing but null was seen. */
  typeAt(pointer: string): ColumnType | undefined {
    const seen = this.#fields.get(pointer);
    return seen && typeOf(seen);
  }

  // Recurses no deeper than a pointer is long.
  #visit(event: string, span: Span, pointer: string): void {
    const first = event[span.start];
    if (pointer.length > MAX_POINTER_LENGTH) return;
    if (first !== "{") {
      this.#see(event, span, pointer);
      return;
    }
    // Of duplicate keys the last one counts.
    const children = new Map([...members(event, span)].map(({ key, value }) => [key, value]));
    for (const [key, value] of children) this.#visit(event, value, pointer + formatPointer([key]));
  }

  #see(event: string, span: Span, pointer: string): void {
    const isArray = event[span.start] === "[";
    const isShort = isArray || span.end - span.start <= MAX_LENGTH;
    const text = isShort ? columnText(event, span) : "";
    if (text === null) return;
    const seen = this.#fields.get(pointer) ?? { forms: new Set<Form>(), digits: 0, scale: 0 };
    if (!this.#fields.has(pointer)) {
      if (this.#fields.size === MAX_FIELDS) return;
      this.#fields.set(pointer, seen);
    }
    const isString = event[span.start] === '"';
    const [, whole = "", fraction = "", exponent] = (!isArray && NUMBER.exec(text)) || [];
    if (isArray || (isString && (whole === "" || exponent !== undefined || /^0[0-9]/.test(whole)))) {
      seen.forms.add(isArray ? formOfArray(text) : formOfString(text));
      return;
    }
    if (whole === "") {
      seen.forms.add(isShort ? "boolean" : "text");
      return;
    }
    const ofNumber = exponent !== undefined ? "floating" : fraction === "" ? "whole" : "fixed";
    seen.forms.add(isString ? "numeral" : ofNumber);
    seen.digits = Math.max(seen.digits, whole.length);
    seen.scale = Math.max(seen.scale, fraction.length);
  }
}

const DAY_LENGTH = "2026-11-21".length;

function formOfString(text: string): Form {
  if (!fitsType(text, "TIMESTAMP")) return "text";
  return text.length === DAY_LENGTH ? "day" : "instant";
}

function formOfArray(text: string): Form {
  if (text === "[]") return "empty";
  return fitsType(text, "VARCHAR[]") ? "texts" : "text";
}

function areAll({ forms }: Seen, ...allowed: readonly Form[]): boolean {
  return forms.size > 0 && forms.isSubsetOf(new Set(allowed));
}

function typeOf(seen: Seen): ColumnType | undefined {
  const { forms, digits, scale } = seen;
  if (areAll(seen, "boolean")) return "BOOLEAN";
  if (areAll(seen, "texts", "empty") && forms.has("texts")) return "VARCHAR[]";
  if (areAll(seen, "day")) return "DATE";
  if (areAll(seen, "day", "instant")) return "TIMESTAMP";
  if (areAll(seen, "whole") && digits <= USUAL_PRECISION) return "BIGINT";
  if (areAll(seen, "whole", "fixed") && scale <= MAX_SCALE) return decimalFor(digits, scale);
  return areAll(seen, "whole", "fixed", "floating") ? "DOUBLE" : undefined;
}

function decimalFor(digits: number, seenScale: number): ColumnType {
  const scale = seenScale === 0 ? 0 : Math.max(USUAL_SCALE, seenScale);
  const precision = [USUAL_PRECISION, MAX_PRECISION].find((most) => digits + scale <= most);
  return precision === undefined ? "DOUBLE" : `DECIMAL(${precision},${scale})`;
}
