// The errors of an OAuth authorization: what failed and what to do. None repeats a text of the identity provider.

import { type ErrorFields, SyncError } from "../../../errors/sync-error.ts";
import { connectionRemedy, permanentProblem } from "../../requests/connection-problem.ts";
import { describeFailure, requestName } from "../../requests/failure.ts";
import { redirectTarget } from "../../requests/redirect.ts";
import type { FailedAnswer } from "./token-endpoint.ts";

/** @param why a whole sentence; @param authorize the command that authorizes again */
export function authorizationExpired(why: string, authorize: string, fields: ErrorFields = {}): SyncError {
  return notAuthorized(`${why} Authorize again: ${authorize}`, fields);
}

/** @param message with the command that authorizes */
export function notAuthorized(message: string, fields: ErrorFields = {}): SyncError {
  return new SyncError("AUTHORIZATION_EXPIRED", message, { fields: { method: "oauth", ...fields } });
}

/** A client that the identity provider does not know, or whose secret is wrong. */
export function wrongClient(status: number): SyncError {
  return new SyncError(
    "CREDENTIALS_INVALID",
    `The identity provider does not accept the client (status ${status}). Check client_id and client_secret in the credentials; ` +
      "if they are right, check --auth-url and ask the service's operator, who issues them.",
    { fields: { method: "oauth", status } },
  );
}

/** The error for every answer that brings no tokens and has no meaning of its own to the caller. */
export function answerError(url: URL, answer: FailedAnswer, attempts: number): SyncError {
  const request = requestName("POST", url);
  switch (answer.kind) {
    case "no-answer":
      return unavailable(url, answer, attempts);
    case "throttled":
      return throttled(request, answer.waitMs);
    case "unusable":
      return unexpected(request, `a body that ${answer.problem}, so there is no usable access token`, 200);
    case "refused": {
      const { status, refusal } = answer;
      return unexpected(request, `an error (${refusal ?? "without a known name"})`, status);
    }
    case "other": {
      const { response } = answer;
      const { status } = response;
      if (status < 300 || status > 399) return unexpected(request, "nothing that OAuth 2.0 defines", status);
      const target = redirectTarget(url, response);
      return unexpected(request, `a redirect to ${target}, which is not followed`, status);
    }
  }
}

function unavailable(
  url: URL,
  { failure }: Extract<FailedAnswer, { readonly kind: "no-answer" }>,
  attempts: number,
): SyncError {
  const request = requestName("POST", url);
  const addressOption = "--auth-url";
  if (failure.kind === "no-response") {
    const permanent = permanentProblem({ request, url, failures: attempts, addressOption }, failure, false);
    if (permanent !== undefined) return permanent;
  }
  const remedy =
    failure.kind === "no-response"
      ? connectionRemedy(failure, addressOption)
      : "The problem is on the identity provider's side: run again later.";
  const status = failure.kind === "status" ? failure.status : null;
  return new SyncError(
    "SERVICE_UNAVAILABLE",
    `${request} to ${url.host} brought no usable answer, the last time ${describeFailure(failure)} (requests: ${attempts}). ${remedy}`,
    { fields: { request, attempts, status } },
  );
}

function throttled(request: string, waitMs: number | undefined): SyncError {
  const wait = waitMs === undefined ? "Run again later" : `Run again in ${Math.ceil(waitMs / 1_000)} s`;
  return new SyncError("THROTTLED", `${request} was answered with status 429: too many requests. ${wait}.`, {
    fields: { request, status: 429 },
  });
}

function unexpected(request: string, what: string, status: number): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${status} and ${what}. Check that --auth-url is the address of the identity provider; ` +
      "if it is right, ask the service's operator.",
    { fields: { request, status } },
  );
}
