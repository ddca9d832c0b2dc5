// The identity provider's answer to an authorization request, as the browser brings it back (RFC 6749 §4.1.2).

import { createHash, timingSafeEqual } from "node:crypto";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import type { Terminal } from "../output/terminal.ts";
import type { AuthorizationRequest } from "./code-exchange.ts";

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
  switch (error) {
    case "access_denied":
      return new SyncError(
        "AUTHORIZATION_EXPIRED",
        "The access was denied on the identity provider's page. Nothing was stored. Start authorize again, log in as a person who may read the events, and allow the access.",
      );
    case "unauthorized_client":
    case "invalid_client": {
      const does = error === "invalid_client" ? "does not know" : "does not accept";
      return new SyncError(
        "CREDENTIALS_INVALID",
        `The identity provider ${does} this client (${error}). Check client_id in the credentials; if it is right, ask the operator of the service.`,
      );
    }
    case "invalid_scope":
    case "invalid_request":
    case "unsupported_response_type":
      return new SyncError(
        "UNEXPECTED_RESPONSE",
        `The identity provider refused the request (${error}). Ask the operator of the service whether this client may use the scope brandindex and this redirect address.`,
      );
    case "server_error":
    case "temporarily_unavailable":
      return new SyncError(
        "SERVICE_UNAVAILABLE",
        `The identity provider is unavailable (${error}). Start authorize again later.`,
      );
    default:
      return new SyncError(
        "UNEXPECTED_RESPONSE",
        "The identity provider refused the authorization for a reason that OAuth 2.0 does not name. Check --auth-url, and ask the operator of the service.",
      );
  }
}

/** Waits for the person's answer, and not for ever. */
const WAIT_MINUTES = 10;

/** Throws `AUTHORIZATION_EXPIRED` after ten minutes, and `INTERRUPTED` when the program is stopped. */
export async function waitForAnswer<T>(
  answer: Promise<T>,
  { clock, signal }: Pick<PasteAnswerOptions, "clock" | "signal">,
): Promise<T> {
  const over = new AbortController();
  const timeOut = clock.sleep(WAIT_MINUTES * 60_000, AbortSignal.any([signal, over.signal])).then(
    () => Promise.reject(tooLate()),
    () => Promise.reject(stopped()),
  );
  try {
    return await Promise.race([answer, timeOut]);
  } finally {
    over.abort();
  }
}

function stopped(): SyncError {
  return new SyncError("INTERRUPTED", "Stopped before the authorization was complete. Nothing was stored.");
}

function tooLate(): SyncError {
  return new SyncError(
    "AUTHORIZATION_EXPIRED",
    `No answer came in ${WAIT_MINUTES} minutes. Nothing was stored. Start authorize again. If the browser ended at a page that it could not open, it runs on another machine: add --paste. If the identity provider showed an error, ask its operator whether client_id and --redirect-uri are registered as you gave them.`,
  );
}

/** The way without a browser on this machine: the person pastes the address that a browser elsewhere ended at. */
export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

interface PasteAnswerOptions {
  readonly request: AuthorizationRequest;
  readonly input: Input;
  readonly terminal: Pick<Terminal, "lines">;
  readonly clock: Pick<Clock, "sleep">;
  readonly signal: AbortSignal;
}

/** The code. Throws the error of the answer; `CONFIG_INVALID` where the input ends without one. */
export async function pasteAnswer(options: PasteAnswerOptions): Promise<string> {
  const { request, terminal } = options;
  terminal.lines([
    "Open this address in any browser. Log in there, and allow the access:",
    request.address,
    `Then the browser goes to ${request.redirectUri}?code=… and may say that it cannot open the page. Copy that address from its address bar, paste it here, and press Enter. What you paste is not shown.`,
  ]);
  const parameters = await pastedParameters(options);
  return readAnswer(parameters, request.state);
}

async function pastedParameters(options: PasteAnswerOptions): Promise<URLSearchParams> {
  const { request, input, terminal } = options;
  const answer = Promise.withResolvers<URLSearchParams>();
  // The terminal must not show a code, and cuts lines of more than 4,095 characters unless a program reads each key.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output, terminal: input.isTTY === true, historySize: 0 });
  reader.on("line", (line) => {
    const parameters = parametersOf(line.trim(), new URL(request.redirectUri));
    if (parameters) answer.resolve(parameters);
    else if (line.trim() !== "") {
      terminal.lines([
        `That is not the address that the browser ended at: it begins with ${request.redirectUri} and holds code= or error=. Paste it again.`,
      ]);
    }
  });
  reader.on("SIGINT", () => answer.reject(stopped()));
  reader.on("close", () => answer.reject(noAddress()));
  try {
    return await waitForAnswer(answer.promise, options);
  } finally {
    reader.close();
  }
}

/** Some browsers show an address without its scheme. */
function parametersOf(line: string, redirect: URL): URLSearchParams | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(line) ? line : `${redirect.protocol}//${line}`);
  const isOwn = url?.origin === redirect.origin && url.pathname === redirect.pathname;
  return isOwn && isAnswer(url.searchParams) ? url.searchParams : undefined;
}

function noAddress(): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    "Standard input ended before the address was pasted. Nothing was stored. Start authorize again, and paste the address that the browser ended at.",
  );
}
