// Which fields events have: every JSON Pointer below the root, in how many events, with which JSON types; and which
// events lack a required field.

import * as z from "zod";
import { redactKey } from "../../errors/shown-text.ts";
import { formatPointer, isObject, parsePointer } from "../../json/json-pointers.ts";
import { valueAt, wholeOf } from "../../json/json-scanner.ts";

const JSON_TYPES = ["string", "number", "boolean", "null", "object", "array"] as const;
export type JsonType = (typeof JSON_TYPES)[number];

const FIELD = z
  .object({
    /** JSON Pointer; indices of arrays are folded into `*`, so `/tags/*`. */
    pointer: z.string().startsWith("/"),
    /** Events that have it. */
    count: z.int().positive(),
    /** Events that have it with this type; an array's elements may have several in one event. */
    types: z.partialRecord(z.enum(JSON_TYPES), z.int().positive()),
  })
  .readonly();

export type Field = z.infer<typeof FIELD>;

export const MAX_FIELDS = 2_000;

/** The profile as manifests have it. */
export const profileSchema = z.object({
  /** In the order of the pointers' code units. */
  fields: z.array(FIELD).max(MAX_FIELDS).readonly(),
  /** False where events have more fields than a profile holds. */
  fields_complete: z.boolean(),
});

export type Profile = Readonly<z.infer<typeof profileSchema>>;

/** The length in UTF-16 code units, which bounds the depth too. */
export const MAX_POINTER_LENGTH = 1_000;
const ARRAY_TOKEN = "*";

interface Node {
  readonly pointer: string;
  readonly depth: number;
  readonly children: Map<string, Node>;
  count: number;
  /** How often each type was seen, by its place in `JSON_TYPES`. */
  readonly types: number[];
  /** The last event that was seen to have it, and a bit for each type it has there. */
  event: number;
  seen: number;
}

/**
 * The order in which fields are kept where there are too many: those nearest to the root, then by code units.
 * A field among the first of all events is among the first of any of them, so which fields are kept, and their
 * counts, do not depend on the order of the events.
 */
function compareFields(a: Pick<Node, "depth" | "pointer">, b: Pick<Node, "depth" | "pointer">): number {
  return a.depth - b.depth || (a.pointer < b.pointer ? -1 : a.pointer > b.pointer ? 1 : 0);
}

/** Counts the fields of events in bounded memory. */
export class FieldProfiler {
  readonly #root = nodeOf("", 0);
  readonly #maxFields: number;
  #events = 0;
  #size = 0;
  /** No field after this one in the order is kept; remembered so that such fields cost next to nothing. */
  #last: Node | undefined;
  #complete = true;

  constructor(maxFields = MAX_FIELDS) {
    this.#maxFields = maxFields;
  }

  /** @param event as `JSON.parse` gives it: of duplicate keys the last one counts */
  add(event: unknown): void {
    this.#events += 1;
    this.#visitChildren(this.#root, event);
  }

  profile(): Profile {
    if (this.#size > this.#maxFields) this.#trim();
    const nodes = [...below(this.#root)].sort((a, b) => (a.pointer < b.pointer ? -1 : 1));
    return { fields: nodes.map(fieldOf), fields_complete: this.#complete };
  }

  // Recurses no deeper than a pointer is long.
  #visit(node: Node, value: unknown): void {
    const type = typeIndex(value);
    const bit = 1 << type;
    if (node.event !== this.#events) {
      node.event = this.#events;
      node.seen = 0;
      node.count += 1;
    }
    if ((node.seen & bit) === 0) {
      node.seen |= bit;
      node.types[type] = (node.types[type] ?? 0) + 1;
    }
    this.#visitChildren(node, value);
  }

  #visitChildren(node: Node, value: unknown): void {
    if (Array.isArray(value)) {
      const child = value.length === 0 ? undefined : this.#child(node, ARRAY_TOKEN);
      if (child) for (const element of value) this.#visit(child, element);
    } else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        const child = this.#child(node, key);
        if (child) this.#visit(child, value[key]);
      }
    }
  }

