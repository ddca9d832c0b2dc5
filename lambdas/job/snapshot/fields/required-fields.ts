// Which events lack a required field: it is absent, or null.

import { parsePointer } from "../../json/json-pointers.ts";
import { valueAt } from "../../json/json-scanner.ts";

/** How many events lack what. */
export interface Incomplete {
  /** Events that lack one required field or more. */
  readonly events: number;
  /** Those that lack each field, in the order of the pointers. */
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

  /** Adds what was counted of other events, with the same pointers. */
  addAll(other: RequiredFields): void {
    for (const [index, field] of this.#fields.entries()) field.events += other.#fields[index]?.events ?? 0;
    this.#events += other.#events;
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
  const span = valueAt(event, tokens, { start: 0, end: event.length });
  return span !== undefined && event[span.start] !== "n";
}
