// Describes a JSON text for an error message: keys and types, never a value.

import { redactKey } from "../../errors/shown-text.ts";
import type { JsonDocument } from "../../json/json-document.ts";
import { MalformedJson, type Span } from "../../json/json-scanner.ts";
import { UnusableBody } from "../requests/failure.ts";

const MAX_DEPTH = 3;
const MAX_KEYS = 8;
const MAX_COUNTED = 100_000;

/** For example `{data: {items: [{uuid: string}, … 20 in all], total: number}}`. */
export function describeShape(json: JsonDocument): string {
  return describeValue(json, json.rootSpan(), 0);
}

/**
 * @param depth of the value in the whole text; 0 for the root
 * A value whose end is still to come is described as far as it goes.
 */
export function describeValue(json: JsonDocument, span: Span, depth: number): string {
  switch (json.firstCharacter(span)) {
    case "{":
      return describeChildren(json.members(span), new ObjectShape(depth), ({ key, value }, shape) =>
        shape.add(key, () => describeValue(json, value, depth + 1)),
      );
    case "[":
      return describeChildren(json.elements(span), new ArrayShape(depth), (element, shape) =>
        shape.add(() => describeValue(json, element, depth + 1)),
      );
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

function describeChildren<Child, Shape extends ObjectShape | ArrayShape>(
  children: Iterable<Child>,
  shape: Shape,
  add: (child: Child, shape: Shape) => void,
): string {
  if (shape.isDeep) return shape.text();
  try {
    for (const child of children) {
      add(child, shape);
      if (shape.count > MAX_COUNTED) break;
    }
  } catch (error) {
    if (!(error instanceof MalformedJson && error.isCutOff)) throw error;
    return shape.text(true);
  }
  return shape.text();
}

/** The shape of an object, from its members one by one. */
export class ObjectShape {
  readonly isDeep: boolean;
  count = 0;
  readonly #shown: string[] = [];

  constructor(depth: number) {
    this.isDeep = depth >= MAX_DEPTH;
  }

  add(key: string, describe: () => string): void {
    this.count += 1;
    if (this.count <= MAX_KEYS && !this.isDeep) this.#shown.push(`${redactKey(key)}: ${describe()}`);
  }

  /** @param isCutOff more members follow, which are not counted */
  text(isCutOff = false): string {
    return this.isDeep ? "{…}" : `{${this.#shown.join(", ")}${more(this.count, MAX_KEYS, isCutOff)}}`;
  }
}

/** The shape of an array, from its elements one by one. */
export class ArrayShape {
  readonly isDeep: boolean;
  count = 0;
  #first = "";

  constructor(depth: number) {
    this.isDeep = depth >= MAX_DEPTH;
  }

  add(describe: () => string): void {
    this.count += 1;
    if (this.count === 1 && !this.isDeep) this.#first = describe();
  }

  /** @param isCutOff more elements follow, which are not counted */
  text(isCutOff = false): string {
    return this.isDeep ? "[…]" : `[${this.#first}${more(this.count, 1, isCutOff)}]`;
  }
}

function more(count: number, shown: number, isCutOff: boolean): string {
  if (isCutOff && count < MAX_COUNTED) return `, … more than ${count} in all`;
  if (count > MAX_COUNTED || isCutOff) return `, … more than ${MAX_COUNTED} in all`;
  return count > shown ? `, … ${count} in all` : "";
}

/** Decodes and parses bodies. Its errors never quote the body. */
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
export function parseBody(text: string): unknown {
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
