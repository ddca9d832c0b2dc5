// The identity provider's answer to an authorization request, as the browser brings it back (RFC 6749 §4.1.2): whether it is
// the person's own, for any page in the browser can send one (RFC 9700 §4.7), and what it says.

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { advise, setting } from "../../../lambdas/job/errors/advice.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { boundInput, MOST_SECRET_BYTES } from "../../../lambdas/job/runtime/bounded-input.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import type { Input, Terminal } from "../output/terminal.ts";
import type { AuthorizationRequest } from "./code-exchange.ts";

export function isAnswer(parameters: URLSearchParams): boolean {
  return Boolean(parameters.get("code")) || Boolean(parameters.get("error"));
}

/**
 * Whether it answers this attempt, or another, or does not say: a provider that knows only the documented parameters
 * returns no `state` (docs/service-interface.md §4.3).
 */
function originOf(parameters: URLSearchParams, state: string): "own" | "foreign" | "unknown" {
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
  if (originOf(parameters, state) === "foreign") {
    throw new SyncError(
      "AUTHORIZATION_EXPIRED",
      "The answer does not belong to this authorization: its state is another one. It came from an earlier attempt, or from another page. Nothing was stored. Start authorize again, and use the newest address only.",
    );
  }
  const error = parameters.get("error");
  if (error !== null) throw refused(error);
  return parameters.get("code") ?? "";
}

/** Compares in constant time. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** RFC 6749 §4.1.2.1, and the name that providers have for a redirect address which is not the registered one. */
function refused(error: string): SyncError {
  if (/redirect[\s_-]?ur[il]/i.test(error))
    return new SyncError(
      "UNEXPECTED_RESPONSE",
      "The identity provider does not accept the redirect address. Start authorize again, with --redirect-uri exactly as it is registered for the client; if it is the same, ask the operator of the service.",
    );
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
        "The identity provider refused the authorization for a reason that OAuth 2.0 does not name.",
        { next: advise`Check ${setting("authUrl")}, and ask the operator of the service.` },
      );
  }
}

const WAIT_MINUTES = 10;

/** Throws `AUTHORIZATION_EXPIRED` after ten minutes, and `INTERRUPTED` when the program is stopped. */
export async function waitForAnswer<T>(
  answer: Promise<T>,
  clock: Pick<Clock, "sleep">,
  signal: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const tooLate = `No answer came in ${WAIT_MINUTES} minutes. Nothing was stored. Start authorize again. If the browser ended at a page that it could not open, it runs on another machine: add --paste. If the identity provider showed an error, ask its operator whether client_id and --redirect-uri are registered as you gave them.`;
  const stopped = "Stopped before the authorization was complete. Nothing was stored.";
  const timeOut = clock.sleep(WAIT_MINUTES * 60_000, AbortSignal.any([signal, over.signal])).then(
    () => Promise.reject(new SyncError("AUTHORIZATION_EXPIRED", tooLate)),
    () => Promise.reject(new SyncError("INTERRUPTED", stopped)),
  );
  try {
    return await Promise.race([answer, timeOut]);
  } finally {
    over.abort();
  }
}

interface JudgeOptions {
  /** The state of this authorization. */
  readonly state: string;
  readonly terminal: Pick<Terminal, "lines">;
  /** Aborts once no answer is awaited any more. */
  readonly over: AbortSignal;
}

/** Undefined for the awaited answer; else why it is not, which is told once for each reason and ends nothing. */
type Judge = (parameters: URLSearchParams, headers: IncomingHttpHeaders) => string | undefined;

export function judgeAnswers({ state, terminal, over }: JudgeOptions): Judge {
  const told = new Set<string>();
  let taken: string | undefined;
  const refuse = (why: string): string => {
    if (!told.has(why) && !over.aborted) terminal.lines([why]);
    told.add(why);
    return why;
  };
  return (parameters, headers) => {
    if (!mayBeNavigation(headers)) return refuse(NO_PAGE);
    const origin = originOf(parameters, state);
    if (origin === "unknown") return refuse(WITHOUT_STATE);
    const answer = parameters.toString();
    if (origin === "own") taken ??= answer;
    return origin === "own" && taken === answer ? undefined : refuse(FOREIGN);
  };
}

/**
 * What Fetch Metadata (W3C) shows to be a script, a frame, an image or a page that is only prepared brings no answer: the
 * person's browser goes to the address as a page. Older browsers send nothing of it. The site may be any: that of the
 * identity provider is another.
 */
function mayBeNavigation(headers: IncomingHttpHeaders): boolean {
  const { "sec-fetch-mode": mode = "navigate", "sec-fetch-dest": destination = "document" } = headers;
  return mode === "navigate" && destination === "document" && headers["sec-purpose"] === undefined;
}

const WAITS_ON = "It was refused. The terminal keeps waiting for yours.";
const NO_PAGE = `An answer came from inside another page, not from a page that the browser went to. ${WAITS_ON}`;
const FOREIGN = `An answer came that does not belong to this authorization: its state is another one. It is from an earlier attempt, or from another page. ${WAITS_ON} Use the newest address only.`;
const WITHOUT_STATE = `An answer came without state, so this program cannot tell that it comes from your own login. ${WAITS_ON} If your identity provider returns no state, end this with Ctrl-C, and authorize again with --paste.`;

interface PasteAnswerOptions {
  readonly request: AuthorizationRequest;
  readonly input: Input;
  readonly terminal: Pick<Terminal, "lines">;
  readonly clock: Pick<Clock, "sleep">;
  readonly signal: AbortSignal;
}

/** The code. Throws the error of the answer; `CONFIG_INVALID` where the input ends without one. */
export async function pasteAnswer(options: PasteAnswerOptions): Promise<string> {
  const { request, input, terminal, clock, signal } = options;
  terminal.lines([
    "Open this address in any browser. Log in there, and allow the access:",
    request.address,
    `Then the browser goes to ${request.redirectUri}?code=… and may say that it cannot open the page. Copy that address from its address bar, paste it here, and press Enter. What you paste is not shown.`,
  ]);
  const answer = Promise.withResolvers<URLSearchParams>();
  const stop = new AbortController();
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
  const bounded = boundInput(input, MOST_SECRET_BYTES, ({ message }) =>
    answer.reject(
      new SyncError("CONFIG_INVALID", `Standard input ${message}, and no address has. Nothing was stored.`),
    ),
  );
  reader.on("SIGINT", () => stop.abort());
  reader.on("close", () => answer.reject(new SyncError("CONFIG_INVALID", NO_ADDRESS)));
  try {
    const stopped = AbortSignal.any([signal, stop.signal]);
    return readAnswer(await waitForAnswer(answer.promise, clock, stopped), request.state);
  } finally {
    bounded[Symbol.dispose]();
    reader.close();
  }
}

const NO_ADDRESS =
  "Standard input ended before the address was pasted. Nothing was stored. Start authorize again, and paste the address that the browser ended at.";

/** Some browsers show an address without its scheme. */
function parametersOf(line: string, redirect: URL): URLSearchParams | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(line) ? line : `${redirect.protocol}//${line}`);
  const isOwn = url?.origin === redirect.origin && url.pathname === redirect.pathname;
  return isOwn && isAnswer(url.searchParams) ? url.searchParams : undefined;
}
