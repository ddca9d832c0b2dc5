// Describes a JSON text for an error message: keys and types, never a value.

import { redactKey } from "../../errors/shown-text.ts";
import { type JsonDocument, MalformedJson, type Span } from "../../json/json-scanner.ts";
import { UnusableBody } from "../requests/failure.ts";

const MAX_DEPTH = 3;
const MAX_KEYS = 8;
const MAX_COUNTED = 100_000;

/**
 * For example `{data: {items: [{uuid: string}, … 20 in all], total: number}}`. A value whose end is still to come is
 * described as far as it goes.
 * @param depth of the value in the whole text
 */
export function describeValue(json: JsonDocument, start = json.afterWhite(0), depth = 0): string {
  switch (json.characterAt(start)) {
    case "{":
      return describeChildren(json, json.members({ start }), new Shape(false, depth));
    case "[":
      return describeChildren(json, json.elements({ start }), new Shape(true, depth));
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

function describeChildren(
  json: JsonDocument,
  children: Iterable<Span | { readonly key: string; readonly value: Span }>,
  shape: Shape,
): string {
  if (shape.isDeep) return shape.text();
  try {
    for (const child of children) {
      const { key, value } = "value" in child ? child : { key: "", value: child };
      shape.add(key, () => describeValue(json, value.start, shape.depth + 1));
      if (shape.count > MAX_COUNTED) break;
    }
  } catch (error) {
    if (!(error instanceof MalformedJson && error.isCutOff)) throw error;
    return shape.text(true);
  }
  return shape.text();
}

/** The shape of an array or object, from its children one by one. */
export class Shape {
  readonly depth: number;
  readonly isDeep: boolean;
  count = 0;
  readonly #isArray: boolean;
  readonly #shown: string[] = [];

  constructor(isArray: boolean, depth: number) {
    this.#isArray = isArray;
    this.depth = depth;
    this.isDeep = depth >= MAX_DEPTH;
  }

  get #mostShown(): number {
    return this.#isArray ? 1 : MAX_KEYS;
  }

  /** @param key of a child of an object */
  add(key: string, describe: () => string): void {
    this.count += 1;
    if (this.isDeep || this.count > this.#mostShown) return;
    this.#shown.push(this.#isArray ? describe() : `${redactKey(key)}: ${describe()}`);
  }

  /** @param isCutOff more children follow, which are not counted */
  text(isCutOff = false): string {
    const inside = this.isDeep ? "…" : this.#shown.join(", ") + more(this.count, this.#mostShown, isCutOff);
    return this.#isArray ? `[${inside}]` : `{${inside}}`;
  }
}

function more(count: number, shown: number, isCutOff: boolean): string {
  if (isCutOff && count < MAX_COUNTED) return `, … more than ${count} in all`;
  if (count > MAX_COUNTED || isCutOff) return `, … more than ${MAX_COUNTED} in all`;
  return count > shown ? `, … ${count} in all` : "";
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
