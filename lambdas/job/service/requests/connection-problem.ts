// Says what is wrong with a connection, and which problems no retry can fix.

import { SyncError } from "../../errors/sync-error.ts";

export interface NoResponseFailure {
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
export interface UnansweredRequest {
  readonly request: string;
  readonly url: URL;
  readonly failures: number;
  readonly addressOption?: AddressOption;
}

export type AddressOption = "--base-url" | "--auth-url";

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
