// What a comparison shows of its changes: how many there are, and the first of them.

import type { SeenLeftOut } from "../files/manifest.ts";
import type { Change } from "./compare-snapshots.ts";

/** Why the newer snapshot does not have an event. */
export type MissingReason = SeenLeftOut["reason"] | "not_listed";

export interface ExplainedChange extends Change {
  /** Null unless `removed`, and where the list of what the newer snapshot leaves out is damaged. */
  readonly reason: MissingReason | null;
}

/** In which fields an event differs, not what they hold. */
export type ChangedRow = Omit<ExplainedChange, "before" | "after">;

/** Of all rows together, in UTF-16 code units: the pointers of one row may have 64 KB. */
const MAX_TEXT = 32 * 1024 * 1024;

/** All changes counted, and the first of them in order. */
export class FirstChanges {
  readonly #most: number;
  readonly #mostText: number;
  readonly counts = { added: 0, changed: 0, removed: 0 };
  readonly #rows: ChangedRow[] = [];
  #text = 0;

  /** @param most how many rows are kept, with so much text together */
  constructor(most: number, mostText = MAX_TEXT) {
    this.#most = most;
    this.#mostText = mostText;
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
    this.#rows.push({ uuid, change: kind, fields, reason });
  }
}
