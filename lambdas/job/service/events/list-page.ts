// Reads one page of the list: finds the entries and the events among them, and hints that more pages follow.

import { isUtf8 } from "node:buffer";
import { SyncError } from "../../errors/sync-error.ts";
import { JsonDocument } from "../../json/json-document.ts";
import { compact, type Span } from "../../json/json-scanner.ts";
import { MalformedJson, OversizeJson } from "../../json/json-tokens.ts";
import type { ListedEvent } from "../event-service.ts";
import { isObject, isUuid, notJson, notUtf8, parseJson } from "./json-text.ts";
import { type PaginationHints, paginationHints } from "./pagination-hints.ts";
import { describeShape } from "./shape.ts";

export interface ListPage {
  /** In the page's order. */
  readonly events: readonly ListedEvent[];
  /** How many entries have no valid uuid. */
  readonly rejected: number;
  readonly hints: PaginationHints;
}

export const MAX_ENTRIES = 1_000_000;
/** For one entry, and for all that is not the list: parsing may take many times the memory of the text. */
const MAX_PARSED_BYTES = 4 * 1_048_576;

interface Place {
  readonly span: Span;
  readonly path: readonly string[];
  readonly kind: "array" | "keyed";
}

/**
 * Only one entry at a time becomes a string and is parsed: a list may be a quarter of a gigabyte.
 * Throws `UnusableBody` for text that is not JSON, `UNEXPECTED_RESPONSE` for JSON that is not a list, `OversizeJson`
 * for more than `maxEntries` entries and for other sizes over a limit.
 */
export function readListPage(
  body: Uint8Array,
  pointer: readonly string[] | undefined,
  maxEntries = MAX_ENTRIES,
): ListPage {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!isUtf8(bytes)) throw notUtf8();
  try {
    const json = new JsonDocument(bytes);
    const root = json.rootSpan();
    const place = pointer === undefined ? usualPlace(json, root) : placeAt(json, pointer, root);
    if (place === undefined) throw unexpectedShape(json, root);
    const hints = paginationHints(envelope(json, place), [place.path.slice(0, -1)]);
    return { ...readEntries(json, place, maxEntries), hints };
  } catch (error) {
    if (error instanceof MalformedJson) throw notJson();
    throw error;
  }
}

/** A top-level array, `data` as an array, `data` keyed by uuid, or `data.events` as an array. */
function usualPlace(json: JsonDocument, root: Span): Place | undefined {
  if (json.firstCharacter(root) === "[") return { span: root, path: [], kind: "array" };
  const data = json.valueAt(["data"], root);
  if (data === undefined) return undefined;
  const events = json.valueAt(["events"], data);
  if (events === undefined || json.firstCharacter(events) !== "[") return placeOf(json, data, ["data"]);
  // Both at once: it is ambiguous which of the two is the list.
  for (const { key } of json.members(data)) if (isUuid(key)) return undefined;
  return { span: events, path: ["data", "events"], kind: "array" };
}

function placeAt(json: JsonDocument, path: readonly string[], root: Span): Place | undefined {
  const span = json.valueAt(path, root);
  return span && placeOf(json, span, path);
}

/** An array, or an object all of whose keys are uuids. */
function placeOf(json: JsonDocument, span: Span, path: readonly string[]): Place | undefined {
  if (json.firstCharacter(span) === "[") return { span, path, kind: "array" };
  if (json.firstCharacter(span) !== "{") return undefined;
  for (const { key } of json.members(span)) if (!isUuid(key)) return undefined;
  return { span, path, kind: "keyed" };
}

/** The page with its list emptied: validated and read at once. */
function envelope(json: JsonDocument, { span, kind }: Place): unknown {
  const size = span.start + (json.bytes.length - span.end);
  if (size > MAX_PARSED_BYTES) throw new OversizeJson("has more than 4 MiB beside its entries");
  const before = json.decoded({ start: 0, end: span.start }).replace(/^\uFEFF/, "");
  const behind = json.decoded({ start: span.end, end: json.bytes.length });
  return parseJson(before + (kind === "array" ? "[]" : "{}") + behind);
}

function readEntries(
  json: JsonDocument,
  { span, kind }: Place,
  maxEntries: number,
): Pick<ListPage, "events" | "rejected"> {
  const events: ListedEvent[] = [];
  let rejected = 0;
  const take = (value: Span, key: string | undefined): void => {
    if (events.length + rejected === maxEntries) throw new OversizeJson("has more than 1,000,000 entries");
    const event = readEntry(json, value, key);
    if (event === undefined) rejected += 1;
    else events.push(event);
  };
  if (kind === "array") for (const element of json.elements(span)) take(element, undefined);
  else for (const { key, value } of json.members(span)) take(value, key);
  return { events, rejected };
}

function readEntry(json: JsonDocument, span: Span, key: string | undefined): ListedEvent | undefined {
  if (span.end - span.start > MAX_PARSED_BYTES) throw new OversizeJson("has an entry of more than 4 MiB");
  const text = json.decoded(span);
  const entry = parseJson(text);
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
  return { uuid: requestAs.toLowerCase(), requestAs, listing: compact(text, { start: 0, end: text.length }) };
}

function contradiction(): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    "The list is keyed by uuid, but an entry's own uuid differs from its key, so it is not clear which event it is. Ask " +
      "the service's operator, or set --list-pointer to the place of the list.",
  );
}

function unexpectedShape(json: JsonDocument, root: Span): SyncError {
  if (json.bytes.length <= MAX_PARSED_BYTES) parseJson(json.decoded(root)); // throws if it is not JSON
  const shape = describeShape(json, root);
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The list of events was not found in the response, whose shape is ${shape}. Set --list-pointer to its place, ` +
      "for example --list-pointer /data/items; it must be an array, or an object whose keys are uuids.",
    { fields: { shape } },
  );
}
