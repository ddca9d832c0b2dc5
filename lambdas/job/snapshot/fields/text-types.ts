// Which type fits all texts that a field was seen with, for a suggestion.

import { columnText } from "../../json/column-text.ts";
import { formatPointer } from "../../json/json-pointer.ts";
import { members, type Span } from "../../json/json-scanner.ts";
import { type ColumnType, decimalType } from "../rows/column-type.ts";
import { DAY, INSTANT } from "../rows/day-time-zone-form.ts";

const NUMBER = /^-?([0-9]+)(?:\.([0-9]+))?([eE][+-]?[0-9]+)?$/;

/** Longer texts are no day, no instant, and no number that is worth a type. */
const MAX_LENGTH = 64;
const MAX_FIELDS = 2_000;
const MAX_POINTER_LENGTH = 1_000;

/** Decimals that a DECIMAL is suggested for: money has few, measurements many. */
const MAX_SCALE = 6;
const USUAL_SCALE = 2;
/** Trino's and DuckDB's fast decimals, and the digits that always fit a BIGINT. */
const USUAL_PRECISION = 18;
const MAX_PRECISION = 38;

type Form = "whole" | "fixed" | "floating" | "boolean" | "day" | "instant" | "text";

/** What was seen of one field. */
interface Seen {
  readonly forms: Set<Form>;
  /** The most digits before the point, and after it. */
  digits: number;
  scale: number;
}

/** Looks at every scalar outside of arrays, in bounded memory. */
export class TextTypes {
  readonly #fields = new Map<string, Seen>();

  /** For a text that is known to be JSON without white space around it. */
  add(event: string): void {
    this.#visit(event, { start: 0, end: event.length }, "");
  }

  /** Undefined where text is all that fits, or nothing but null was seen. */
  typeAt(pointer: string): ColumnType | undefined {
    const seen = this.#fields.get(pointer);
    return seen && typeOf(seen);
  }

  // Recurses no deeper than a pointer is long.
  #visit(event: string, span: Span, pointer: string): void {
    const first = event[span.start];
    if (first === "[" || pointer.length > MAX_POINTER_LENGTH) return;
    if (first !== "{") {
      this.#see(event, span, pointer);
      return;
    }
    // Of duplicate keys the last one counts.
    const children = new Map([...members(event, span)].map(({ key, value }) => [key, value]));
    for (const [key, value] of children) this.#visit(event, value, pointer + formatPointer([key]));
  }

  #see(event: string, span: Span, pointer: string): void {
    const isShort = span.end - span.start <= MAX_LENGTH;
    const text = isShort ? columnText(event, span) : "";
    if (text === null) return;
    const seen = this.#fields.get(pointer) ?? { forms: new Set<Form>(), digits: 0, scale: 0 };
    if (!this.#fields.has(pointer)) {
      if (this.#fields.size === MAX_FIELDS) return;
      this.#fields.set(pointer, seen);
    }
    if (event[span.start] === '"') {
      seen.forms.add(formOfString(text));
      return;
    }
    const [, whole = "", fraction = "", exponent] = NUMBER.exec(text) ?? [];
    if (whole === "") {
      seen.forms.add(isShort ? "boolean" : "text");
      return;
    }
    seen.forms.add(exponent !== undefined ? "floating" : fraction === "" ? "whole" : "fixed");
    seen.digits = Math.max(seen.digits, whole.length);
    seen.scale = Math.max(seen.scale, fraction.length);
  }
}

/** A number in a string may be an identifier, such as `007`. */
function formOfString(text: string): Form {
  if (!isRealDay(text.slice(0, 10))) return "text";
  if (DAY.test(text)) return "day";
  return INSTANT.test(text) ? "instant" : "text";
}

function isRealDay(text: string): boolean {
  const at = DAY.test(text) && text >= "0001" ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

function typeOf({ forms, digits, scale }: Seen): ColumnType | undefined {
  const areAll = (...allowed: readonly Form[]): boolean =>
    forms.size > 0 && forms.isSubsetOf(new Set(allowed));
  if (areAll("boolean")) return "BOOLEAN";
  if (areAll("day")) return "DATE";
  if (areAll("day", "instant")) return "TIMESTAMP";
  if (areAll("whole") && digits <= USUAL_PRECISION) return "BIGINT";
  if (areAll("whole", "fixed") && scale <= MAX_SCALE) return decimalFor(digits, scale);
  return areAll("whole", "fixed", "floating") ? "DOUBLE" : undefined;
}

function decimalFor(digits: number, seenScale: number): ColumnType {
  const scale = seenScale === 0 ? 0 : Math.max(USUAL_SCALE, seenScale);
  const precision = [USUAL_PRECISION, MAX_PRECISION].find((most) => digits + scale <= most);
  return precision === undefined ? "DOUBLE" : decimalType(precision, scale);
}
