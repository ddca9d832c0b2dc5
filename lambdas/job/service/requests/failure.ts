// Why an attempt failed, and the errors for what no retry can fix.

import { type ErrorCode, SyncError } from "../../errors/sync-error.ts";
import { parseUrl } from "../../network/hosts.ts";
import { type Address, type HttpResponse, NoResponse, TIMED_OUT } from "../http/transport.ts";

/** A retry may succeed. */
export type Failure = NoResponse | UnusableBody | BadStatus;

/** A 2xx body that is unusable. Never quotes the body. */
export class UnusableBody extends Error {
  override readonly name = "UnusableBody";
  readonly kind = "body";
  readonly remedy: string;
  /** Why it is not whole: a short code. */
  readonly cutBy: string | undefined;
  /** Of the error after the last attempt. */
  readonly code: ErrorCode;

  constructor(
    why: string,
    remedy = "Check that --base-url is the service itself and not a web page.",
    { code = "SERVICE_UNAVAILABLE", cutBy }: { readonly code?: ErrorCode; readonly cutBy?: string } = {},
  ) {
    super(why);
    this.remedy = remedy;
    this.code = code;
    this.cutBy = cutBy;
  }
}

export class BadStatus extends Error {
  override readonly name = "BadStatus";
  readonly kind = "status";
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** In place of the usual one. */
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

export function isFailure(error: unknown): error is Failure {
  return error instanceof NoResponse || error instanceof UnusableBody || error instanceof BadStatus;
}

export function isThrottled(failure: Failure): boolean {
  return failure.kind === "status" && failure.status === 429;
}

export function isTimeOut(failure: Failure): boolean {
  if (failure.kind === "no-response") return failure.reason === TIMED_OUT;
  return failure.kind === "body" && failure.cutBy === TIMED_OUT;
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
export function unexpectedStatus(request: string, status: number): SyncError {
  const meaning = isSessionOver(status)
    ? "by which some services say that they do not accept the session"
    : "for which the interface gives no meaning";
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${status}, ${meaning}. Check --base-url: it is the address before /v1. If it ` +
      "is right, ask the service's operator.",
    { fields: { request, status } },
  );
}

/** OpenSSL's codes for a certificate that is not from an authority that this machine trusts. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

const NOT_TLS: ReadonlySet<string> = new Set(["ERR_SSL_WRONG_VERSION_NUMBER", "EPROTO"]);

/** What servers do that expect TLS and get plain HTTP. */
const NOT_PLAIN: ReadonlySet<string> = new Set(["CONNECTION_LOST", "NOT_HTTP"]);

/** A request that failed so many times. `addressOption`: what says where it goes. */
interface FailedRequest {
  readonly request: string;
  readonly url: Pick<Address, "href">;
  readonly failures: number;
  readonly addressOption?: AddressOption;
}

type AddressOption = "--base-url" | "--auth-url";

/** The error for a connection that no retry can fix; undefined for others. @param hasResponded the server, in this run */
export function permanentProblem(
  { request, url: { href }, failures, addressOption = "--base-url" }: FailedRequest,
  failure: Failure,
  hasResponded: boolean,
): SyncError | undefined {
  if (failure.kind !== "no-response") return undefined;
  const { reason, proxy } = failure;
  const url = new URL(href);
  const problem =
    proxy === undefined
      ? (tlsProblem(url.host, reason, addressOption) ??
        serviceProblem(url, reason, hasResponded, addressOption))
      : (tlsProblem(`the proxy ${proxy}`, reason, "HTTPS_PROXY") ?? proxyProblem(proxy, reason));
  if (problem === undefined) return undefined;
  return new SyncError("SERVICE_UNAVAILABLE", `${request} failed: ${problem}`, {
    fields: { request, attempts: failures, cause: reason, status: null },
  });
}

function tlsProblem(peer: string, reason: string, setting: string): string | undefined {
  if (UNTRUSTED.has(reason)) {
    return (
      `the certificate of ${peer} is not from an authority that this machine trusts (${reason}). If your network or the ` +
      "service uses a private certificate authority, set the environment variable NODE_EXTRA_CA_CERTS to the path of " +
      `its certificate (PEM). Otherwise check ${setting}.`
    );
  }
  if (reason === "CERT_HAS_EXPIRED" || reason === "CERT_NOT_YET_VALID") {
    const when = reason === "CERT_HAS_EXPIRED" ? "has expired" : "is not valid yet";
    return `the certificate of ${peer} ${when} (${reason}). Check this machine's clock. If it is right, ask the operator.`;
  }
  if (reason === "ERR_TLS_CERT_ALTNAME_INVALID" || reason === "HOSTNAME_MISMATCH") {
    return `the certificate of ${peer} is for other hosts (${reason}). Check the host of ${setting}.`;
  }
  if (/^(?:ERR_TLS_)?CERT_|^INVALID_(?:CA|PURPOSE)$/.test(reason)) {
    return `the certificate of ${peer} is not valid (${reason}). Ask the operator.`;
  }
  if (NOT_TLS.has(reason)) {
    return `${peer} does not use TLS (${reason}). Check the port of ${setting}, and whether it begins with https:.`;
  }
  return undefined;
}

function serviceProblem(
  url: URL,
  reason: string,
  hasResponded: boolean,
  addressOption: AddressOption,
): string | undefined {
  if (hasResponded) return undefined;
  if (url.protocol === "http:" && NOT_PLAIN.has(reason)) {
    return `${url.host} does not answer plain HTTP (${reason}). If it uses TLS, ${addressOption} must begin with https:.`;
  }
  if (reason !== "ENOTFOUND") return undefined;
  return (
    `the host ${url.hostname} was not found (ENOTFOUND). Check ${addressOption}. If this network reaches the internet through ` +
    "a proxy, set the environment variable HTTPS_PROXY."
  );
}

function proxyProblem(proxy: string, reason: string): string | undefined {
  switch (reason) {
    case "PROXY_STATUS_407":
      return (
        `the proxy ${proxy} requires a user name and a password, or refused them (status 407). Set HTTPS_PROXY with both: ` +
        "http://user:password@host:port, special characters percent-encoded."
      );
    case "PROXY_STATUS_403":
      return `the proxy ${proxy} does not permit connections to the service (status 403). Ask your network's operator.`;
    case "ENOTFOUND":
      return `the host of the proxy ${proxy} was not found (ENOTFOUND). Check HTTPS_PROXY.`;
    default:
      return undefined;
  }
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
  if (failure.kind === "no-response") {
    const { proxy } = failure;
    return proxy === undefined
      ? `Check ${addressOption} and the network between here and the service, then run again.`
      : `Check the proxy ${proxy}, which HTTPS_PROXY names, then run again. To reach the service directly, add its host ` +
          "to NO_PROXY.";
  }
  if (failure.remedy !== undefined) return `${failure.remedy} Then run again.`;
  if (isThrottled(failure)) {
    return "Run again later, and lower --requests-per-minute to what the service's operator allows you.";
  }
  const peer = addressOption === "--base-url" ? "service" : "identity provider";
  return `The problem is on the ${peer}'s side: run again later.`;
}

/** A 429 that is not retried. @param waitMs what `Retry-After` says */
export function throttled(request: string, waitMs: number | undefined): SyncError {
  const wait = waitMs === undefined ? "Run again later" : `Run again in ${Math.ceil(waitMs / 1_000)} s`;
  return new SyncError("THROTTLED", `${request} was answered with status 429: too many requests. ${wait}.`, {
    fields: { request, status: 429 },
  });
}

/** A host name has at most 255 characters (RFC 1035 §2.3.4). */
const MAX_SHOWN = 300;

/** Whether a redirect stays with the service. Behind a load balancer that ends TLS, services say `http:` for `https:`. */
export function leadsWithin(
  { headers }: Pick<HttpResponse, "headers">,
  { href, origin }: Pick<Address, "href" | "origin">,
): boolean {
  const location = headers.get("location")?.[0];
  const target = location === undefined ? null : parseUrl(location, href)?.origin;
  return target === origin || target?.replace(/^http:/, "https:") === origin;
}

function withinTheService(to: URL, { pathname }: Address, addressOption: AddressOption): string {
  return to.pathname === `${pathname}/` || `${to.pathname}/` === pathname
    ? "It adds a slash to the end of the path or takes it away, so the path is not the one that the interface names. " +
        `Check ${addressOption}; if it is right`
    : "It stays within the service and probably leads to a login page, because the session, token or password of this " +
        `request was not accepted. Check that the account may use the interface and that ${addressOption} is not the ` +
        "address of pages for people; if both are right";
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
  const target = location === undefined ? "nowhere (no Location header)" : shownTarget(to, url);
  const why =
    to !== null && leadsWithin(response, url)
      ? `. ${withinTheService(to, url, addressOption)}, ask the service's operator.`
      : ` because the credentials belong to ${addressOption} only. Ask the service's operator for the right address; do ` +
        "not copy it from a response.";
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${status}, a redirect to ${target}, which is not followed${why}`,
    { fields: { request, status, target } },
  );
}

/**
 * The origin only. At the origin that was asked also the path if the interface has it: the rest may be what the service
 * was sent, path parameters (";jsessionid=…") included.
 */
export function shownTarget(target: URL | null, asked: Pick<Address, "origin" | "pathname">): string {
  if (target?.protocol !== "https:" && target?.protocol !== "http:")
    return "something that is not a web address";
  const { origin, pathname } = target;
  if (origin.length > MAX_SHOWN) return "an address that is too long to show";
  if (origin !== asked.origin) return origin;
  const base = baseOf(asked.pathname);
  return base !== undefined && base === baseOf(pathname) ? origin + pathname : `another path of ${origin}`;
}

/** What stands before a path of the interface; undefined for every other path. */
function baseOf(pathname: string): string | undefined {
  const own = OWN_PATH.exec(pathname);
  return own === null ? undefined : pathname.slice(0, own.index);
}

/** docs/service-interface.md §3, at the end of a path. */
const OWN_PATH =
  /\/(?:v1\/(?:auth\/login|events(?:\/[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12})?)|oauth\/token)\/?$/;
