// Reads the answer of the single-event endpoint: where the event is, that it is the right one, its date and scope.

import { SyncError } from "../errors/sync-error.ts";
import { columnText } from "../snapshot/column-text.ts";
import { rootSpan, type Span, valueAt } from "../snapshot/source-text.ts";
import type { Detail } from "./event-service.ts";
import { UnusableBody } from "./failure.ts";
import { parseJson, sourceText } from "./json-text.ts";
import { describeShape } from "./shape.ts";

/** The event is the outermost of these that is an object with a uuid. */
const USUAL_PLACES: readonly (readonly string[])[] = [[], ["data"], ["data", "event"]];

/**
 * Throws `UnusableBody` for text that is not JSON and for an event with another uuid, `UNEXPECTED_RESPONSE` where
 * there is no event. With a pointer the event may lack its uuid.
 */
export function readDetail(text: string, uuid: string, pointer: readonly string[] | undefined): Detail {
  parseJson(text);
  const root = rootSpan(text);
  const span = pointer === undefined ? usualPlace(text, root) : objectAt(text, pointer, root);
  if (span === undefined) throw unexpectedShape(text);
  if (!isSame(uuidOf(text, span), uuid)) {
    throw new UnusableBody(
      "an event with another uuid",
      "If the event is not where its uuid was found, say with --detail-pointer where it is.",
    );
  }
  return {
    kind: "event",
    event: sourceText(text, span),
    eventDate: columnText(text, valueAt(text, ["date"], span)),
    scope: columnText(text, valueAt(text, ["scope"], span)),
  };
}

function usualPlace(text: string, root: Span): Span | undefined {
  return USUAL_PLACES.map((path) => objectAt(text, path, root)).find(
    (span) => span !== undefined && typeof uuidOf(text, span) === "string",
  );
}

function objectAt(text: string, path: readonly string[], root: Span): Span | undefined {
  const span = valueAt(text, path, root);
  return span !== undefined && text[span.start] === "{" ? span : undefined;
}

function uuidOf(text: string, object: Span): unknown {
  const span = valueAt(text, ["uuid"], object);
  return span === undefined ? null : parseJson(text.slice(span.start, span.end));
}

/** An event that somebody pointed at may lack its uuid. */
function isSame(own: unknown, uuid: string): boolean {
  return own === null || (typeof own === "string" && own.toLowerCase() === uuid.toLowerCase());
}

function unexpectedShape(text: string): SyncError {
  const shape = describeShape(text);
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `No event was found in the answer of the single-event endpoint, whose shape is ${shape}. Say with --detail-pointer ` +
      "where the event is, for example --detail-pointer /data/item.",
    { fields: { shape } },
  );
}
