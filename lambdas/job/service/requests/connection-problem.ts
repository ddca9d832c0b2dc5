// Why there is no connection that carries a response, and what a person does about it: TLS, host names, proxies.

import { SyncError } from "../../errors/sync-error.ts";
import { type Address, NoResponse } from "../http/transport.ts";

export type AddressOption = "--base-url" | "--auth-url";

/** In words: what an address is that of. */
export function peerOf(addressOption: AddressOption): string {
  return addressOption === "--base-url" ? "the service" : "the identity provider";
}

/** A request that failed so many times. `addressOption`: what says where it goes. */
export interface FailedRequest {
  readonly request: string;
  readonly url: Pick<Address, "href">;
  readonly failures: number;
  readonly addressOption?: AddressOption;
}

/** The error for a connection that no retry can fix; undefined for others. @param hasResponded the server, in this run */
export function permanentProblem(
  { request, url: { href }, failures, addressOption = "--base-url" }: FailedRequest,
  failure: Error,
  hasResponded: boolean,
): SyncError | undefined {
  if (!(failure instanceof NoResponse)) return undefined;
  const { reason, proxy } = failure;
  const url = new URL(href);
  const [peer, setting] =
    proxy === undefined ? [url.host, addressOption] : [`the proxy ${proxy}`, "HTTPS_PROXY"];
  const atFirst = (): string | undefined =>
    handshakeProblem(peer, reason, setting) ??
    (proxy === undefined ? serviceProblem(url, reason, setting) : undefined);
  const problem =
    certificateProblem(peer, reason, setting) ??
    (proxy === undefined ? undefined : proxyProblem(proxy, reason)) ??
    (hasResponded ? undefined : atFirst());
  if (problem === undefined) return undefined;
  return new SyncError("SERVICE_UNAVAILABLE", `${request} failed: ${problem}`, {
    fields: { request, attempts: failures, cause: reason, status: null },
  });
}

/** OpenSSL's codes for a certificate that is not from an authority that this machine trusts. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);

/** Its codes for one that is too weak. */
const WEAK: Readonly<Record<string, string>> = {
  EE_KEY_TOO_SMALL: "its key is too short",
  CA_KEY_TOO_SMALL: "the key of its authority is too short",
  CA_MD_TOO_WEAK: "it is signed with an outdated method such as SHA-1",
};

/** Those of the certificate itself; `UNSPECIFIED` is Node.js's word for all that it has no code for. */
const INVALID =
  /^(?:ERR_TLS_)?CERT_|^CRL_|^INVALID_(?:CA|PURPOSE)$|^PATH_LENGTH_EXCEEDED$|^UNABLE_TO_DE|^UNSPECIFIED$/;

function certificateProblem(peer: string, reason: string, setting: string): string | undefined {
  const certificate = `the certificate of ${peer}`;
  if (UNTRUSTED.has(reason)) {
    return (
      `${certificate} is not from an authority that this machine trusts (${reason}). If your network or the ` +
      "service uses a private certificate authority, set the environment variable NODE_EXTRA_CA_CERTS to the path of " +
      `its certificate (PEM). Otherwise check ${setting}.`
    );
  }
  if (reason === "UNABLE_TO_VERIFY_LEAF_SIGNATURE") {
    return (
      `${certificate} came without the certificate of its issuer, which this machine does not have (${reason}). ` +
      "Browsers may work nevertheless, because they look for a missing certificate themselves. Ask the operator to send " +
      "the whole chain, with its intermediate certificates. Until then, or for a private certificate authority, set the " +
      "environment variable NODE_EXTRA_CA_CERTS to the path of the issuer's certificate (PEM)."
    );
  }
  const weakness = WEAK[reason];
  if (weakness !== undefined) {
    return (
      `${certificate} is too weak (${reason}): ${weakness}. Ask the operator for a new one: RSA with 2,048 bits or ` +
      "more, or an elliptic curve, signed with SHA-256."
    );
  }
  if (reason === "CERT_HAS_EXPIRED" || reason === "CERT_NOT_YET_VALID") {
    const when = reason === "CERT_HAS_EXPIRED" ? "has expired" : "is not valid yet";
    return `${certificate} ${when} (${reason}). Check this machine's clock. If it is right, ask the operator.`;
  }
  if (reason === "ERR_TLS_CERT_ALTNAME_INVALID" || reason === "HOSTNAME_MISMATCH")
    return `${certificate} is for other hosts (${reason}). Check the host of ${setting}.`;
  return INVALID.test(reason) ? `${certificate} is not valid (${reason}). Ask the operator.` : undefined;
}

