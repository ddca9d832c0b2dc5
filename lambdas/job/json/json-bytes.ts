// Finds values in a JSON text that is still UTF-8. `json-scanner.ts` does the same in strings; a list may be a quarter
// of a gigabyte, which is up to twice as much as a string, on a heap that may not have room for it.
//
// Checked here: what stands between tokens, and how deep and how wide it is. The rest is for `JSON.parse`.

import type { Member, Span } from "./json-scanner.ts";
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  isLiteral,
  isWhite,
  MalformedJson,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from "./json-tokens.ts";

const BACKSLASH = 0x5c;
const MAX_DEPTH = 1_000;
/** Of one array or object whose children are asked for. */
const MAX_CHILDREN = 1_000_000;

/** The text may be JSON, but larger than what is read. The message says what it "is" or "has". */
export class OversizeJson extends Error {
  override readonly name = "OversizeJson";
}

/** The one value of a whole text. A byte order mark before it is skipped. */
export function rootSpan(bytes: Buffer): Span {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const start = afterWhite(bytes, hasMark ? 3 : 0);
  const end = afterValue(bytes, start);
  const rest = afterWhite(bytes, end);
  if (rest !== bytes.length) throw new MalformedJson("the end of the text", rest);
  return { start, end };
}

/** The value that a pointer's tokens lead to, or undefined where there is none. Of duplicate keys the last one counts. */
export function valueAt(bytes: Buffer, pointer: readonly string[], from: Span): Span | undefined {
  let span: Span | undefined = from;
  for (const token of pointer) {
    span = childAt(bytes, span, token);
    if (span === undefined) return undefined;
  }
  return span;
}

function childAt(bytes: Buffer, parent: Span, token: string): Span | undefined {
  let found: Span | undefined;
  switch (bytes[parent.start]) {
    case OPEN_OBJECT:
      for (const { key, value } of members(bytes, parent)) if (key === token) found = value;
      return found;
    case OPEN_ARRAY:
      // RFC 6901 §4: digits without leading zeros.
      if (!/^(?:0|[1-9][0-9]*)$/.test(token)) return undefined;
      return elements(bytes, parent).drop(Number(token)).next().value;
    default:
      return undefined;
  }
}

/** The elements of the array at `array`, in order. Throws `OversizeJson` after a million. */
export function* elements(bytes: Buffer, array: Span): Generator<Span, undefined> {
  let start = afterWhite(bytes, after(OPEN_ARRAY, "an array", bytes, array.start));
  if (bytes[start] === CLOSE_ARRAY) return;
  for (let count = 1; ; count += 1) {
    if (count > MAX_CHILDREN) throw tooWide();
    const end = afterValue(bytes, start);
    yield { start, end };
    const next = afterWhite(bytes, end);
    if (bytes[next] === CLOSE_ARRAY) return;
    start = afterWhite(bytes, after(COMMA, '"," or "]"', bytes, next));
  }
}

/** The members of the object at `object`, in order, duplicates included. Throws `OversizeJson` after a million. */
export function* members(bytes: Buffer, object: Span): Generator<Member, undefined> {
  let keyStart = afterWhite(bytes, after(OPEN_OBJECT, "an object", bytes, object.start));
  if (bytes[keyStart] === CLOSE_OBJECT) return;
  for (let count = 1; ; count += 1) {
    if (count > MAX_CHILDREN) throw tooWide();
    const keyEnd = afterString(bytes, keyStart);
    const start = afterColon(bytes, keyEnd);
    const end = afterValue(bytes, start);
    yield { key: decodeKey(bytes, keyStart, keyEnd), value: { start, end } };
    const next = afterWhite(bytes, end);
    if (bytes[next] === CLOSE_OBJECT) return;
    keyStart = afterWhite(bytes, after(COMMA, '"," or "}"', bytes, next));
  }
}

/** Skips one value, which begins at `start`. */
function afterValue(bytes: Buffer, start: number): number {
  const open: number[] = []; // the brackets that are still to be closed, innermost last
  let at = start;
  for (;;) {
    const code = bytes[at];
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      const close = code === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
      at = afterWhite(bytes, at + 1);
      if (bytes[at] !== close) {
        if (open.push(close) > MAX_DEPTH) throw new OversizeJson("is nested more than 1,000 levels deep");
        if (close === CLOSE_OBJECT) at = afterColon(bytes, afterString(bytes, at));
        continue;
      }
      at += 1;
    } else at = code === QUOTE ? afterString(bytes, at) : afterLiteral(bytes, at);

    for (;;) {
      const close = open.at(-1);
      if (close === undefined) return at;
      at = afterWhite(bytes, at);
      if (bytes[at] !== close) {
        const expected = close === CLOSE_OBJECT ? '"," or "}"' : '"," or "]"';
        at = afterWhite(bytes, after(COMMA, expected, bytes, at));
        if (close === CLOSE_OBJECT) at = afterColon(bytes, afterString(bytes, at));
        break;
      }
      open.pop();
      at += 1;
    }
  }
}

// Past the end there is no byte, and none of the comparisons holds.

function afterString(bytes: Buffer, start: number): number {
  let at = after(QUOTE, "a string", bytes, start);
  for (let code = bytes[at]; code !== QUOTE; code = bytes[at]) {
    if (code === undefined) throw new MalformedJson("the end of the string that begins", start);
    at += code === BACKSLASH ? 2 : 1;
  }
  return at + 1;
}

function afterLiteral(bytes: Buffer, start: number): number {
  let end = start;
  while (isLiteral(bytes[end] ?? 0)) end += 1;
  if (end === start) throw new MalformedJson("a value", start);
  return end;
}

function afterWhite(bytes: Buffer, start: number): number {
  let at = start;
  while (isWhite(bytes[at] ?? 0)) at += 1;
  return at;
}

function afterColon(bytes: Buffer, keyEnd: number): number {
  return afterWhite(bytes, after(COLON, '":"', bytes, afterWhite(bytes, keyEnd)));
}

function after(code: number, expected: string, bytes: Buffer, at: number): number {
  if (bytes[at] !== code) throw new MalformedJson(expected, at);
  return at + 1;
}

function decodeKey(bytes: Buffer, start: number, end: number): string {
  const source = bytes.toString("utf8", start + 1, end - 1);
  if (!source.includes("\\")) return source;
  try {
    return String(JSON.parse(`"${source}"`));
  } catch {
    throw new MalformedJson("a well-formed string", start); // JSON.parse's own error quotes the text
  }
}

function tooWide(): OversizeJson {
  return new OversizeJson("has more than 1,000,000 entries in one array or object");
}
