// What the rows of a snapshot say beside themselves: digests, fields, and required fields.

import { RowDigests } from "../../snapshot/compare/row-digests.ts";
import { FieldProfiler, type Profile } from "../../snapshot/fields/field-profile.ts";
import { type Incomplete, RequiredFields } from "../../snapshot/fields/required-fields.ts";
import { parseRow, type Row } from "../../snapshot/rows/row.ts";

/**
 * Rows come in any order: while they are fetched, and of ranges that other processes have recorded when these are
 * verified.
 */
export class SnapshotFacts {
  readonly #planned: number;
  readonly #require: readonly string[];
  /** Places of the ranges whose rows are counted. */
  #counted = new Set<number>();
  #fields = new FieldProfiler();
  #required: RequiredFields;
  #digests: RowDigests;

  /** @param planned how many rows there are at most */
  constructor(planned: number, require: readonly string[]) {
    this.#planned = planned;
    this.#require = require;
    this.#required = new RequiredFields(require);
    this.#digests = new RowDigests(planned);
  }

  /**
   * @param place of the event in the plan, counted from 0
   * @param event as `JSON.parse` gives it
   */
  add(place: number, row: Row, event: unknown): void {
    this.#fields.add(event);
    this.#required.add(row.event);
    this.#digests.set(place, row.uuid, row.event);
  }

  /** Throws a `SyntaxError`, or `STORE_CORRUPT`, for a line that is no row. */
  addLine(place: number, line: string): void {
    const row = parseRow(line);
    this.add(place, row, JSON.parse(row.event));
  }

  /** All rows of the range that begins at this place are counted. */
  markCounted(place: number): void {
    this.#counted.add(place);
  }

  hasCounted(place: number): boolean {
    return this.#counted.has(place);
  }

  /** Some rows were counted that the snapshot does not have: everything is counted again. */
  beginAgain(): void {
    this.#counted = new Set();
    this.#fields = new FieldProfiler();
    this.#required = new RequiredFields(this.#require);
    this.#digests = new RowDigests(this.#planned);
  }

  get profile(): Profile {
    return this.#fields.profile();
  }

  get incomplete(): Incomplete {
    return this.#required.incomplete;
  }

  /** Of all rows, in order. */
  get digests(): Uint8Array {
    return this.#digests.records;
  }
}
