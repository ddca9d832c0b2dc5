// Finds values inside a JSON text without re-serialising them, so that what the service sent stays byte-exact.
//
// Checked here: what stands between tokens (commas, colons, brackets, trailing text). Not checked: the inside
// of strings and literals; callers that take text from outside hand it to `JSON.parse` as well.
// Nothing recurses, so no depth of nesting overflows the stack.

import {
  after,
  afterLiteral,
  afterString,
  afterWhite,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  isWhite,
  MalformedJson,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from "./json-tokens.ts";

export { MalformedJson };

/** Where a value lies: from its first character to just after its last, no white space around it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Member {
  /** Decoded: `"d\u0061te"` is `date`. */
  readonly key: string;
  readonly value: Span;
}

/** The one value of a whole text. */
export function rootSpan(text: string): Span {
  const start = afterWhite(text, 0);
  const end = afterValue(text, start);
  const rest = afterWhite(text, end);
  if (rest !== text.length) throw new MalformedJson("the end of the text", rest);
  return { start, end };
}

/**
 * The value that a pointer's tokens lead to, or undefined where there is none. Of duplicate keys the last
 * one counts, as for `JSON.parse`.
 */
export function valueAt(
  text: string,
  pointer: readonly string[],
  from: Span = rootSpan(text),
): Span | undefined {
  let span: Span | undefined = from;
  for (const token of pointer) {
    span = childAt(text, span, token);
    if (span === undefined) return undefined;
  }
  return span;
}

function childAt(text: string, parent: Span, token: string): Span | undefined {
  let found: Span | undefined;
  switch (text.charCodeAt(parent.start)) {
    case OPEN_OBJECT:
      for (const { key, value } of members(text, parent)) if (key === token) found = value;
      return found;
    case OPEN_ARRAY:
      // RFC 6901 §4: digits without leading zeros; "-" names the element after the last, which never exists.
      if (!/^(?:0|[1-9][0-9]*)$/.test(token)) return undefined;
      return elements(text, parent).drop(Number(token)).next().value;
    default:
      return undefined;
  }
}

/** The elements of the array at `array`, in order. */
export function* elements(text: string, array: Span): Generator<Span, undefined> {
  let start = afterWhite(text, after(OPEN_ARRAY, "an array", text, array.start));
  if (text.charCodeAt(start) === CLOSE_ARRAY) return;
  for (;;) {
    const end = afterValue(text, start);
    yield { start, end };
    const next = afterWhite(text, end);
    if (text.charCodeAt(next) === CLOSE_ARRAY) return;
    start = afterWhite(text, after(COMMA, '"," or "]"', text, next));
  }
}

/** The members of the object at `object`, in order, duplicates included. */
export function* members(text: string, object: Span): Generator<Member, undefined> {
  let keyStart = afterWhite(text, after(OPEN_OBJECT, "an object", text, object.start));
  if (text.charCodeAt(keyStart) === CLOSE_OBJECT) return;
  for (;;) {
    const keyEnd = afterString(text, keyStart);
    const start = afterColon(text, keyEnd);
    const end = afterValue(text, start);
    yield { key: decodeKey(text, keyStart, keyEnd), value: { start, end } };
    const next = afterWhite(text, end);
    if (text.charCodeAt(next) === CLOSE_OBJECT) return;
    keyStart = afterWhite(text, after(COMMA, '"," or "}"', text, next));
  }
}

/**
 * The value's text without the white space between its tokens, everything else as it came. A span that is
 * given is one that this module found: what stands between its tokens is not checked again.
 */
export function compact(text: string, span: Span = rootSpan(text)): string {
  const kept: string[] = [];
  let keepFrom = span.start;
  let at = span.start;
  while (at < span.end) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = afterString(text, at);
    else if (isWhite(code)) {
      kept.push(text.slice(keepFrom, at));
      at = afterWhite(text, at);
      keepFrom = at;
    } else at += 1;
  }
  const last = text.slice(keepFrom, span.end);
  return kept.length === 0 ? last : kept.join("") + last;
}

/** Skips one value, which begins at `start`. */
function afterValue(text: string, start: number): number {
  const open: number[] = []; // the brackets that are still to be closed, innermost last
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      const close = code === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
      at = afterWhite(text, at + 1);
      if (text.charCodeAt(at) !== close) {
        open.push(close);
        if (close === CLOSE_OBJECT) at = afterKey(text, at);
        continue;
      }
      at += 1;
    } else at = code === QUOTE ? afterString(text, at) : afterLiteral(text, at);

    for (;;) {
      const close = open.at(-1);
      if (close === undefined) return at;
      at = afterWhite(text, at);
      if (text.charCodeAt(at) !== close) {
        const expected = close === CLOSE_OBJECT ? '"," or "}"' : '"," or "]"';
        at = afterWhite(text, after(COMMA, expected, text, at));
        if (close === CLOSE_OBJECT) at = afterKey(text, at);
        break;
      }
      open.pop();
      at += 1;
    }
  }
}

function afterKey(text: string, start: number): number {
  return afterColon(text, afterString(text, start));
}

function afterColon(text: string, keyEnd: number): number {
  return afterWhite(text, after(COLON, '":"', text, afterWhite(text, keyEnd)));
}

function decodeKey(text: string, start: number, end: number): string {
  const source = text.slice(start + 1, end - 1);
  if (!source.includes("\\")) return source;
  try {
    return String(JSON.parse(text.slice(start, end)));
  } catch {
    throw new MalformedJson("a well-formed string", start); // JSON.parse's own error quotes the text
  }
}
