// A start without a terminal keeps trying while a server gives no response at all: a computer that has just woken up has no
// network yet, a service may be down for some minutes, and no person is there to start again.

import { NoResponse } from "../http/transport.ts";

/** No connection was made, so nothing was sent. */
const UNREACHED: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
]);

const UNANSWERED: ReadonlySet<string> = new Set([
  ...UNREACHED,
  "CONNECTION_LOST",
  "ECONNABORTED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "TIMED_OUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Whether the server has not even seen the request. */
export function isUnreached(failure: Error): boolean {
  return failure instanceof NoResponse && failure.proxy === undefined && UNREACHED.has(failure.reason);
}

/** Whether time alone may help. An unknown host, TLS and a proxy wait for a person. */
export function isUnanswered(failure: Error): boolean {
  return failure instanceof NoResponse && failure.proxy === undefined && UNANSWERED.has(failure.reason);
}

/** For the log. */
export function keepsTrying(request: string, failure: Error, leftMs: number): string {
  const minutes = Math.ceil(leftMs / 60_000);
  return `${request}: ${failure.message}. A run without a terminal keeps trying, for at most ${minutes} min more`;
}
