// Why an attempt failed, and the errors for what no retry can fix.

import { isUtf8 } from "node:buffer";
import { type Advice, advise, inOrder, setting } from "../../errors/advice.ts";
import { type ErrorCode, SyncError } from "../../errors/sync-error.ts";
import { parseUrl } from "../../network/proxies.ts";
import { encodingsIn } from "../http/response-collector.ts";
import type { Address, HttpResponse, NoResponse } from "../http/transport.ts";
import { AddressDoubt, type AddressSetting, peerOf } from "./address-doubt.ts";
import { connectionRemedy, type FailedRequest } from "./connection-problem.ts";

/** A retry may succeed. */
export type Failure = NoResponse | UnusableBody | BadStatus;

/** A 2xx body that is unusable. Never quotes the body. */
export class UnusableBody extends Error {
  override readonly name = "UnusableBody";
  readonly kind = "body";
  /** Undefined where it may be the body of another server. */
  readonly remedy: Advice | string | undefined;
  /** Why it is not whole: a short code. */
  readonly cutBy: string | undefined;
  /** The code of the error after the last attempt. */
  readonly code: ErrorCode;

  constructor(
    why: string,
    remedy?: Advice | string,
    { code = "SERVICE_UNAVAILABLE", cutBy }: { readonly code?: ErrorCode; readonly cutBy?: string } = {},
  ) {
    super(why);
    this.remedy = remedy;
    this.code = code;
    this.cutBy = cutBy;
  }
}

/** A body that is no JSON in UTF-8. */
export class NotJson extends UnusableBody {}

export class BadStatus extends Error {
  override readonly name = "BadStatus";
  readonly kind = "status";
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The remedy in place of the usual one. */
  readonly remedy: Advice | string | undefined;
  readonly code: ErrorCode;

