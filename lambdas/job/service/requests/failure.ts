// Why an attempt failed, and the errors for what no retry can fix.

import { type ErrorCode, SyncError } from "../../errors/sync-error.ts";
import { parseUrl } from "../../network/proxies.ts";
import { encodingsIn } from "../http/response-collector.ts";
import type { Address, HttpResponse, NoResponse } from "../http/transport.ts";
import { type AddressOption, connectionRemedy, type FailedRequest, peerOf } from "./connection-problem.ts";

/** A retry may succeed. */
export type Failure = NoResponse | UnusableBody | BadStatus;

const NOT_THE_SERVICE =
  "Check that --base-url is the service itself and not a web page. If it is right, ask the service's operator.";

/** A 2xx body that is unusable. Never quotes the body. */
export class UnusableBody extends Error {
  override readonly name = "UnusableBody";
  readonly kind = "body";
  readonly remedy: string;
  /** Why it is not whole: a short code. */
  readonly cutBy: string | undefined;
  /** The code of the error after the last attempt. */
  readonly code: ErrorCode;

  constructor(
    why: string,
    remedy = NOT_THE_SERVICE,
    { code = "SERVICE_UNAVAILABLE", cutBy }: { readonly code?: ErrorCode; readonly cutBy?: string } = {},
  ) {
    super(why);
    this.remedy = remedy;
    this.code = code;
    this.cutBy = cutBy;
  }
}

/** One that is no JSON in UTF-8. */
export class NotJson extends UnusableBody {}

export class BadStatus extends Error {
  override readonly name = "BadStatus";
  readonly kind = "status";
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The remedy in place of the usual one. */
  readonly remedy: string | undefined;
  readonly code: ErrorCode;

  constructor(
    status: number,
    retryAfterMs?: number,
    remedy?: string,
    code: ErrorCode = status === 429 ? "THROTTLED" : "SERVICE_UNAVAILABLE",
  ) {
    super(`status ${status}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.remedy = remedy;
    this.code = code;
  }
}

export function isThrottled(failure: Failure): boolean {
  return failure.kind === "status" && failure.status === 429;
}

/** The name of a request in messages and logs: without the query, which may hold more than the path. */
export function requestName(method: string, url: Pick<Address, "pathname" | "shownPath">): string {
  return `${method} ${url.shownPath ?? url.pathname}`;
}

/** How some services say that a session is over or unknown. */
export function isSessionOver(status: number): boolean {
  return status === 419 || status === 440;
}

/** A status without a meaning for the request (docs/service-interface.md §6). */
export function unexpectedStatus(
  request: string,
  status: number,
  remedy = "Check --base-url: it is the address before /v1. If it is right, ask the service's operator.",
): SyncError {
  const meaning = isSessionOver(status)
    ? "by which some services say that they do not accept the session"
    : "for which the interface gives no meaning";
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${status}, ${meaning}. ${remedy}`,
    { fields: { request, status } },
  );
}

/** After the last attempt. `THROTTLED` when its response was 429, else `SERVICE_UNAVAILABLE` or what the failure says. */
export function attemptsExhausted(
  { request, failures, addressOption = "--base-url" }: Omit<FailedRequest, "url">,
  failure: Failure,
): SyncError {
  const code = failure.kind === "no-response" ? "SERVICE_UNAVAILABLE" : failure.code;
  const times = failures === 1 ? "" : ` ${failures} times, the last time`;
  const cause = failure.kind === "no-response" ? failure.reason : failure.kind;
  const status = failure.kind === "status" ? failure.status : null;
  return new SyncError(
    code,
    `${request} failed${times} with ${failure.message}. ${remedy(failure, addressOption)}`,
    { fields: { request, attempts: failures, cause, status } },
  );
}

function remedy(failure: Failure, addressOption: AddressOption): string {
  if (failure.kind === "no-response") return connectionRemedy(failure, addressOption);
  if (failure.remedy !== undefined) return `${failure.remedy} Then run again.`;
  if (isThrottled(failure)) {
    return "Run again later, and lower --requests-per-minute to what the service's operator allows you.";
  }
  if (failure.kind === "status" && failure.status === 503) {
    return `The problem is on ${peerOf(addressOption)}'s side: run again later. If it happens while other requests are answered, lower --requests-per-minute. If this address has never worked, check ${addressOption}.`;
  }
  return `The problem is on ${peerOf(addressOption)}'s side: run again later. If this address has never worked, check ${addressOption}.`;
}

/** A 429 that is not retried. @param waitMs what `Retry-After` says */
export function throttled(request: string, waitMs: number | undefined): SyncError {
  const wait = waitMs === undefined ? "Run again later" : `Run again in ${Math.ceil(waitMs / 1_000)} s`;
  return new SyncError("THROTTLED", `${request} was answered with status 429: too many requests. ${wait}.`, {
    fields: { request, status: 429 },
  });
}

/**
 * What came in place of JSON in a 2xx response, by what the response says of its body.
 * @param otherwise where it does not say more
 * @param addressOption what says where the request goes
 */
export function unusableBody(
  { status, headers, body, decodedBytes }: HttpResponse,
  otherwise: UnusableBody = new NotJson("a body that is not JSON"),
  addressOption: AddressOption = "--base-url",
): UnusableBody {
  const peer = peerOf(addressOption);
  const changed = `Look for a proxy between here and ${peer} that changes bodies. If there is none, ask the service's operator.`;
  const encoding = encodingName(headers);
  if (body.kind === "foreign") return new UnusableBody(`a body in ${encoding} (accepted: gzip, br)`, changed);
  if (body.kind === "broken") {
    const { cause: cutBy } = body;
    return cutBy === "UNDECODABLE"
      ? new UnusableBody(`a body that says it is in ${encoding}, and is not`, changed)
      : new UnusableBody(`a body that broke off (${cutBy})`, `Check the network between here and ${peer}.`, {
          cutBy,
        });
  }
  const { code, remedy } = otherwise;
  if (decodedBytes === 0)
    return new UnusableBody(status === 200 ? "an empty body" : `an empty body (status ${status})`, remedy, {
      code,
    });
  const type = headers.get("content-type")?.[0] ?? "";
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type))
    return new UnusableBody("a web page", remedy, { code });
  const charset = charsetIn(type);
  return charset === undefined
    ? otherwise
    : new UnusableBody(`a body that is not JSON in UTF-8; its Content-Type says ${charset}`, remedy, {
        code,
      });
}

