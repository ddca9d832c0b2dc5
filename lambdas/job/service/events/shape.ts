// Describes a JSON text for an error message: keys and types, never a value.

import type { JsonDocument } from "../../json/json-document.ts";
import type { Span } from "../../json/json-scanner.ts";
import { OversizeJson } from "../../json/json-tokens.ts";
import { redactKey } from "../../json/redact-key.ts";

const MAX_DEPTH = 3;
const MAX_KEYS = 8;
const MAX_COUNTED = 100_000;

/** For example `{data: {items: [{uuid: string}, … 20 in all], total: number}}`. */
export function describeShape(json: JsonDocument, root?: Span): string {
  try {
    return describe(json, root ?? json.rootSpan(), 0);
  } catch (error) {
    if (error instanceof OversizeJson) return `a text that ${error.message}`;
    throw error;
  }
}

function describe(json: JsonDocument, span: Span, depth: number): string {
  switch (json.firstCharacter(span)) {
    case "{":
      return depth < MAX_DEPTH ? describeObject(json, span, depth) : "{…}";
    case "[":
      return depth < MAX_DEPTH ? describeArray(json, span, depth) : "[…]";
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

function describeObject(json: JsonDocument, span: Span, depth: number): string {
  const shown: string[] = [];
  let count = 0;
  for (const { key, value } of json.members(span)) {
    count += 1;
    if (count <= MAX_KEYS) shown.push(`${redactKey(key)}: ${describe(json, value, depth + 1)}`);
    if (count > MAX_COUNTED) break;
  }
  return `{${shown.join(", ")}${more(count, MAX_KEYS)}}`;
}

function describeArray(json: JsonDocument, span: Span, depth: number): string {
  let first = "";
  let count = 0;
  for (const element of json.elements(span)) {
    count += 1;
    if (count === 1) first = describe(json, element, depth + 1);
    if (count > MAX_COUNTED) break;
  }
  return `[${first}${more(count, 1)}]`;
}

function more(count: number, shown: number): string {
  if (count > MAX_COUNTED) return `, … more than ${MAX_COUNTED} in all`;
  return count > shown ? `, … ${count} in all` : "";
}
