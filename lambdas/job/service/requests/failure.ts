// Why an attempt failed, and the error that ends the run after the last attempt.

import { SyncError } from "../../errors/sync-error.ts";
import type { Address } from "../endpoint.ts";
import { connectionRemedy, type NoResponseFailure } from "./connection-problem.ts";
import { ATTEMPTS } from "./retry.ts";

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
