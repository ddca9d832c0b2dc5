// Turns a body into JSON text that has been validated, and into values; never quotes what it was given.

import { UnusableBody } from "../requests/failure.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** The body as text, without a byte order mark. Throws `UnusableBody` for malformed UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw notUtf8();
  }
}

/** `JSON.parse`, whose own error quotes its input, which is why it is no cause here. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson();
  }
}

export function notUtf8(): UnusableBody {
  return new UnusableBody("a body that is not UTF-8");
}

export function notJson(): UnusableBody {
  return new UnusableBody("a body that is not JSON");
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** 8-4-4-4-12 hexadecimal digits, any case, any version: the service says no more about its uuids. */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}
