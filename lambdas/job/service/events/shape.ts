// Describes a JSON text for an error message: keys and types, never a value.

import { redactKey } from "../../errors/shown-text.ts";
import { type JsonDocument, MalformedJson } from "../../json/json-scanner.ts";
import { UnusableBody } from "../requests/failure.ts";

const MAX_DEPTH = 3;
const MAX_KEYS = 8;
const MAX_COUNTED = 100_000;

/**
 * For example `{data: {items: [{uuid: string}, … 20 in all], total: number}}`. A text that is cut off is described as far as
 * it goes; what is between its tokens is not checked.
 */
export function describeValue(json: JsonDocument, start = json.afterWhite(0), depth = 0): string {
  switch (json.characterAt(start)) {
    case "{":
      return `{${describeChildren(json, start, depth)}}`;
    case "[":
      return `[${describeChildren(json, start, depth)}]`;
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

function describeChildren(json: JsonDocument, parent: number, depth: number): string {
  const isArray = json.characterAt(parent) === "[";
  const shown: string[] = [];
  let count = 0;
  let isWhole = true;
  let at = json.afterWhite(parent + 1);
  if (depth >= MAX_DEPTH) return "…";
  try {
    while (json.characterAt(at) !== (isArray ? "]" : "}") && count <= MAX_COUNTED) {
      if (count > 0) at = json.afterWhite(at + 1); // the comma
      const { key, start } = isArray ? { key: "", start: at } : json.keyAt(at);
      if (start === json.bytes.length) break;
      count += 1;
      if (count === 1 || (!isArray && count <= MAX_KEYS)) {
        const value = describeValue(json, start, depth + 1);
        shown.push(isArray ? value : `${redactKey(key)}: ${value}`);
      }
      at = json.afterWhite(json.afterValue(start));
    }
  } catch (error) {
    if (!(error instanceof MalformedJson && error.isCutOff)) throw error;
    isWhole = false;
  }
  if (count > MAX_COUNTED) shown.push(`… more than ${MAX_COUNTED} in all`);
  else if (count > shown.length) shown.push(`… ${isWhole ? "" : "at least "}${count} in all`);
  return shown.join(", ");
}

/** `JSON.parse`. Its own error quotes the input, so it is not the cause of ours. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson();
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** As text, without a byte order mark. Throws `UnusableBody` for malformed UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new UnusableBody("a body that is not UTF-8");
  }
}

export function notJson(): UnusableBody {
  return new UnusableBody("a body that is not JSON");
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** 8-4-4-4-12 hexadecimal digits, any case, any version (docs/service-interface.md §2.1). */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}
