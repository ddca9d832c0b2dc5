// Reads the response of the single-event endpoint: finds the event, checks its uuid, takes its date and scope.

import { advise, setting } from "../../errors/advice.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { columnText } from "../../json/json-line.ts";
import { isObject, type JsonObject } from "../../json/json-pointers.ts";
import {
  compact,
  MalformedJson,
  OversizeJson,
  type Span,
  valueAt,
  wholeOf,
} from "../../json/json-scanner.ts";
import type { Detail, Question } from "../event-service.ts";
import { type ApiRequest, endpoint } from "../requests/api-client.ts";
import { BadStatus, NotJson, requestName, UnusableBody, unexpectedStatus } from "../requests/failure.ts";
import { failureIn } from "./failure-beside.ts";
import { decodeText, describeValue, isUuid, notJson, parseBody, pointerTo, type ShownName } from "./shape.ts";

/** The event is the outermost of these that is an object with a uuid. */
const USUAL_PLACES: readonly (readonly string[])[] = [[], ["data"], ["data", "event"]];

/** The event as a value and where its text is. */
interface Place {
  readonly value: JsonObject;
  readonly span: Span;
  /** What it is in, the outermost first. */
  readonly around: readonly unknown[];
}

/**
 * Throws `UnusableBody` for text that is not JSON, for an event with another uuid, and where there is no event although
 * others were found; `UNEXPECTED_RESPONSE` where none ever was. With a pointer the event may lack its uuid. A response of
 * too many levels is not parsed.
 * @param others how many details were read before
 */
export function readDetail(
  body: string,
  uuid: string,
  pointer: readonly string[] | undefined,
  shownName: ShownName,
  others = 0,
): Detail {
  const text = compactBody(body);
  if (text === undefined) return { kind: "left-out", reason: "too_deep" };
  const place = placeIn(text, pointer);
  if (place === undefined) throw unexpectedShape(text, uuid, shownName, others);
  const { value, span } = place;
  if (!isSame(value["uuid"], uuid) || !isSame(otherIdAround(place, uuid), uuid)) {
    const remedy = advise`If the event is elsewhere in the response, set ${setting("detailPointer")} to its place.`;
    throw new UnusableBody("an event with another uuid", others === 0 ? remedy : othersWereRead(others));
  }
  // An event beside which an error is named may lack a part of itself. What is in the event is its own.
  const failure = failureIn(place.around[0], shownName);
  if (failure !== undefined)
    throw new UnusableBody(
      `an event with an error beside it at ${failure}`,
      others === 0 ? "Ask the service's operator." : othersWereRead(others),
      { code: "UNEXPECTED_RESPONSE" },
    );
  return {
    kind: "event",
    event: text.slice(span.start, span.end),
    value,
    eventDate: column(text, place, "date"),
    scope: column(text, place, "scope"),
  };
}

/** Undefined for too many levels: to parse them takes a hundred times the text's memory, and readers such as DuckDB fail. */
function compactBody(body: string): string | undefined {
  try {
    return compact(body);
  } catch (error) {
    if (error instanceof OversizeJson) return undefined;
    throw error instanceof MalformedJson ? notJson() : error;
  }
}

// Searches the value that validation has parsed anyway: scanning the text for each place would repeat work.
function placeIn(text: string, pointer: readonly string[] | undefined): Place | undefined {
  const body = parseBody(text);
  for (const path of pointer === undefined ? USUAL_PLACES : [pointer]) {
    const around = path.map((_, depth) => path.slice(0, depth).reduce(childOf, body));
    const value = path.reduce(childOf, body);
    if (!isObject(value) || (pointer === undefined && typeof value["uuid"] !== "string")) continue;
    const span = valueAt(text, path, wholeOf(text));
    return span && { value, span, around };
  }
  return undefined;
}

function childOf(parent: unknown, key: string): unknown {
  const isParent = typeof parent === "object" && parent !== null && Object.hasOwn(parent, key);
  return isParent ? Reflect.get(parent, key) : undefined;
}

/** As `columnText`, which is called only if the value is not a string that can be written as it is. */
function column(text: string, { value, span }: Place, key: string): string | null {
  const own = value[key] ?? null;
  if (own === null || (typeof own === "string" && own.isWellFormed())) return own;
  return columnText(text, valueAt(text, [key], span));
}

/** The names of an identity: of these words alone. A `requestId` or `account_id` is another one's. */
const IDENTITY = /^(?:event)?(?:uu|gu)?id$/;

