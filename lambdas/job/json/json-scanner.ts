// Finds values inside a JSON text without re-serialising them, so that what the service sent stays byte-exact.
//
// Checked here: what is between tokens (commas, colons, brackets, trailing text). Not checked: the inside
// of strings and literals; callers that take text from outside hand it to `JSON.parse` as well.
// Nothing recurses, so no depth of nesting overflows the stack.

/** Where a value lies: from its first character to just after its last, no white space around it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Member {
  /** Decoded: `"d\u0061te"` is `date`. */
  readonly key: string;
  /** Where the key itself stands in the text. */
  readonly keySpan: Span;
  readonly value: Span;
}

/** What is deeper is not walked: it would take minutes or gigabytes. */
const MAX_LEVELS = 1_000;

/** The one value of a whole text. */
export function rootSpan(text: string, from = 0): Span {
  const start = afterWhite(text, from);
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

/**
 * One level of it.
 * @param keyOf of a member, where the text is not decoded
 */
export function childAt(
  text: string,
  parent: Span,
  token: string,
  keyOf: (member: Member) => string = ({ key }) => key,
): Span | undefined {
  let found: Span | undefined;
  switch (text.charCodeAt(parent.start)) {
    case OPEN_OBJECT:
      for (const member of members(text, parent)) if (keyOf(member) === token) found = member.value;
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
export function* elements(text: string, array: Pick<Span, "start">): Generator<Span, undefined> {
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
export function* members(text: string, object: Pick<Span, "start">): Generator<Member, undefined> {
  let keyStart = afterWhite(text, after(OPEN_OBJECT, "an object", text, object.start));
  if (text.charCodeAt(keyStart) === CLOSE_OBJECT) return;
  for (;;) {
    const keyEnd = afterString(text, keyStart);
    const key = decodeKey(text.slice(keyStart, keyEnd), keyStart);
    const start = afterColon(text, keyEnd);
    const end = afterValue(text, start);
    yield { key, keySpan: { start: keyStart, end: keyEnd }, value: { start, end } };
    const next = afterWhite(text, end);
    if (text.charCodeAt(next) === CLOSE_OBJECT) return;
    keyStart = afterWhite(text, after(COMMA, '"," or "}"', text, next));
  }
}

/**
 * The text without the white space between its tokens, everything else as it came: it is JSON exactly if the text is.
 * Throws `MalformedJson` where the white space is all that keeps it from being JSON, as in `1 2`, and for a string without
 * an end; `OversizeJson` for more than 1,000 levels.
 */
export function compact(text: string, { start, end }: Span = wholeOf(text)): string {
  const kept: string[] = [];
  let keepFrom = start;
  let depth = 0;
  for (let at = start; at < end; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = afterString(text, at);
    else if (isWhite(code)) {
      kept.push(text.slice(keepFrom, at));
      keepFrom = afterWhite(text, at);
      if (isLiteral(text.charCodeAt(at - 1)) && isLiteral(text.charCodeAt(keepFrom)))
        throw new MalformedJson("no other value", keepFrom);
      at = keepFrom;
    } else {
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1;
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth -= 1;
      if (depth > MAX_LEVELS) throw tooDeep();
      at += 1;
    }
  }
  kept.push(text.slice(keepFrom, end));
  return kept.join("");
}

/** Where the one value of a text lies that is known to be JSON, without white space around it. */
export function wholeOf(text: string): Span {
  return { start: 0, end: text.length };
}

/** Whether a text has more arrays and objects inside of each other. Only its brackets and strings are looked at. */
export function isDeeperThan(text: string, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1;
    if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth -= 1;
    if (depth > levels) return true;
    at = code === QUOTE ? afterString(text, at) : at + 1;
  }
  return false;
}

/** Whether an object of a text that is known to be JSON has a key twice. */
export function hasDuplicateKeys(text: string): boolean {
  const open: (Set<string> | undefined)[] = []; // the keys of each object around, nothing for an array
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT) open.push(new Set());
    else if (code === OPEN_ARRAY) open.push(undefined);
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open.pop();
    const end = code === QUOTE ? afterString(text, at) : at + 1;
    const keys = open.at(-1);
    if (code === QUOTE && keys && text.charCodeAt(afterWhite(text, end)) === COLON) {
      const key = decodeKey(text.slice(at, end), at);
      if (keys.has(key)) return true;
      keys.add(key);
    }
    at = end;
  }
  return false;
}

/** Skips one value, which begins at `start`. Throws `OversizeJson` for one of more than 1,000 levels. */
function afterValue(text: string, start: number): number {
  const open: number[] = []; // the brackets that are still to be closed, innermost last
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      const close = code === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
      at = afterWhite(text, at + 1);
      if (text.charCodeAt(at) !== close) {
        if (open.push(close) > MAX_LEVELS) throw tooDeep();
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

function tooDeep(): OversizeJson {
  return new OversizeJson(`is nested more than ${MAX_LEVELS.toLocaleString("en")} levels deep`);
}

function afterKey(text: string, start: number): number {
  return afterColon(text, afterString(text, start));
}

function afterColon(text: string, keyEnd: number): number {
  return afterWhite(text, after(COLON, '":"', text, afterWhite(text, keyEnd)));
}

function decodeKey(quoted: string, position: number): string {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw new MalformedJson("a well-formed string", position); // JSON.parse's own error quotes the text
  }
}

/** The text is not JSON. The message gives the place and never quotes the text. */
export class MalformedJson extends Error {
  override readonly name = "MalformedJson";
  readonly position: number;

  constructor(expected: string, position: number) {
    super(`expected ${expected} at character ${position}`);
    this.position = position;
  }
}

/** The text may be JSON, but more than is read. The message says what it "is" or "has". */
export class OversizeJson extends Error {
  override readonly name = "OversizeJson";
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

// indexOf runs at memory speed: a text of a megabyte costs microseconds.
function afterString(text: string, start: number): number {
  after(QUOTE, "a string", text, start);
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  if (end === -1) throw new MalformedJson("the end of the string that begins", start);
  return end + 1;
}

// An odd number of backslashes before a quote escapes it.
function isEscaped(text: string, quote: number): boolean {
  let at = quote - 1;
  while (text.charCodeAt(at) === BACKSLASH) at -= 1;
  return (quote - at) % 2 === 0;
}

function afterLiteral(text: string, start: number): number {
  let end = start;
  while (isLiteral(text.charCodeAt(end))) end += 1;
  if (end === start) throw new MalformedJson("a value", start);
  return end;
}

// Letters, digits, "+", "-", ".": all that numbers, true, false and null are made of.
function isLiteral(code: number): boolean {
  const lower = code | 0x20;
  return (
    (lower >= 0x61 && lower <= 0x7a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2b ||
    code === 0x2d ||
    code === 0x2e
  );
}

// RFC 8259 §2: these four and no others.
function isWhite(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function afterWhite(text: string, start: number): number {
  let at = start;
  while (isWhite(text.charCodeAt(at))) at += 1;
  return at;
}

function after(code: number, expected: string, text: string, at: number): number {
  if (text.charCodeAt(at) !== code) throw new MalformedJson(expected, at);
  return at + 1;
}