/** No other text of the header is repeated. */
const ENCODINGS: ReadonlySet<string> = new Set(["br", "compress", "deflate", "gzip", "x-gzip", "zstd"]);

function encodingName(headers: HttpResponse["headers"]): string {
  const names = encodingsIn(headers.get("content-encoding")?.join(",") ?? "");
  const areKnown = names.length > 0 && names.length <= 3 && names.every((name) => ENCODINGS.has(name));
  return areKnown ? `the content encoding ${names.join(", ")}` : "a content encoding that is not known";
}

/** A character set other than UTF-8, as the Encoding Standard names it: nothing else of the header is repeated. */
function charsetIn(contentType: string): string | undefined {
  const [, label = ""] = /;\s*charset\s*=\s*"?([\w.:-]{1,40})"?\s*(?:;|$)/i.exec(contentType) ?? [];
  try {
    const { encoding } = new TextDecoder(label);
    return encoding === "utf-8" ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** Whether a redirect stays with the service. Behind a load balancer that ends TLS, services say `http:` for `https:`. */
export function leadsWithin(
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
  addressOption: AddressOption = "--base-url",
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
  const why =
    location === undefined
      ? `. Look for a cache or a proxy that answers instead of ${peerOf(addressOption)}; if there is none, ask the service's operator.`
      : leadsWithin(response, url)
        ? `. ${isSlash ? SLASH : LOGIN_PAGE} Check ${addressOption}; if it is right, ask the service's operator.`
        : ` because the credentials belong to ${addressOption} only. Ask the service's operator for the right address; do ` +
          "not copy it from a response.";
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${status}, a redirect to ${target}, which is not followed${why}`,
    { fields: { request, status, target } },
  );
}

const SLASH =
  "It adds a slash to the end of the path or takes it away, so the path is not the one that the interface names.";
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