/** A server that refuses the handshake like this does so each time. OpenSSL's codes differ in how they begin. */
const REFUSED: readonly (readonly [codes: RegExp, problem: (code: string, setting: string) => string])[] = [
  [
    /PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$|VERSION_TOO_LOW$|UNSAFE_LEGACY_RENEGOTIATION_DISABLED$/,
    (code) =>
      `has only an outdated TLS ${code}. This program needs TLS 1.2 or 1.3: ask the operator to enable one of them.`,
  ],
  [
    /KEY_TOO_SMALL$|MD_TOO_WEAK$/,
    (code) =>
      `uses a key that is too weak for TLS ${code}. Ask the operator for RSA and Diffie-Hellman keys of 2,048 bits or ` +
      "more, or for elliptic curves.",
  ],
  [
    /ALERT_(?:CERTIFICATE_REQUIRED|(?:NO|BAD|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_UNKNOWN|UNKNOWN_CA|ACCESS_DENIED)$/,
    (code, setting) =>
      `requires a client certificate ${code}, which this program does not have. Check ${setting}. If it is right, ask ` +
      "the operator for an address that requires none.",
  ],
  [
    /HANDSHAKE_FAILURE$|INSUFFICIENT_SECURITY$|NO_CIPHERS_AVAILABLE$|(?:UNKNOWN|WRONG)_CIPHER_RETURNED$/,
    (code, setting) =>
      `refuses the TLS connection ${code}: it has only outdated ciphers, or requires a client certificate, or does not ` +
      `know this host. Check the host of ${setting}. If it is right, ask the operator which of these it is; this program ` +
      "has no client certificate.",
  ],
  [
    /NO_APPLICATION_PROTOCOL$/,
    (code) => `does not speak HTTP/1.1 ${code}, which this program needs. Ask the operator to enable it.`,
  ],
  [/UNRECOGNIZED_NAME$/, (code, setting) => `does not know this host ${code}. Check the host of ${setting}.`],
  [
    /^ERR_SSL_WRONG_VERSION_NUMBER$|^EPROTO$/,
    (code, setting) =>
      `does not use TLS ${code}. Check the port of ${setting}, and whether it begins with https:.`,
  ],
];

function handshakeProblem(peer: string, reason: string, setting: string): string | undefined {
  if (!reason.startsWith("ERR_SSL_") && reason !== "EPROTO") return undefined;
  const [, problem] = REFUSED.find(([codes]) => codes.test(reason)) ?? [];
  return problem && `${peer} ${problem(`(${reason})`, setting)}`;
}

function serviceProblem(
  { protocol, host, hostname }: URL,
  reason: string,
  setting: string,
): string | undefined {
  if (reason === "NOT_HTTP") {
    const tls = protocol === "http:" ? ` If it uses TLS, ${setting} must begin with https:.` : "";
    return `${host} answers, but not in HTTP (NOT_HTTP). Check the port of ${setting}.${tls}`;
  }
  if (reason === "CONNECTION_LOST" && protocol === "http:")
    return `${host} does not answer plain HTTP (CONNECTION_LOST). If it uses TLS, ${setting} must begin with https:.`;
  if (reason !== "ENOTFOUND") return undefined;
  return `the host ${hostname} was not found (ENOTFOUND). Check ${setting}. ${PERHAPS_PROXY}`;
}

const PERHAPS_PROXY =
  "If this network reaches the internet through a proxy, set the environment variable HTTPS_PROXY.";

function proxyProblem(proxy: string, reason: string): string | undefined {
  switch (reason) {
    case "PROXY_WITHOUT_BASIC":
      return (
        `the proxy ${proxy} accepts only logins such as Negotiate or NTLM (status 407), and this program can only send a ` +
        "user name and a password (Basic). Ask your network's operator for access with Basic or without a login; or run a " +
        "program such as Px or cntlm, which logs in for you, and set HTTPS_PROXY to its address."
      );
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

/** What a person does after the last attempt. */
export function connectionRemedy({ reason, proxy, isAnswer }: NoResponse, setting: AddressOption): string {
  const again = "then run again";
  if (reason === "EAI_AGAIN") {
    const [whose, perhaps] = proxy === undefined ? ["the host", ` ${PERHAPS_PROXY}`] : ["the proxy", ""];
    return `The name of ${whose} could not be looked up, because no DNS server answered. Check the network of this machine, ${again}.${perhaps}`;
  }
  if (proxy !== undefined)
    return (
      `Check the proxy ${proxy}, which HTTPS_PROXY names, ${again}. To reach the service directly, add its host ` +
      "to NO_PROXY."
    );
  const peer = peerOf(setting);
  if (isAnswer)
    return (
      `Check ${setting}, and look for a proxy between here and ${peer} that changes headers, ${again}. If there is ` +
      "none, ask the service's operator: a browser may accept more than HTTP allows, this program does not."
    );
  return `Check ${setting} and the network between here and ${peer}, ${again}.`;
}
