// The text of a value in a column: a string itself, or the JSON text of anything else.

import { compact, type Span } from "./json-scanner.ts";

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
