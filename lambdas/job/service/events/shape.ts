// Describes a JSON text for an error message: keys and types, never a value.

import { elements, members, OversizeJson, rootSpan } from "../../json/json-bytes.ts";
import type { Span } from "../../json/json-scanner.ts";
import { redactKey } from "../../json/redact-key.ts";

const MAX_DEPTH = 3;
const MAX_KEYS = 8;
const MAX_COUNTED = 100_000;

/** For example `{data: {items: [{uuid: string}, … 20 in all], total: number}}`. */
export function describeShape(bytes: Buffer, root?: Span): string {
  try {
    return describe(bytes, root ?? rootSpan(bytes), 0);
  } catch (error) {
    if (error instanceof OversizeJson) return `a text that ${error.message}`;
    throw error;
  }
}

function describe(bytes: Buffer, span: Span, depth: number): string {
  switch (bytes.toString("latin1", span.start, span.start + 1)) {
    case "{":
      return depth < MAX_DEPTH ? describeObject(bytes, span, depth) : "{…}";
    case "[":
      return depth < MAX_DEPTH ? describeArray(bytes, span, depth) : "[…]";
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

function describeObject(bytes: Buffer, span: Span, depth: number): string {
  const shown: string[] = [];
  let count = 0;
  for (const { key, value } of members(bytes, span)) {
    count += 1;
    if (count <= MAX_KEYS) shown.push(`${redactKey(key)}: ${describe(bytes, value, depth + 1)}`);
    if (count > MAX_COUNTED) break;
  }
  return `{${shown.join(", ")}${more(count, MAX_KEYS)}}`;
}

function describeArray(bytes: Buffer, span: Span, depth: number): string {
  let first = "";
  let count = 0;
  for (const element of elements(bytes, span)) {
    count += 1;
    if (count === 1) first = describe(bytes, element, depth + 1);
    if (count > MAX_COUNTED) break;
  }
  return `[${first}${more(count, 1)}]`;
}

function more(count: number, shown: number): string {
  if (count > MAX_COUNTED) return `, … more than ${MAX_COUNTED} in all`;
  return count > shown ? `, … ${count} in all` : "";
}
