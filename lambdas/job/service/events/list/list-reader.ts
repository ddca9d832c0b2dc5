// Reads one page of the list as it arrives: its events, and hints that more pages follow.

import { SyncError } from "../../../errors/sync-error.ts";
import { BYTE_ORDER_MARK } from "../../../json/json-document.ts";
import { MalformedJson } from "../../../json/json-tokens.ts";
import { JsonWindow, MalformedUtf8 } from "../../../json/json-window.ts";
import type { ListedEvent, ListedEvents } from "../../event-service.ts";
import { notJson, notUtf8, parseJson } from "../json-text.ts";
import { MAX_ENTRIES } from "./list-entries.ts";
import { ListWalker, muchBeside } from "./list-walker.ts";
import { type PaginationHints, paginationHints } from "./pagination-hints.ts";

export interface ListPage {
  /** In the page's order. */
  readonly events: Iterable<ListedEvent> & Pick<ListedEvents, "length">;
  /** How many entries have no valid uuid. */
  readonly rejected: number;
  readonly hints: PaginationHints;
}

/** More is copied and scanned piece by piece. */
const PIECE_BYTES = 256 * 1_024;
/** So much is to be read at least, before it is worth a try. */
const WORTH_BYTES = 64 * 1_024;

/** Holds the page's events, and of its text never more than a few MiB. */
export class ListReader {
  readonly #walker: ListWalker;
  readonly #window = new JsonWindow();
  #isBegun = false;
  #wantedBytes = WORTH_BYTES;

  /** @param pointer where the list is; undefined for the usual places */
  constructor(pointer: readonly string[] | undefined, maxEntries = MAX_ENTRIES) {
    this.#walker = new ListWalker(pointer, maxEntries);
  }

  /**
   * Throws `UnusableBody` for text that is not JSON, and `OversizeJson` for more than `maxEntries` entries and for other
   * sizes over a limit. Nothing can be added after that.
   */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      this.#window.add(bytes.subarray(at, at + PIECE_BYTES));
      if (this.#window.length >= this.#wantedBytes) this.#walk(false);
    }
  }

  /** The page, once all of it was added. Throws as `add`, and `UNEXPECTED_RESPONSE` for JSON that is not a list. */
  end(): ListPage {
    this.#walk(true);
    const { list, envelope, shape } = readable(() => this.#walker.end());
    const value = envelope === undefined ? undefined : parseJson(envelope);
    if (list === undefined) throw unexpectedShape(shape);
    if (envelope === undefined) throw muchBeside();
    if (list.problem) throw list.problem;
    const { events, rejected, path } = list;
    return { events, rejected, hints: paginationHints(value, [path.slice(0, -1)]) };
  }

  #walk(isLast: boolean): void {
    readable(() => {
      const json = this.#window.view(isLast);
      if (!this.#isBegun && json.startsWith(BYTE_ORDER_MARK)) {
        this.#isBegun = true;
        this.#window.release(BYTE_ORDER_MARK.length);
        this.#walk(isLast);
        return;
      }
      this.#isBegun = true;
      this.#window.release(this.#walker.walk(json, isLast));
    });
    // A value that is cut off is scanned again from its beginning: with twice as much, so all of it costs little more than once.
    this.#wantedBytes = Math.max(WORTH_BYTES, this.#window.length * 2);
  }
}

function readable<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedJson) throw notJson();
    if (error instanceof MalformedUtf8) throw notUtf8();
    throw error;
  }
}

function unexpectedShape(shape: string): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The list of events was not found in the response, whose shape is ${shape}. Set --list-pointer to its place, ` +
      "for example --list-pointer /data/items; it must be an array, or an object whose keys are uuids.",
    { fields: { shape } },
  );
}
