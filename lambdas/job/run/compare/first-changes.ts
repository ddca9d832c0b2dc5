// All changes counted, and the first of them in order: in which fields an event differs, not what they hold.

import * as z from "zod";
import type { Change } from "../../snapshot/rows/diff-rows.ts";
import { ChangeSample } from "./change-sample.ts";

export interface ChangedRow extends Pick<Change, "uuid" | "change"> {
  /** JSON Pointers; null unless `changed`. */
  readonly fields: readonly string[] | null;
}

/** Of all rows together, in UTF-16 code units: the pointers of one row may have 64 KB. */
const MAX_TEXT = 32 * 1024 * 1024;

const pointers = z.array(z.string());

export class FirstChanges {
  readonly #most: number;
  readonly #sample = new ChangeSample(0);
  readonly #rows: ChangedRow[] = [];
  #text = 0;

  /** @param most how many rows are kept */
  constructor(most: number) {
    this.#most = most;
  }

  get counts(): ChangeSample["counts"] {
    return this.#sample.counts;
  }

  /** Fewer than there is room for where their pointers are long. */
  get rows(): readonly ChangedRow[] {
    return this.#rows;
  }

  add(change: Change): void {
    this.#sample.add(change);
    if (this.#rows.length >= this.#most || this.#text >= MAX_TEXT) return;
    const { uuid, change: kind, fields } = change;
    this.#text += uuid.length + (fields?.length ?? 0);
    this.#rows.push({
      uuid,
      change: kind,
      fields: fields === null ? null : pointers.parse(JSON.parse(fields)),
    });
  }
}
