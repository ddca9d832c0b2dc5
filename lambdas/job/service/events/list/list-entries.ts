// The entries of one list on a page: events, and a count of those without a valid uuid.

import { SyncError } from "../../../errors/sync-error.ts";
import { compact } from "../../../json/json-scanner.ts";
import { OversizeJson } from "../../../json/json-tokens.ts";
import { isObject, isUuid, parseJson } from "../json-text.ts";
import { EventTexts } from "./event-texts.ts";

/** Over all pages of a list. */
export const MAX_ENTRIES = 1_000_000;

export class ListEntries {
  /** Where in the page the list is. */
  readonly path: readonly string[];
  /** In the page's order. */
  readonly events = new EventTexts();
  readonly #maxEntries: number;
  #rejected = 0;
  #problem: SyncError | undefined;

  constructor(path: readonly string[], maxEntries: number) {
    this.path = path;
    this.#maxEntries = maxEntries;
  }

  /** How many entries have no valid uuid. */
  get rejected(): number {
    return this.#rejected;
  }

  /** Why these entries cannot be used. It counts only if they turn out to be the list: a later one may replace them. */
  get problem(): SyncError | undefined {
    return this.#problem;
  }

  /** Throws `UnusableBody` for text that is not JSON, `OversizeJson` for one entry too many. */
  take(text: string, key: string | undefined): void {
    if (this.events.length + this.#rejected === this.#maxEntries) {
      throw new OversizeJson(`has more than ${MAX_ENTRIES.toLocaleString("en")} entries`);
    }
    const entry = parseJson(text);
    const own = isObject(entry) ? (entry["uuid"] ?? undefined) : undefined;
    if (key !== undefined && own !== undefined && !isSame(own, key)) this.#problem ??= contradiction();
    const requestAs = isObject(entry) ? (own ?? key) : undefined;
    if (isUuid(requestAs)) {
      const listing = compact(text, { start: 0, end: text.length });
      this.events.add({ uuid: requestAs.toLowerCase(), requestAs, listing });
    } else this.#rejected += 1;
  }
}

function isSame(own: unknown, key: string): boolean {
  return typeof own === "string" && own.toLowerCase() === key.toLowerCase();
}

function contradiction(): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    "The list is keyed by uuid, but an entry's own uuid differs from its key, so it is not clear which event it is. Ask " +
      "the service's operator, or set --list-pointer to the place of the list.",
  );
}