/** A uuid that an object around the event has as its identity, and which is not the one that was asked for. */
function otherIdAround({ around }: Place, uuid: string): string | undefined {
  return around
    .flatMap((each) => (isObject(each) ? Object.entries(each) : []))
    .filter(([name]) => IDENTITY.test(name.toLowerCase().replaceAll(/[^a-z]/g, "")))
    .map(([, value]) => value)
    .find((value): value is string => isUuid(value) && !isSame(value, uuid));
}

/** An event that a pointer leads to may lack its uuid. */
function isSame(own: unknown, uuid: string): boolean {
  return (own ?? null) === null || (typeof own === "string" && own.toLowerCase() === uuid.toLowerCase());
}

/** The pointer is right, or not needed, where other events were found. */
function othersWereRead(others: number): string {
  const events = others === 1 ? "1 other event was" : `${others.toLocaleString("en")} other events were`;
  return `${events} read in the same way, so ask the service's operator about this one.`;
}

/** One odd response among others may be an accident. */
function unexpectedShape(
  text: string,
  uuid: string,
  shownName: ShownName,
  others: number,
): SyncError | UnusableBody {
  const shape = describeValue(text, shownName);
  if (others > 0)
    return new UnusableBody(`a response without the event, whose shape is ${shape}`, othersWereRead(others), {
      code: "UNEXPECTED_RESPONSE",
    });
  const detailPointer = pointerTo(parseBody(text), (value) => Number(isEvent(value, uuid)), shownName);
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `No event was found in the response of the single-event endpoint, whose shape is ${shape}.`,
    {
      fields: { shape, ...(detailPointer === undefined ? {} : { detailPointer }) },
      next:
        detailPointer === undefined
          ? advise`If the event is in it, set ${setting("detailPointer")} to its place; else ask the service's operator.`
          : advise`Set the place of the event: ${setting("detailPointer", detailPointer)}.`,
    },
  );
}

/** As `readDetail` accepts it where a pointer leads to it. */
function isEvent(value: unknown, uuid: string): boolean {
  if (!isObject(value) || !isSame(value["uuid"], uuid)) return false;
  return isUuid(value["uuid"]) || ("date" in value && "scope" in value);
}

const CAP_BYTES = 4 * 1_048_576;

/**
 * The request for one event, by its uuid as it was listed, and what each response means: read it, leave the event out,
 * or stop. The URL is put together: parsing one takes longer than all else before a request is sent.
 */
export function detailRequests(
  baseUrl: URL,
  pointer: readonly string[] | undefined,
  shownName: ShownName,
): (requestAs: string, question?: Question) => ApiRequest<Detail> {
  const { origin, pathname: folder } = endpoint(baseUrl, "/v1/events/");
  let events = 0;
  return (requestAs, question = "first") => {
    const pathname = folder + encodeURIComponent(requestAs);
    return {
      url: { href: origin + pathname, origin, pathname, search: "" },
      kind: "detail",
      bodyCapBytes: CAP_BYTES,
      isAgain: question !== "first",
      isOnce: question === "control",
      read: (body) => {
        try {
          const detail = readDetail(decodeText(body), requestAs, pointer, shownName, events);
          if (detail.kind === "event" && question === "first") events += 1;
          return detail;
        } catch (error) {
          if (events === 0 || !(error instanceof NotJson)) throw error;
          throw new NotJson(error.message, othersWereRead(events), { code: "UNEXPECTED_RESPONSE" });
        }
      },
      oversize: () => ({ kind: "left-out", reason: "oversize" }),
      pending: (retryAfterMs) =>
        new BadStatus(
          202,
          retryAfterMs,
          events === 0 ? "Ask the service's operator why it has no answer." : othersWereRead(events),
          "UNEXPECTED_RESPONSE",
        ),
      refused: (status, retryAfterMs, ageMs) => {
        // docs/service-interface.md §5: not entitled to this event.
        if (status === 403) return { kind: "left-out", reason: "forbidden", retryAfterMs, ageMs };
        // docs/service-interface.md §3.3: archived or removed after it was listed.
        if (status === 404 || status === 410)
          return { kind: "left-out", reason: "gone", retryAfterMs, ageMs };
        throw unexpectedStatus(
          requestName("GET", { pathname }),
          status,
          events === 0 ? undefined : othersWereRead(events),
        );
      },
    };
  };
}