  constructor(
    status: number,
    retryAfterMs?: number,
    remedy?: Advice | string,
    code: ErrorCode = status === 429 ? "THROTTLED" : "SERVICE_UNAVAILABLE",
  ) {
    super(`status ${status}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.remedy = remedy;
    this.code = code;
  }
}

export function isThrottled(failure: Failure): failure is BadStatus & { readonly status: 429 } {
  return failure.kind === "status" && failure.status === 429;
}

/** A wait of 0 names no time. */
export function asksToWait(failure: Failure): failure is BadStatus & { readonly retryAfterMs: number } {
  return failure.kind === "status" && Boolean(failure.retryAfterMs);
}

/** The name of a request in messages and logs: without the query, which may hold more than the path. */
export function requestName(method: string, url: Pick<Address, "pathname" | "shownPath">): string {
  return `${method} ${url.shownPath ?? url.pathname}`;
}

/** How some services say that a session is over or unknown. */
export function isSessionOver(status: number): boolean {
  return status === 419 || status === 440;
}

/**
 * Whether a response refuses the proof itself: 401, and a 403 that names the token (RFC 6750 §3.1), in its challenge or as a
 * value of its body.
 */
export function isUnauthenticated({ status, headers, body }: Refusal): boolean {
  if (status === 401) return true;
  if (status !== 403) return false;
  const challenges = headers.get("www-authenticate")?.join(",") ?? "";
  if (/\berror\s*=\s*"?invalid_token\b/i.test(challenges)) return true;
  if (body?.kind !== "whole" || body.bytes.length > MAX_REFUSAL_BYTES) return false;
  return /"invalid_token"/i.test(Buffer.from(body.bytes).toString("latin1"));
}

type Refusal = Pick<HttpResponse, "status" | "headers"> & Partial<Pick<HttpResponse, "body">>;

const MAX_REFUSAL_BYTES = 65_536;

/**
 * Whether only a request without a session is answered so: an accepted one is over then. A redirect to a path below that of
 * the events is about an event; any other leads to a login, of this service or of another.
 */
export function isForStrangers(
  response: Refusal,
  base: URL,
  url: Pick<Address, "href" | "origin"> = base,
): boolean {
  const { status, headers } = response;
  if (isUnauthenticated(response) || isSessionOver(status)) return true;
  if (status < 300 || status >= 400) return false;
  const location = headers.get("location")?.[0];
  if (location === undefined) return false;
  const events = `${base.pathname.replace(/\/$/, "")}/v1/events/`;
  return !leadsWithin(response, url) || !parseUrl(location, url.href)?.pathname.startsWith(events);
}

/** A status without a meaning for the request (docs/service-interface.md §6). */
export function unexpectedStatus(request: string, status: number, next?: Advice | string): SyncError {
  const meaning = isSessionOver(status)
    ? "by which some services say that they do not accept the session"
    : "for which the interface gives no meaning";
  const fields = { request, status };
  const what = `${request} was answered with status ${status}, ${meaning}.`;
  if (next !== undefined) return new SyncError("UNEXPECTED_RESPONSE", what, { fields, next });
  const ifNew = advise`Check ${setting("baseUrl")}: it is the address before /v1. If it is right, ask the service's operator.`;
  return new AddressDoubt("UNEXPECTED_RESPONSE", what, { ifNew, fields });
}

/** After the last attempt. `THROTTLED` when its response was 429, else `SERVICE_UNAVAILABLE` or what the failure says. */
export function attemptsExhausted(
  { request, failures, address = "baseUrl" }: Omit<FailedRequest, "url">,
  failure: Failure,
): SyncError {
  const code = failure.kind === "no-response" ? "SERVICE_UNAVAILABLE" : failure.code;
  const times = failures === 1 ? "" : ` ${failures} times, the last time`;
  const cause = failure.kind === "no-response" ? failure.reason : failure.kind;
  const status = failure.kind === "status" ? failure.status : null;
  const fields = { request, attempts: failures, cause, status };
  const what = `${request} failed${times} with ${failure.message}.`;
  const own = ownRemedy(failure);
  if (own !== undefined) return new SyncError(code, what, { fields, next: own });
  if (failure.kind === "no-response") {
    const { ifNew, ifKnown } = connectionRemedy(failure, address);
    return ifKnown === undefined
      ? new SyncError(code, what, { fields, next: ifNew })
      : new AddressDoubt(code, what, { ifNew, ifKnown, fields });
  }
  if (failure.kind === "body") {
    const ifNew = advise`Check that ${setting(address)} is ${peerOf(address)} itself and not a web page. If it is right, ask the service's operator. Then run again.`;
    return new AddressDoubt(code, what, { ifNew, ifKnown: "Run again later.", fields });
  }
  const isBusy = failure.kind === "status" && failure.status === 503;
  const slower = isBusy
    ? advise` If it happens while other requests are answered, lower ${setting("requestsPerMinute")}.`
    : [];
  const later = advise`Run again later.${slower}`;
  const ifNew = advise`${later} If this address has never worked, check ${setting(address)}.`;
  const side = `The problem is on ${peerOf(address)}'s side.`;
  return new AddressDoubt(code, `${what} ${side}`, { ifNew, ifKnown: later, fields });
}

/** What helps whatever the address; undefined where that matters. */
function ownRemedy(failure: Failure): Advice | undefined {
  if (failure.kind === "no-response") return undefined;
  if (failure.remedy !== undefined) return inOrder(failure.remedy, "Then run again.");
  return isThrottled(failure)
    ? advise`Run again later, and lower ${setting("requestsPerMinute")} to what the service's operator allows you.`
    : undefined;
}

/** A 429 that is not retried. */
export function throttled(request: string): SyncError {
  return new SyncError("THROTTLED", `${request} was answered with status 429: too many requests.`, {
    fields: { request, status: 429 },
    next: "Run again later.",
  });
}

/**
 * What came in place of JSON in a 2xx response, by what the response says of its body.
 * @param otherwise where it does not say more
 * @param address what says where the request goes
 */
export function unusableBody(
  { status, headers, body, decodedBytes }: HttpResponse,
  otherwise: UnusableBody = new NotJson("a body that is not JSON"),
  address: AddressSetting = "baseUrl",
): UnusableBody {
  const peer = peerOf(address);
  const changed = `Look for a proxy between here and ${peer} that changes bodies. If there is none, ask the service's operator.`;
  const encoding = encodingName(headers);
  if (body.kind === "foreign") return new UnusableBody(`a body in ${encoding} (accepted: gzip, br)`, changed);
  if (body.kind === "broken") {
    const { cause: cutBy } = body;
    return cutBy === "UNDECODABLE"
      ? new UnusableBody(`a body that says it is in ${encoding}, and is not`, changed)
      : new UnusableBody(
          `a body that broke off (${cutBy})`,
          `Check the network between here and ${peer}. If it breaks off each time, its Content-Length may be wrong: ask the service's operator.`,
          { cutBy },
        );
  }
  const { code, remedy } = otherwise;
  if (decodedBytes === 0)
    return new UnusableBody(status === 200 ? "an empty body" : `an empty body (status ${status})`, remedy, {
      code,
    });
  const type = headers.get("content-type")?.[0] ?? "";
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type))
    return new UnusableBody("a web page", remedy, { code });
  const bytes = body.kind === "whole" ? body.bytes : new Uint8Array();
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    return new UnusableBody("a body in gzip whose headers do not say so", changed);
  return otherText(bytes, type, otherwise);
}

