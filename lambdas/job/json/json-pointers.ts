// JSON Pointers (RFC 6901), and where two JSON texts differ as values: key order is ignored, numbers are compared as they
// are written.

import { shownText } from "../errors/shown-text.ts";
import { SyncError } from "../errors/sync-error.ts";
import { isDeeperThan, MalformedJson } from "./json-scanner.ts";

/** The decoded reference tokens; none for `""`, the whole document. Throws `CONFIG_INVALID`, because users write pointers. */
export function parsePointer(pointer: string): readonly string[] {
  if (pointer === "") return [];
  // RFC 6901 §3: every reference token is prefixed by a slash.
  if (!pointer.startsWith("/")) throw invalid(pointer, 'it must be empty or begin with "/"');
  return pointer
    .slice(1)
    .split("/")
    .map((token) => decode(token, pointer));
}

export function formatPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

// RFC 6901 §4: "~1" first, then "~0", so that "~01" becomes "~1" and not "/".
function decode(token: string, pointer: string): string {
  if (/~(?![01])/.test(token)) throw invalid(pointer, '"~" must be followed by 0 (for "~") or 1 (for "/")');
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

function invalid(pointer: string, problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", `${shownText(pointer)} is not a JSON Pointer: ${problem}.`, {
    fields: { pointer },
  });
}

/** The comparison recurses, so a document nested deeper than this is compared as text. */
const MAX_DEPTH = 500;

/**
 * Of all pointers as one JSON array, in bytes. Each repeats the keys above it, so without a bound an event of a
 * megabyte could have hundreds of megabytes of them, in a row that no reader takes.
 */
const MAX_POINTERS_BYTES = 64 * 1024;

/**
 * Sorted JSON Pointers of what was added, removed or changed; none if both are equal. Objects and arrays of
 * equal length are descended into; an array whose length changed is reported as a whole, and so is a document
 * that is nested too deep or whose pointers are more than 64 KB. Of duplicate keys the last one counts.
 */
export function changedPointers(before: string, after: string): readonly string[] {
  if (before === after) return [];
  try {
    if (isDeeperThan(before, MAX_DEPTH) || isDeeperThan(after, MAX_DEPTH)) return WHOLE;
    const found = differences(parse(before), parse(after)).sort();
    return Buffer.byteLength(JSON.stringify(found)) > MAX_POINTERS_BYTES ? WHOLE : found;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof MalformedJson)) throw error;
    // The parser's own error quotes the text, so it is dropped.
    throw new SyncError("STORE_CORRUPT", "A snapshot's row holds an event that is not JSON.", {
      next: "Restore the snapshot's files from a backup or an older version.",
    });
  }
}

const WHOLE: readonly string[] = [""];

/**
 * Numbers as texts, as they are written: 1.0 is not 1, and 9007199254740993 stays itself. Strings begin with a quote, as no
 * number does.
 */
function parse(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value === "number") return context?.source ?? String(value);
    return typeof value === "string" ? `"${value}` : value;
  });
}

/** Some of more than are reported. */
function differences(before: unknown, after: unknown): string[] {
  const found: string[] = [];
  const path: string[] = [];
  let length = 0;
  const add = (): void => {
    if (length > MAX_POINTERS_BYTES) return;
    const pointer = formatPointer(path);
    found.push(pointer);
    length += pointer.length;
  };
  const compare = (one: unknown, other: unknown): void => {
    if (Array.isArray(one) && Array.isArray(other)) {
      if (one.length !== other.length) add();
      else
        for (const [index, value] of one.entries()) below(String(index), () => compare(value, other[index]));
    } else if (isObject(one) && isObject(other)) {
      for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
        // Own keys only: `__proto__` is a key like any other.
        const isInBoth = Object.hasOwn(one, key) && Object.hasOwn(other, key);
        below(key, () => (isInBoth ? compare(one[key], other[key]) : add()));
      }
    } else if (one !== other) add();
  };
  const below = (token: string, look: () => void): void => {
    path.push(token);
    look();
    path.pop();
  };
  compare(before, after);
  return found;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
