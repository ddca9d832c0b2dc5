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
    const found = new Pointers();
    compare(parse(before), parse(after), ROOT, found);
    return found.sorted();
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof MalformedJson)) throw error;
    // The parser's own error quotes the text, so it is dropped.
    throw new SyncError(
      "STORE_CORRUPT",
      "A snapshot's row holds an event that is not JSON. Restore the snapshot's files from a backup or an older version.",
    );
  }
}

const WHOLE: readonly string[] = [""];

/** The way to a value. Only what has changed is written out as a pointer, and only as long as the bound allows. */
interface Path {
  readonly above: Path | undefined;
  readonly token: string;
  /** Of the tokens and a slash before each, in UTF-16 code units: never more than the pointer's bytes. */
  readonly length: number;
}

const ROOT: Path = { above: undefined, token: "", length: 0 };

function below(above: Path, token: string): Path {
  return { above, token, length: above.length + 1 + token.length };
}

class Pointers {
  readonly #paths: Path[] = [];
  #length = 0;

  get isFull(): boolean {
    return this.#length > MAX_POINTERS_BYTES;
  }

  add(path: Path): void {
    this.#paths.push(path);
    this.#length += path.length + QUOTES_AND_COMMA;
  }

  sorted(): readonly string[] {
    if (this.isFull) return WHOLE;
    const pointers = this.#paths.map(pointerOf).sort();
    return Buffer.byteLength(JSON.stringify(pointers)) > MAX_POINTERS_BYTES ? WHOLE : pointers;
  }
}

const QUOTES_AND_COMMA = 3;

function pointerOf(path: Path): string {
  const tokens: string[] = [];
  for (let at = path; at.above !== undefined; at = at.above) tokens.push(at.token);
  return formatPointer(tokens.reverse());
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

/** Stops where more pointers are found than are reported. */
function compare(before: unknown, after: unknown, at: Path, found: Pointers): void {
  if (found.isFull) return;
  if (before instanceof NumberText && after instanceof NumberText) {
    if (before.text !== after.text) found.add(at);
  } else if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length !== after.length) found.add(at);
    else
      for (const [index, value] of before.entries())
        compare(value, after[index], below(at, String(index)), found);
  } else if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const inside = below(at, key);
      // Own keys only: `__proto__` is a key like any other.
      if (!Object.hasOwn(before, key) || !Object.hasOwn(after, key)) found.add(inside);
      else compare(before[key], after[key], inside, found);
    }
  } else if (before !== after) found.add(at);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  );
}
