// Describes a JSON text for an error message: keys and types, never a value.

import { redactKey } from "../../errors/shown-text.ts";
import { elements, type Member, members, rootSpan, type Span } from "../../json/json-scanner.ts";
import { UnusableBody } from "../requests/failure.ts";

const MAX_DEPTH = 3;
const MAX_KEYS = 8;
const MAX_COUNTED = 100_000;

/** For example `{data: {items: [{uuid: string}, … 20 in all], total: number}}`. What is between the tokens is JSON. */
export function describeValue(
  text: string,
  { start }: Pick<Span, "start"> = rootSpan(text),
  depth = 0,
): string {
  switch (text[start]) {
    case "{":
      return `{${describeChildren(members(text, { start }), text, depth)}}`;
    case "[":
      return `[${describeChildren(elements(text, { start }), text, depth)}]`;
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

function describeChildren(children: Iterable<Span | Member>, text: string, depth: number): string {
  const shown: string[] = [];
  let count = 0;
  if (depth >= MAX_DEPTH) return "…";
  for (const child of children) {
    if (++count > MAX_COUNTED) break;
    if ("key" in child) {
      if (count <= MAX_KEYS)
        shown.push(`${redactKey(child.key)}: ${describeValue(text, child.value, depth + 1)}`);
    } else if (count === 1) shown.push(describeValue(text, child, depth + 1));
  }
  if (count > MAX_COUNTED) shown.push(`… more than ${MAX_COUNTED} in all`);
  else if (count > shown.length) shown.push(`… ${count} in all`);
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
