// Reads one page of the list: where the entries are, which of them are events, what else the page says.

import { SyncError } from "../errors/sync-error.ts";
import { elements, MalformedJson, members, rootSpan, type Span, valueAt } from "../snapshot/source-text.ts";
import type { ListedEvent } from "./event-service.ts";
import { UnusableBody } from "./failure.ts";
import { type Claims, claimsOf } from "./incomplete.ts";
import { isObject, isUuid, parseJson, sourceText } from "./json-text.ts";
import { describeShape } from "./shape.ts";

export interface ListPage {
  /** In the page's order; undefined stands for an entry without a valid uuid. */
  readonly entries: readonly (ListedEvent | undefined)[];
  readonly claims: Claims;
}

interface Place {
  readonly span: Span;
  readonly path: readonly string[];
  readonly kind: "array" | "keyed";
}

/**
 * Only one entry at a time is parsed: a list may be as large as a quarter of a gigabyte.
 * Throws `UnusableBody` for text that is not JSON, `UNEXPECTED_RESPONSE` for JSON that is no list.
 */
export function readListPage(text: string, pointer: readonly string[] | undefined): ListPage {
  try {
    const place = pointer === undefined ? usualPlace(text) : placeAt(text, pointer, rootSpan(text));
    // The rest of the page is small; with the list emptied it is validated and read at once.
    const emptied =
      place &&
      text.slice(0, place.span.start) + (place.kind === "array" ? "[]" : "{}") + text.slice(place.span.end);
    const envelope = parseJson(emptied ?? text);
    if (place === undefined) throw unexpectedShape(text);
    return { entries: [...entries(text, place)], claims: claimsOf(envelope, [place.path.slice(0, -1)]) };
  } catch (error) {
    if (error instanceof MalformedJson) throw new UnusableBody("a body that is not JSON");
    throw error;
  }
}

/** A top-level array, `data` as an array, `data` keyed by uuid, or `data.events` as an array. */
function usualPlace(text: string): Place | undefined {
  const root = rootSpan(text);
  if (text[root.start] === "[") return { span: root, path: [], kind: "array" };
  const data = valueAt(text, ["data"], root);
  if (data === undefined) return undefined;
  const events = placeAt(text, ["data", "events"], root);
  if (events?.kind !== "array") return placeAt(text, ["data"], root);
  // Both at once: which of the two is the list is not ours to guess.
  for (const { key } of members(text, data)) if (isUuid(key)) return undefined;
  return events;
}

/** An array, or an object all of whose keys are uuids. */
function placeAt(text: string, path: readonly string[], root: Span): Place | undefined {
  const span = valueAt(text, path, root);
  if (span === undefined) return undefined;
  if (text[span.start] === "[") return { span, path, kind: "array" };
  if (text[span.start] !== "{") return undefined;
  for (const { key } of members(text, span)) if (!isUuid(key)) return undefined;
  return { span, path, kind: "keyed" };
}

function* entries(text: string, { span, kind }: Place): Generator<ListedEvent | undefined> {
  if (kind === "array") for (const element of elements(text, span)) yield readEntry(text, element, undefined);
  else for (const { key, value } of members(text, span)) yield readEntry(text, value, key);
}

function readEntry(text: string, span: Span, key: string | undefined): ListedEvent | undefined {
  const entry = parseJson(text.slice(span.start, span.end));
  if (!isObject(entry)) return undefined;
  const own = entry["uuid"];
  if (
    key !== undefined &&
    own !== undefined &&
    own !== null &&
    !(typeof own === "string" && own.toLowerCase() === key.toLowerCase())
  ) {
    throw contradiction();
  }
  const requestAs = own ?? key;
  if (!isUuid(requestAs)) return undefined;
  return { uuid: requestAs.toLowerCase(), requestAs, listing: sourceText(text, span) };
}

function contradiction(): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    "The list is keyed by uuid, but an entry's own uuid differs from its key, so it is not clear which event it is. Ask " +
      "the service's operator, or say with --list-pointer where the list is.",
  );
}

function unexpectedShape(text: string): SyncError {
  const shape = describeShape(text);
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The list of events was not found in the answer, whose shape is ${shape}. Say with --list-pointer where it is, ` +
      "for example --list-pointer /data/items; it must be an array, or an object whose keys are uuids.",
    { fields: { shape } },
  );
}
