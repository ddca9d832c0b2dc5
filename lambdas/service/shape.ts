// Describes a JSON text for an error message: keys and types, never a value.

import { shownKey } from "../snapshot/shown-key.ts";
import { elements, members, rootSpan, type Span } from "../snapshot/source-text.ts";

const MAX_DEPTH = 3;
const MAX_KEYS = 8;

/** For example `{data: {items: [{uuid: string}, … 20 in all], total: number}}`. */
export function describeShape(text: string, span: Span = rootSpan(text), depth = 0): string {
  switch (text[span.start]) {
    case "{":
      return depth < MAX_DEPTH ? describeObject(text, span, depth) : "{…}";
    case "[":
      return depth < MAX_DEPTH ? describeArray(text, span, depth) : "[…]";
    case '"':
      return "string";
    case "t":
    case "f":
      return "boolean";
    case "n":
      return "null";
    default:
      return "number";
  }
}

function describeObject(text: string, span: Span, depth: number): string {
  const shown: string[] = [];
  let count = 0;
  for (const { key, value } of members(text, span)) {
    count += 1;
    if (count <= MAX_KEYS) shown.push(`${shownKey(key)}: ${describeShape(text, value, depth + 1)}`);
  }
  return `{${shown.join(", ")}${more(count, MAX_KEYS)}}`;
}

function describeArray(text: string, span: Span, depth: number): string {
  let first = "";
  let count = 0;
  for (const element of elements(text, span)) {
    count += 1;
    if (count === 1) first = describeShape(text, element, depth + 1);
  }
  return `[${first}${more(count, 1)}]`;
}

function more(count: number, shown: number): string {
  return count > shown ? `, … ${count} in all` : "";
}
