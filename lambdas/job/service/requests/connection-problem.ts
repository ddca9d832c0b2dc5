// Why there is no connection that carries a response: what time may heal, and what a person does about the rest.

import { type Advice, advise, inOrder, setting } from "../../errors/advice.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { type Address, NoResponse } from "../http/transport.ts";
import { type AddressSetting, peerOf } from "./address-doubt.ts";

/** A request that failed so many times. `address`: what says where it goes. */
export interface FailedRequest {
  readonly request: string;
  readonly url: Pick<Address, "href">;
  readonly failures: number;
  readonly address?: AddressSetting;
}

/** The error for a connection that no retry can fix; undefined for others. @param hasResponded the server, in this run */
export function permanentProblem(
  { request, url: { href }, failures, address = "baseUrl" }: FailedRequest,
  failure: Error,
  hasResponded: boolean,
): SyncError | undefined {
  if (!(failure instanceof NoResponse)) return undefined;
  const { reason, proxy } = failure;
  const problems = hasResponded ? ALWAYS : [...ALWAYS, ...AT_FIRST];
  const [, says, todo] = problems.find(([codes]) => codes.test(reason)) ?? [];
  if (says === undefined || todo === undefined) return undefined;
  const isProxy = proxy !== undefined;
  const problem = says
    .replaceAll("{peer}", () => (isProxy ? `the proxy ${proxy}` : new URL(href).host))
    .replaceAll("{code}", () => `(${reason})`);
  const perhaps = reason === "ENOTFOUND" && !isProxy ? PERHAPS_PROXY : undefined;
  return new SyncError("SERVICE_UNAVAILABLE", `${request} failed: ${problem}`, {
    fields: { request, attempts: failures, cause: reason, status: null },
    next: inOrder(todo(isProxy ? PROXY : [setting(address)]), perhaps),
  });
}

const PROXY: Advice = ["HTTPS_PROXY"];

/** Codes, what they mean, with the peer and the code in brackets, and what to do: with the setting that says where the peer is. */
type Problems = readonly (readonly [
  codes: RegExp,
  says: string,
  todo: (setting: Advice) => Advice | string,
])[];

