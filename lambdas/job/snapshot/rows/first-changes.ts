// What a comparison shows of its changes: how many there are, and the first of them.

import { parsePointer } from "../../json/json-pointers.ts";
import { valueAt, wholeOf } from "../../json/json-scanner.ts";
import type { SeenLeftOut } from "../files/manifest.ts";
import type { Change } from "./compare-snapshots.ts";

/** Why the newer snapshot does not have an event. */
export type MissingReason = SeenLeftOut["reason"] | "not_listed";

export interface ExplainedChange extends Change {
  /** Null unless `removed`, and where the list of what the newer snapshot leaves out is damaged. */
  readonly reason: MissingReason | null;
}

/** In which fields an event differs; what they hold only where a person asks for it. */
export interface ChangedRow extends Omit<ExplainedChange, "before" | "after"> {
  readonly values?: readonly ChangedValue[];
}

/** What a field held and holds, as JSON, to the character; null where there is none. */
export interface ChangedValue {
  /** A JSON Pointer, empty for the whole event; null for an event that only one of the snapshots has. */
  readonly field: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

/** Of all rows together, in UTF-16 code units: the pointers of one row may have 64 KB. */
const MAX_TEXT = 32 * 1024 * 1024;

interface FirstChangesOptions {
  /** Of all rows together, in UTF-16 code units. */
  readonly mostText?: number;
  /** With what the fields held and hold. */
  readonly withValues?: boolean;
}

/** All changes counted, and the first of them in order. */
export class FirstChanges {
  readonly #most: number;
  readonly #mostText: number;
  readonly #withValues: boolean;
  readonly counts = { added: 0, changed: 0, removed: 0 };
  readonly #rows: ChangedRow[] = [];
  #text = 0;

  /** @param most how many rows are kept */
  constructor(most: number, { mostText = MAX_TEXT, withValues = false }: FirstChangesOptions = {}) {
    this.#most = most;
    this.#mostText = mostText;
    this.#withValues = withValues;
  }

  /** Fewer than there is room for where their pointers are long. */
  get rows(): readonly ChangedRow[] {
    return this.#rows;
  }

  add(change: ExplainedChange): void {
    this.counts[change.change] += 1;
    if (this.#rows.length >= this.#most || this.#text >= this.#mostText) return;
    const { uuid, change: kind, fields, reason } = change;
    this.#text += uuid.length + (fields?.join().length ?? 0);
    const row: ChangedRow = { uuid, change: kind, fields, reason };
    if (!this.#withValues) {
      this.#rows.push(row);
      return;
    }
    const values = valuesOf(change);
    for (const { before, after } of values) this.#text += (before?.length ?? 0) + (after?.length ?? 0);
    this.#rows.push({ ...row, values });
  }
}

function valuesOf({ fields, before, after }: ExplainedChange): readonly ChangedValue[] {
  if (fields === null) return [{ field: null, before, after }];
  return fields.map((field) => {
    const path = parsePointer(field);
    return { field, before: textAt(before, path), after: textAt(after, path) };
  });
}

function textAt(event: string | null, path: readonly string[]): string | null {
  const span = event === null ? undefined : valueAt(event, path, wholeOf(event));
  return event === null || span === undefined ? null : event.slice(span.start, span.end);
}