  /** Undefined for a field that is not kept; then none below it is, because they come after it in the order. */
  #child(parent: Node, token: string): Node | undefined {
    const known = parent.children.get(token);
    if (known) return known;
    if (token.length < MAX_POINTER_LENGTH) {
      const child = nodeOf(parent.pointer + formatPointer([token]), parent.depth + 1);
      const fits = child.pointer.length <= MAX_POINTER_LENGTH;
      if (fits && !(this.#last && compareFields(child, this.#last) > 0)) {
        parent.children.set(token, child);
        this.#size += 1;
        if (this.#size >= 2 * this.#maxFields) this.#trim();
        return child;
      }
    }
    this.#complete = false;
    return undefined;
  }

  #trim(): void {
    const ordered = [...below(this.#root)].sort(compareFields);
    const kept = new Set([this.#root, ...ordered.slice(0, this.#maxFields)]);
    for (const node of kept) {
      for (const [token, child] of node.children) if (!kept.has(child)) node.children.delete(token);
    }
    this.#last = ordered[this.#maxFields - 1];
    this.#size = kept.size - 1;
    this.#complete = false;
  }
}

function nodeOf(pointer: string, depth: number): Node {
  return { pointer, depth, children: new Map(), count: 0, types: [0, 0, 0, 0, 0, 0], event: 0, seen: 0 };
}

function* below(node: Node): Generator<Node> {
  for (const child of node.children.values()) {
    yield child;
    yield* below(child);
  }
}

function fieldOf({ pointer, count, types }: Node): Field {
  const found = JSON_TYPES.flatMap((type, index) => (types[index] ? [[type, types[index]]] : []));
  return { pointer, count, types: Object.fromEntries(found) };
}

function typeIndex(value: unknown): number {
  switch (typeof value) {
    case "string":
      return 0;
    case "number":
      return 1;
    case "boolean":
      return 2;
    default:
      return value === null ? 3 : Array.isArray(value) ? 5 : 4;
  }
}

export function typesOf({ types }: Field): readonly JsonType[] {
  return JSON_TYPES.filter((type) => types[type] !== undefined);
}

/** Whether a profile would have the field if its events did: a full one ends at its last field. */
export function knows({ fields, fields_complete }: Profile): (pointer: string) => boolean {
  if (fields_complete || fields.length < MAX_FIELDS) return () => true;
  const last = fields
    .map(({ pointer }) => placeOf(pointer))
    .reduce((a, b) => (compareFields(a, b) > 0 ? a : b));
  return (pointer) => compareFields(placeOf(pointer), last) < 0;
}

function placeOf(pointer: string): Pick<Node, "depth" | "pointer"> {
  return { pointer, depth: pointer.split("/").length - 1 };
}

/** Keys that look like data are not repeated. */
export function shownPointer(pointer: string): string {
  return formatPointer(parsePointer(pointer).map((token) => (token === "*" ? token : redactKey(token))));
}

/** How many events lack what. */
export interface Incomplete {
  /** Events that lack one required field or more. */
  readonly events: number;
  /** The events that lack each field, in the order of the pointers. */
  readonly fields: readonly { readonly pointer: string; readonly events: number }[];
}

interface RequiredField {
  readonly pointer: string;
  readonly tokens: readonly string[];
  events: number;
}

/** Counts events in constant memory. */
export class RequiredFields {
  readonly #fields: readonly RequiredField[];
  #events = 0;

  /** @param pointers JSON Pointers into the detail */
  constructor(pointers: readonly string[]) {
    this.#fields = [...new Set(pointers)].map((pointer) => ({
      pointer,
      tokens: parsePointer(pointer),
      events: 0,
    }));
  }

  /** For a text that is known to be JSON without white space around it, as the column `event` holds it. */
  add(event: string): void {
    const lacking = this.#fields.filter(({ tokens }) => !hasValue(event, tokens));
    for (const field of lacking) field.events += 1;
    if (lacking.length > 0) this.#events += 1;
  }

  get incomplete(): Incomplete {
    return {
      events: this.#events,
      fields: this.#fields.map(({ pointer, events }) => ({ pointer, events })),
    };
  }
}

/** Of duplicate keys the last one counts, as everywhere. */
function hasValue(event: string, tokens: readonly string[]): boolean {
  const span = valueAt(event, tokens, wholeOf(event));
  return span !== undefined && event[span.start] !== "n";
}
