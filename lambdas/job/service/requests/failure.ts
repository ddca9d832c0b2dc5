// Why an attempt failed, and the error that ends the run after the last attempt.

import { SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/random.ts";
import type { Address } from "../endpoint.ts";
import type { HttpResponse } from "../http/transport.ts";

export type Failure =
  | NoResponseFailure
  | { readonly kind: "status"; readonly status: number; readonly retryAfterMs: number | undefined }
  /** A 2xx with an unusable body. Neither text quotes the body. */
  | { readonly kind: "body"; readonly why: string; readonly remedy: string };

/** A 2xx body that is unusable; a retry may succeed. Never quotes the body. */
export class UnusableBody extends Error {
  override readonly name = "UnusableBody";
  readonly remedy: string;

  constructor(why: string, remedy = "Check that --base-url is the service itself and not a web page.") {
    super(why);
    this.remedy = remedy;
  }
}

/** The name of a request in messages and logs: without the query, which may hold more than the path. */
export function requestName(method: string, url: Pick<Address, "pathname">): string {
  return `${method} ${url.pathname}`;
}

export function describeFailure(failure: Failure): string {
  switch (failure.kind) {
    case "no-response":
      return failure.proxy === undefined
        ? `no response (${failure.reason})`
        : `no connection through the proxy ${failure.proxy} (${failure.reason})`;
    case "status":
      return `status ${failure.status}`;
    case "body":
      return failure.why;
  }
}

/** `THROTTLED` when the last response was 429, else `SERVICE_UNAVAILABLE`. */
export function attemptsExhausted(request: string, failure: Failure): SyncError {
  const throttled = failure.kind === "status" && failure.status === 429;
  return new SyncError(
    throttled ? "THROTTLED" : "SERVICE_UNAVAILABLE",
    `${request} failed ${ATTEMPTS} times, the last time with ${describeFailure(failure)}. ${remedy(failure)}`,
    {
      fields: {
        request,
        attempts: ATTEMPTS,
        cause: failure.kind === "no-response" ? failure.reason : failure.kind,
        status: failure.kind === "status" ? failure.status : null,
      },
    },
  );
}

function remedy(failure: Failure): string {
  if (failure.kind === "no-response") return connectionRemedy(failure);
  if (failure.kind === "body") return `${failure.remedy} Then run again.`;
  if (failure.status === 429) {
    return "Run again later, and lower --requests-per-minute to what the service's operator allows you.";
  }
  return "The problem is on the service's side: run again later.";
}

/** A status without a meaning for the request (docs/service-interface.md §6). */
export function unexpectedStatus(request: string, status: number): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${status}, for which the interface gives no meaning. Check --base-url: it is ` +
      "the address before /v1. If it is right, ask the service's operator.",
    { fields: { request, status } },
  );
}

/** Says what is wrong with a connection, and which problems no retry can fix. */
interface NoResponseFailure {
  readonly kind: "no-response";
  /** A short code, such as `ECONNREFUSED`. */
  readonly reason: string;
  /** The proxy that opened no tunnel, without credentials; undefined if none is at fault. */
  readonly proxy: string | undefined;
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

/** The request that got no response. `addressOption`: what says where it goes. */
interface UnansweredRequest {
  readonly request: string;
  readonly url: URL;
  readonly failures: number;
  readonly addressOption?: AddressOption;
}

type AddressOption = "--base-url" | "--auth-url";

/** The error for a problem that no retry can fix; undefined for others. @param hasResponded the server, in this run */
export function permanentProblem(
  { request, url, failures, addressOption = "--base-url" }: UnansweredRequest,
  failure: NoResponseFailure,
  hasResponded: boolean,
): SyncError | undefined {
  const { reason, proxy } = failure;
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

/** For the error after the last attempt. */
export function connectionRemedy(
  { proxy }: NoResponseFailure,
  addressOption: AddressOption = "--base-url",
): string {
  return proxy === undefined
    ? `Check ${addressOption} and the network between here and the service, then run again.`
    : `Check the proxy ${proxy}, which HTTPS_PROXY names, then run again. To reach the service directly, add its host ` +
        "to NO_PROXY.";
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

/** Decides by its status what to do with a response, and how long to wait before the next attempt. */
export const ATTEMPTS = 6;

const SOON_MS = 25;
const SOON_SPREAD_MS = 50;
const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
const MAX_BEYOND_MINUTE_MS = 13.5 * 60_000;

type StatusClass = "read" | "renew" | "retry" | "redirect" | "refused";

/** `read`: use the body; `renew`: the credentials are stale; `refused`: the request's own rules decide. */
export function statusClass(status: number): StatusClass {
  if (status >= 200 && status < 300) return "read";
  if (status === 401) return "renew";
  if (status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600)) return "retry";
  if (status >= 300 && status < 400) return "redirect";
  return "refused";
}

/** Before the first retry of a request that failed alone: 25 to 75 ms. */
export function soonMs(random: Random): number {
  return SOON_MS + Math.floor(random.next() * SOON_SPREAD_MS);
}

/** Exponential back-off with full jitter: anything from 0 to 1 s, 2 s, 4 s … 30 s after 1, 2, 3 … failures. */
export function retryDelayMs(failures: number, random: Random): number {
  return jittered(failures, BASE_DELAY_MS, MAX_DELAY_MS, random);
}

/**
 * The same after a 429 that does not say how long to wait. A service that averages its limits over a window longer than
 * a minute may refuse for minutes: five pauses in a row are together up to about such a window, but no more than 15
 * minutes.
 */
export function throttledDelayMs(failures: number, windowMs: number, random: Random): number {
  const beyondMinuteMs = Math.min(Math.max(0, windowMs - 60_000), MAX_BEYOND_MINUTE_MS);
  const baseMs = BASE_DELAY_MS + beyondMinuteMs / 30;
  return jittered(failures, baseMs, Math.max(MAX_DELAY_MS, 16 * baseMs), random);
}

function jittered(failures: number, baseMs: number, mostMs: number, random: Random): number {
  const ceilingMs = Math.min(mostMs, baseMs * 2 ** (Math.max(1, failures) - 1));
  return Math.floor(random.next() * ceilingMs);
}

/**
 * The wait that `Retry-After` asks for (RFC 9110 §10.2.3), undefined if it is absent or invalid. A date is measured
 * against the `Date` of the response, so that a wrong clock on either side does not matter.
 */
export function retryAfterMs(headers: HttpResponse["headers"], nowMs: number): number | undefined {
  const value = headers.get("retry-after")?.[0]?.trim() ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const untilMs = httpDateMs(value);
  if (untilMs === undefined) return undefined;
  const sinceMs = httpDateMs(headers.get("date")?.[0]?.trim() ?? "") ?? nowMs;
  return Math.max(0, untilMs - sinceMs);
}

// RFC 9110 §5.6.7: recipients accept all three forms. `Date.parse` alone would accept "5 s" as well.
const IMF_OR_RFC850 = /^[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -](?:\d{4}|\d{2}) \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

function httpDateMs(text: string): number | undefined {
  if (!IMF_OR_RFC850.test(text) && !ASCTIME.test(text)) return undefined;
  const ms = Date.parse(ASCTIME.test(text) ? `${text} GMT` : text);
  return Number.isNaN(ms) ? undefined : ms;
}
