// Decodes and parses bodies. Its errors never quote the body.

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

/** `JSON.parse`. Its own error quotes the input, so it is not the cause of ours. */
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

/** 8-4-4-4-12 hexadecimal digits, any case, any version (docs/service-interface.md §2.1). */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}