/** A text that begins as JSON is hardly another server's: what is wrong with it is known, and where to look. */
function otherText(bytes: Uint8Array, contentType: string, otherwise: UnusableBody): UnusableBody {
  const charset = charsetIn(contentType);
  const says =
    charset === undefined
      ? otherwise.message
      : `a body that is not JSON in UTF-8; its Content-Type says ${charset}`;
  const [first, last] = [bytes.find(isWritten), bytes.findLast(isWritten)];
  const isJson = first !== undefined && "{[".includes(String.fromCharCode(first));
  if (!isJson) return charset === undefined ? otherwise : new UnusableBody(says);
  if (charset !== undefined || !isUtf8(bytes))
    return new UnusableBody(
      charset === undefined ? "a body that begins as JSON and is not UTF-8, perhaps ISO-8859-1" : says,
      "JSON is in UTF-8 (RFC 8259): ask the service's operator to send that.",
    );
  const isWhole = last !== undefined && "]}".includes(String.fromCharCode(last));
  return isWhole
    ? otherwise
    : new UnusableBody(
        "a body that begins as JSON and ends in the middle of it",
        "Its Content-Length may be too small: ask the service's operator, or look for a proxy that cuts bodies.",
      );
}

/** Not white space, nor what UTF-16 and byte order marks put around a character. */
function isWritten(byte: number): boolean {
  return byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf && byte !== 0xfe && byte !== 0xff;
}

/** No other text of the header is repeated. */
const ENCODINGS: ReadonlySet<string> = new Set(["br", "compress", "deflate", "gzip", "x-gzip", "zstd"]);

function encodingName(headers: HttpResponse["headers"]): string {
  const names = encodingsIn(headers.get("content-encoding")?.join(",") ?? "");
  const areKnown = names.length > 0 && names.length <= 3 && names.every((name) => ENCODINGS.has(name));
  return areKnown ? `the content encoding ${names.join(", ")}` : "a content encoding that is not known";
}

/** A character set other than UTF-8, by a name that the Encoding Standard knows: nothing else of the header is repeated. */
function charsetIn(contentType: string): string | undefined {
  const [, label = ""] = /;\s*charset\s*=\s*"?([\w.:-]{1,40})"?\s*(?:;|$)/i.exec(contentType) ?? [];
  try {
    const { encoding } = new TextDecoder(label);
    return encoding === "utf-8" ? undefined : label.toLowerCase();
  } catch {
    return undefined;
  }
}

/** Whether a redirect stays with the service. Behind a load balancer that ends TLS, services say `http:` for `https:`. */
function leadsWithin(
  { headers }: Pick<HttpResponse, "headers">,
  { href, origin }: Pick<Address, "href" | "origin">,
): boolean {
  const location = headers.get("location")?.[0];
  const target = location === undefined ? null : parseUrl(location, href)?.origin;
  return target === origin || target?.replace(/^http:/, "https:") === origin;
}

/** Does not advise to use the target: a forged response could point to a server that collects credentials. */
export function redirected(
  request: string,
  url: Address,
  response: HttpResponse,
  address: AddressSetting = "baseUrl",
): SyncError {
  const { status, headers } = response;
  const location = headers.get("location")?.[0];
  const to = location === undefined ? null : parseUrl(location, url.href);
  const target =
    location === undefined
      ? "nowhere (no Location header)"
      : to?.origin === url.origin
        ? `another path of ${url.origin}`
        : shownOrigin(to);
  const isSlash = to !== null && (to.pathname === `${url.pathname}/` || `${to.pathname}/` === url.pathname);
  const fields = { request, status, target };
  const what = `${request} was answered with status ${status}, a redirect to ${target}, which is not followed`;
  if (location === undefined)
    return new SyncError("UNEXPECTED_RESPONSE", `${what}.`, {
      fields,
      next: `Look for a cache or a proxy that answers instead of ${peerOf(address)}; if there is none, ask the service's operator.`,
    });
  if (!leadsWithin(response, url))
    return new AddressDoubt(
      "UNEXPECTED_RESPONSE",
      `${what} because the credentials belong to the address of ${peerOf(address)} only.`,
      {
        ifNew: "Ask the service's operator for the right address; do not copy it from a response.",
        fields,
      },
    );
  const events = /^.*\/v1\/events\/(?=[^/]+$)/.exec(url.pathname)?.[0];
  const isEvent = events !== undefined && to?.pathname.startsWith(events);
  const why = isSlash ? SLASH : isEvent ? OTHER_EVENT : LOGIN_PAGE;
  return new AddressDoubt("UNEXPECTED_RESPONSE", `${what}. ${why}`, {
    ifNew: advise`Check ${setting(address)}; if it is right, ask the service's operator.`,
    fields,
  });
}

const SLASH =
  "It adds a slash to the end of the path or takes it away, so the path is not the one that the interface names.";
const OTHER_EVENT =
  "It leads to another address of events, perhaps because this one was merged with another.";
const LOGIN_PAGE =
  "It stays within the service and probably leads to a login page, because the session, token or password of this " +
  "request was not accepted, the account may not use the interface, or the address is that of pages for people.";

/** A host name has at most 255 characters (RFC 1035 §2.3.4). */
const MAX_ORIGIN = 300;

/** Where something leads that a service has sent: no more than the origin, because the rest may hold a secret. */
export function shownOrigin(url: URL | null): string {
  const isAddress = url?.protocol === "https:" || url?.protocol === "http:";
  return isAddress && url.origin.length <= MAX_ORIGIN ? url.origin : "something that is not a web address";
}
