// One value as one line of NDJSON, for every reader.

import { compact, type Span } from "./json-scanner.ts";

/** No newline at the end. Keys stay in the order given. */
export function jsonLine(value: object): string {
  const json = JSON.stringify(value);
  // Some readers end a line at these three, which JSON allows inside strings. They cannot occur elsewhere in JSON.
  // Looked for one by one, because `includes` is far faster than a pattern on texts that have none.
  return LINE_ENDS.some((end) => json.includes(end)) ? json.replace(/[\u0085\u2028\u2029]/g, escaped) : json;
}

/** Of the line in UTF-8, without making it: to replace millions of characters takes seconds, to count them does not. */
export function jsonLineBytes(value: object): number {
  const json = JSON.stringify(value);
  return LINE_ENDS.reduce(
    (bytes, end) => bytes + count(json, end) * (escaped(end).length - Buffer.byteLength(end)),
    Buffer.byteLength(json),
  );
}

const LINE_ENDS = ["\u0085", "\u2028", "\u2029"] as const;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function count(text: string, character: string): number {
  let times = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) times += 1;
  return times;
}

/**
 * The string where the value is a well-formed one, null where it is null or absent, else its source text
 * without the white space between its tokens. `text` is known to be JSON.
 */
export function columnText(text: string, span: Span | undefined): string | null {
  if (span === undefined) return null;
  const first = text[span.start];
  if (first === "n") return null;
  if (first !== '"') return compact(text, span);
  const source = text.slice(span.start, span.end);
  const value: unknown = JSON.parse(source);
  // A lone surrogate has no UTF-8: only its escape can be written.
  return typeof value === "string" && value.isWellFormed() ? value : source;
}