/** OpenSSL's codes for a certificate, and answers of a proxy; `UNSPECIFIED` is Node.js's word for all that it has no code for. */
const ALWAYS: Problems = [
  [
    /^CERT_UNTRUSTED$|^(?:DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_GET_ISSUER_CERT/,
    "the certificate of {peer} is not from an authority that this machine trusts {code}.",
    (place) =>
      advise`If your network or the service uses a private certificate authority, set the environment variable NODE_EXTRA_CA_CERTS to the path of its certificate (PEM). Otherwise check ${place}.`,
  ],
  [
    /^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/,
    "the certificate of {peer} came without that of its issuer, which browsers may find themselves {code}.",
    () =>
      "Ask the operator to send the whole chain, with its intermediate certificates. Until then, or for a private authority, set the environment variable NODE_EXTRA_CA_CERTS to the path of the issuer's certificate (PEM).",
  ],
  [
    /^CERT_TOO_WEAK$/,
    "the certificate of {peer}, or that of its authority, is too weak {code}.",
    () =>
      "Ask the operator for a new one: RSA with 2,048 bits or more, or an elliptic curve, signed with SHA-256.",
  ],
  [
    /^CERT_HAS_EXPIRED$|^CERT_NOT_YET_VALID$/,
    "the certificate of {peer} is not valid now {code}.",
    () => "Check this machine's clock. If it is right, ask the operator.",
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$|^HOSTNAME_MISMATCH$/,
    "the certificate of {peer} is for other hosts {code}.",
    (place) => advise`Check the host of ${place}.`,
  ],
  [
    /^(?:ERR_TLS_)?CERT_|^CRL_|^INVALID_(?:CA|PURPOSE)$|^PATH_LENGTH_EXCEEDED$|^UNABLE_TO_DE|^UNSPECIFIED$/,
    "the certificate of {peer} is not valid {code}.",
    () => "Ask the operator.",
  ],
  [
    /^PROXY_WITHOUT_BASIC$/,
    "{peer} accepts only logins such as Negotiate or NTLM (status 407), and this program can only send a user name and a password (Basic).",
    () =>
      "Ask your network's operator for access with Basic or without a login; or run a program such as Px or cntlm, which logs in for you, and set HTTPS_PROXY to its address.",
  ],
  [
    /^PROXY_STATUS_407$/,
    "{peer} requires a user name and a password, or refused them (status 407).",
    () => "Set HTTPS_PROXY with both: http://user:password@host:port, special characters percent-encoded.",
  ],
  [
    /^PROXY_STATUS_403$/,
    "{peer} does not permit connections to the service (status 403).",
    () => "Ask your network's operator.",
  ],
];

const PORT = (place: Advice): Advice =>
  advise`Check the port of ${place}, and whether it begins with https:.`;

/** Each server that has never responded does so each time. OpenSSL's codes differ in how they begin. */
const AT_FIRST: Problems = [
  [
    /PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$|VERSION_TOO_LOW$|UNSAFE_LEGACY_RENEGOTIATION_DISABLED$|KEY_TOO_SMALL$|MD_TOO_WEAK$/,
    "{peer} has only an outdated TLS {code}. This program needs TLS 1.2 or 1.3, with keys of 2,048 bits or more or elliptic curves.",
    () => "Ask the operator to enable that.",
  ],
  [
    /ALERT_(?:CERTIFICATE_(?:REQUIRED|UNKNOWN)|(?:NO|BAD|UNSUPPORTED)_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|NO_APPLICATION_PROTOCOL)$|HANDSHAKE_FAILURE$|INSUFFICIENT_SECURITY$|NO_CIPHERS_AVAILABLE$|(?:UNKNOWN|WRONG)_CIPHER_RETURNED$|UNRECOGNIZED_NAME$/,
    "{peer} refuses the TLS connection {code}: it has only outdated ciphers, requires a client certificate or HTTP/2, or does not know this host.",
    (place) =>
      advise`Check the host of ${place}. If it is right, ask the operator which of these it is; this program has no client certificate, and speaks HTTP/1.1.`,
  ],
  [/^ERR_SSL_WRONG_VERSION_NUMBER$|^EPROTO$/, "{peer} does not use TLS {code}.", PORT],
  [/^NOT_HTTP$/, "{peer} answers, but not in HTTP {code}.", PORT],
  [/^ENOTFOUND$/, "{peer} was not found {code}: there is no such host.", (place) => advise`Check ${place}.`],
];

const PERHAPS_PROXY =
  "If this network reaches the internet through a proxy, set the environment variable HTTPS_PROXY.";

/** What a person does after the last attempt; `ifKnown` where the address is right, if that makes a difference. */
export function connectionRemedy(
  { reason, proxy, isAnswer }: NoResponse,
  address: AddressSetting,
): { readonly ifNew: Advice; readonly ifKnown?: string } {
  const again = "then run again";
  if (reason === "EAI_AGAIN")
    return {
      ifNew: inOrder(
        `No DNS server answered. Check the network of this machine, ${again}.`,
        proxy === undefined ? PERHAPS_PROXY : undefined,
      ),
    };
  if (proxy !== undefined)
    return {
      ifNew: [
        `Check the proxy ${proxy}, which HTTPS_PROXY names, ${again}. To reach the service directly, add its host to NO_PROXY.`,
      ],
    };
  const peer = peerOf(address);
  if (isAnswer)
    return {
      ifNew: advise`Check ${setting(address)}, and look for a proxy between here and ${peer} that changes headers, ${again}. If there is none, ask the service's operator: a browser may accept more than HTTP allows, this program does not.`,
      ifKnown: `Look for a proxy between here and ${peer} that changes headers, ${again}. A browser may accept more than HTTP allows, this program does not.`,
    };
  return {
    ifNew: advise`Check ${setting(address)} and the network between here and ${peer}, ${again}.`,
    ifKnown: `Check the network between here and ${peer}, ${again}.`,
  };
}

const UNANSWERED =
  /^(?:CONNECTION_LOST|EAI_AGAIN|ECONNABORTED|ECONNREFUSED|ECONNRESET|EHOSTDOWN|EHOSTUNREACH|ENETDOWN|ENETUNREACH|EPIPE|ETIMEDOUT|TIMED_OUT|UND_ERR_CONNECT_TIMEOUT)$/;

/** Whether time alone may help. An unknown host, TLS and a proxy wait for a person. */
export function isUnanswered(failure: Error): boolean {
  return failure instanceof NoResponse && failure.proxy === undefined && UNANSWERED.test(failure.reason);
}

/**
 * For the log. A start without a terminal keeps trying while a server gives no response at all: a computer that has just
 * woken up has no network yet, a service may be down for some minutes, and no person is there to start again.
 */
export function keepsTrying(request: string, failure: Error, leftMs: number): string {
  const minutes = Math.ceil(leftMs / 60_000);
  return `${request}: ${failure.message}. A run without a terminal keeps trying, for at most ${minutes} min more`;
}
