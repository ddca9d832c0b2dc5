// The login call (interface document §4.1): one POST, its cookies are the session.

import type { ServiceCredentials } from "../../credentials/credentials.ts";
import { type ErrorCode, SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/random.ts";
import { endpoint } from "../base-url.ts";
import { type HttpResponse, NoResponse } from "../http/transport.ts";
import { type BackOffOptions, backOff } from "../requests/back-off.ts";
import { requestName } from "../requests/failure.ts";
import { redirected } from "../requests/redirect.ts";
import { retryAfterMs, retryDelayMs, statusClass } from "../requests/retry.ts";
import type { Sender } from "../requests/sender.ts";
import { MAX_COOKIE_CHARS, MAX_COOKIES } from "./limited-cookie-store.ts";
import { SessionCookies } from "./session-cookies.ts";

export interface LoginOptions extends BackOffOptions {
  readonly baseUrl: URL;
  readonly credentials: ServiceCredentials;
  readonly sender: Sender;
  readonly headers: Readonly<Record<string, string>>;
  readonly random: Random;
}

// Nobody reads the body of a login.
const BODY_CAP_BYTES = 65_536;

/** A new session. Repeated only where no answer came: a refused login that is repeated can lock the account. */
export async function login(options: LoginOptions, signal: AbortSignal | undefined): Promise<SessionCookies> {
  const url = endpoint(options.baseUrl, "/v1/auth/login");
  const answer = await answered(options, url, signal);
  if (statusClass(answer.status) !== "read") throw refused(url, answer, options.clock.now());
  const cookies = new SessionCookies(options.baseUrl);
  cookies.keep(answer.headers.get("set-cookie") ?? []);
  if (cookies.refused > 0) throw tooManyCookies(url, answer);
  if (Object.keys(cookies.headers(endpoint(options.baseUrl, "/v1/events"))).length === 0)
    throw noCookie(url, answer);
  options.logger.info("logged in");
  return cookies;
}

async function answered(
  options: LoginOptions,
  url: URL,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  const { counters, credentials, random, sender } = options;
  const { email, password } = credentials;
  const request = {
    method: "POST",
    url,
    headers: { ...options.headers, "content-type": "application/json" },
    // Interface document §2, request envelope.
    body: JSON.stringify({ meta: { version: "v1" }, data: { email, password } }),
    bodyCapBytes: BODY_CAP_BYTES,
  } as const;
  counters.add("logins");
  for (let failures = 1; ; failures += 1) {
    try {
      return await sender.send(await sender.admit("other", signal), request, signal);
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      const failure = { kind: "no-response", reason: error.reason } as const;
      const delayMs = retryDelayMs(failures, random);
      await backOff(
        { request: requestName("POST", url), failure, failures, delayMs, waitsFor: "retry" },
        options,
        signal,
      );
    }
  }
}

// The service's own text names the e-mail address (interface document §7): these are our words.
function refused(url: URL, answer: HttpResponse, nowMs: number): SyncError {
  const { status } = answer;
  const error = (code: ErrorCode, message: string): SyncError =>
    new SyncError(code, message, { fields: { request: requestName("POST", url), status } });
  switch (status) {
    case 404:
      return error(
        "LOGIN_REFUSED",
        "The service refused the login (status 404): wrong password or unknown e-mail address. Check the credentials; " +
          "if they are right, check --base-url, because a wrong address is answered with 404 as well.",
      );
    case 401:
      return error(
        "ACCOUNT_DISABLED",
        "The service refused the login (status 401): the account is disabled. Ask the service's operator.",
      );
    case 429: {
      const waitMs = retryAfterMs(answer.headers, nowMs);
      const wait =
        waitMs === undefined
          ? "Run again later"
          : `It asks to wait ${Math.ceil(waitMs / 1_000)} s; run again then`;
      return error("THROTTLED", `The service answers the login with status 429: too many requests. ${wait}.`);
    }
    default:
      break;
  }
  switch (statusClass(status)) {
    case "retry":
      return error(
        "SERVICE_UNAVAILABLE",
        `The service cannot log anybody in (status ${status}). Run again later.`,
      );
    case "redirect":
      return redirected(requestName("POST", url), url, answer);
    default:
      return error(
        "UNEXPECTED_RESPONSE",
        `The login was answered with status ${status}, for which the interface gives no meaning. Check --base-url, and ` +
          "ask the service's operator if it is right.",
      );
  }
}

// Any of them may be what makes the session. Of later answers, what does not fit is ignored.
function tooManyCookies(url: URL, answer: HttpResponse): SyncError {
  const sent = answer.headers.get("set-cookie")?.length ?? 0;
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The login was answered with ${sent} cookies. That is more than a session may have (${MAX_COOKIES}, and ` +
      `${MAX_COOKIE_CHARS / 1_024} KB in all). Check that --base-url is the service itself and no proxy or web page; ` +
      "if it is right, ask the service's operator.",
    { fields: { request: requestName("POST", url), status: answer.status, cookies: sent } },
  );
}

function noCookie(url: URL, answer: HttpResponse): SyncError {
  const sent = answer.headers.get("set-cookie")?.length ?? 0;
  const what =
    sent === 0
      ? "set no cookie"
      : `set ${sent} cookies, none of which is valid for the service's events (path, domain, expiry or form)`;
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The login was answered with status ${answer.status} but ${what}, so there is no session. Check that --base-url is ` +
      "the service itself and no proxy or web page, and that this machine's clock is right.",
    { fields: { request: requestName("POST", url), status: answer.status, cookies: sent } },
  );
}
