// Where two JSON texts differ as values: key order is ignored, numbers are compared as they are written.

import { SyncError } from "../errors/sync-error.ts";
import { formatPointer } from "./json-pointer.ts";
import {
  afterString,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  MalformedJson,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from "./json-tokens.ts";

/** The comparison recurses, so a document nested deeper than this is compared as text. */
const MAX_DEPTH = 500;

/**
 * Sorted JSON Pointers of what was added, removed or changed; none if both are equal. Objects and arrays of
 * equal length are descended into; an array whose length changed, and a document that is nested too deep, is
 * reported as a whole. Of duplicate keys the last one counts.
 */
export function changedPointers(before: string, after: string): readonly string[] {
  if (before === after) return [];
  try {
    if (isDeep(before) || isDeep(after)) return [""];
    return [...differences(parse(before), parse(after), "")].sort();
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof MalformedJson)) throw error;
    // The parser's own error quotes the text, so it is dropped.
    throw new SyncError(
      "STORE_CORRUPT",
      "A snapshot's row holds an event that is not JSON. Restore the snapshot's files from a backup or an older version.",
    );
  }
}

/** A number literal as it is written: 1.0 is not 1, and 9007199254740993 stays itself. */
class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function parse(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" ? new NumberText(context?.source ?? String(value)) : value,
  );
}

function* differences(before: unknown, after: unknown, at: string): Generator<string> {
  if (before instanceof NumberText && after instanceof NumberText) {
    if (before.text !== after.text) yield at;
  } else if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length !== after.length) yield at;
    else
      for (const [index, value] of before.entries())
        yield* differences(value, after[index], `${at}/${index}`);
  } else if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const pointer = at + formatPointer([key]);
      // Own keys only: `__proto__` is a key like any other.
      if (!Object.hasOwn(before, key) || !Object.hasOwn(after, key)) yield pointer;
      else yield* differences(before[key], after[key], pointer);
    }
  } else if (before !== after) yield at;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  );
}

function isDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1;
    if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth -= 1;
    if (depth > MAX_DEPTH) return true;
    at = code === QUOTE ? afterString(text, at) : at + 1;
  }
  return false;
}
