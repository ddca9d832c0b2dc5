// What the rows of one shard say of the snapshot beside themselves: digests, fields, required fields, and which differ
// from the base.

import type { KeptRows } from "../../snapshot/compare/kept-rows.ts";
import { RowDigests } from "../../snapshot/compare/row-digests.ts";
import { FieldProfiler } from "../../snapshot/fields/field-profile.ts";
import { RequiredFields } from "../../snapshot/fields/required-fields.ts";
import type { Row } from "../../snapshot/rows/row.ts";

export class ShardFacts {
  readonly fields = new FieldProfiler();
  readonly required: RequiredFields;
  readonly digests: RowDigests;
  readonly #kept: KeptRows;

  /** @param events how many the shard has: rows, and events that are left out */
  constructor(events: number, required: readonly string[], kept: KeptRows) {
    this.required = new RequiredFields(required);
    this.digests = new RowDigests(events);
    this.#kept = kept;
  }

  /**
   * Rows come in any order.
   * @param place of the event in the shard, counted from 0
   * @param event as `JSON.parse` gives it
   */
  add(place: number, row: Row, event: unknown): void {
    this.fields.add(event);
    this.required.add(row.event);
    this.#kept.add(row, this.digests.set(place, row.uuid, row.event));
  }
}
