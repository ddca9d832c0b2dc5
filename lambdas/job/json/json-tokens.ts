// Skips one token of a JSON text. Each function takes where the token begins and returns where it ends.

/** The text is not JSON. The message gives the place and never quotes the text. */
export class MalformedJson extends Error {
  override readonly name = "MalformedJson";
  /** The text ends where something is missing: more text might complete it. */
  readonly isCutOff: boolean;

  constructor(expected: string, position: number, isCutOff = false) {
    super(`expected ${expected} at character ${position}`);
    this.isCutOff = isCutOff;
  }
}

/** The text may be JSON, but more than is read. The message says what it "is" or "has". */
export class OversizeJson extends Error {
  override readonly name = "OversizeJson";
}

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

// indexOf runs at memory speed: a text of a megabyte costs microseconds.
export function afterString(text: string, start: number): number {
  after(QUOTE, "a string", text, start);
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  if (end === -1) throw new MalformedJson("the end of the string that begins", start, true);
  return end + 1;
}

// An odd number of backslashes before a quote escapes it.
function isEscaped(text: string, quote: number): boolean {
  let at = quote - 1;
  while (text.charCodeAt(at) === BACKSLASH) at -= 1;
  return (quote - at) % 2 === 0;
}

export function afterLiteral(text: string, start: number): number {
  let end = start;
  while (isLiteral(text.charCodeAt(end))) end += 1;
  if (end === start) throw new MalformedJson("a value", start, start >= text.length);
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
export function isWhite(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

export function afterWhite(text: string, start: number): number {
  let at = start;
  while (isWhite(text.charCodeAt(at))) at += 1;
  return at;
}

export function after(code: number, expected: string, text: string, at: number): number {
  if (text.charCodeAt(at) !== code) throw new MalformedJson(expected, at, at >= text.length);
  return at + 1;
}
