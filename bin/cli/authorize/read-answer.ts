// The identity provider's answer to an authorization request, as the browser brings it back (RFC 6749 §4.1.2).

import { createHash, timingSafeEqual } from "node:crypto";
import { type ErrorCode, SyncError } from "../../../lambdas/job/errors/sync-error.ts";

/** Whether these parameters are an answer at all. */
export function isAnswer(parameters: URLSearchParams): boolean {
  return Boolean(parameters.get("code")) || Boolean(parameters.get("error"));
}

/**
 * Whether it answers this attempt, or another, or does not say: a provider that knows only the documented parameters
 * returns no `state` (docs/service-interface.md §4.3).
 */
export function originOf(parameters: URLSearchParams, state: string): "own" | "foreign" | "unknown" {
  // RFC 6749 §3.1: no parameter comes twice.
  const isRepeated = ["code", "error", "state"].some((name) => parameters.getAll(name).length > 1);
  const given = parameters.get("state");
  if (isRepeated || (given !== null && !isEqual(given, state))) return "foreign";
  return given === null ? "unknown" : "own";
}

/**
 * The code of an answer that is not foreign. Throws `SyncError`, which never repeats a part of the answer but the kinds of
 * refusal that the RFC names.
 */
export function readAnswer(parameters: URLSearchParams, state: string): string {
  if (originOf(parameters, state) === "foreign") throw foreign();
  const error = parameters.get("error");
  if (error !== null) throw refused(error);
  return parameters.get("code") ?? "";
}

/** In constant time. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

function foreign(): SyncError {
  return new SyncError(
    "AUTHORIZATION_EXPIRED",
    "The answer does not belong to this authorization: its state is another one. It came from an earlier attempt, or from " +
      "another page. Nothing was stored. Start authorize again, and use the newest address only.",
  );
}

/** RFC 6749 §4.1.2.1. */
function refused(error: string): SyncError {
  const [code, message] = REFUSALS.get(error) ?? [
    "UNEXPECTED_RESPONSE",
    "The identity provider refused the authorization for a reason that OAuth 2.0 does not name. Check --auth-url, and ask the operator of the service.",
  ];
  return new SyncError(code, message);
}

const ASK_THE_OPERATOR =
  "Ask the operator of the service whether this client may use the scope brandindex and this redirect address.";

const REFUSALS: ReadonlyMap<string, readonly [ErrorCode, string]> = new Map([
  [
    "access_denied",
    [
      "AUTHORIZATION_EXPIRED",
      "The access was denied on the identity provider's page. Nothing was stored. Start authorize again, log in as a person who may read the events, and allow the access.",
    ],
  ],
  [
    "unauthorized_client",
    [
      "CREDENTIALS_INVALID",
      "The identity provider does not accept this client (unauthorized_client). Check client_id in the credentials; if it is right, ask the operator of the service.",
    ],
  ],
  [
    "invalid_client",
    [
      "CREDENTIALS_INVALID",
      "The identity provider does not know this client (invalid_client). Check client_id in the credentials; if it is right, ask the operator of the service.",
    ],
  ],
  ["invalid_scope", refusedRequest("invalid_scope")],
  ["invalid_request", refusedRequest("invalid_request")],
  ["unsupported_response_type", refusedRequest("unsupported_response_type")],
  ["server_error", unavailable("server_error")],
  ["temporarily_unavailable", unavailable("temporarily_unavailable")],
]);

function refusedRequest(error: string): readonly [ErrorCode, string] {
  return ["UNEXPECTED_RESPONSE", `The identity provider refused the request (${error}). ${ASK_THE_OPERATOR}`];
}

function unavailable(error: string): readonly [ErrorCode, string] {
  return [
    "SERVICE_UNAVAILABLE",
    `The identity provider is unavailable (${error}). Start authorize again later.`,
  ];
}
