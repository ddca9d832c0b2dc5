// The login call (docs/service-interface.md §3.1): one POST. Its cookies are the session.

import { setImmediate } from "node:timers/promises";
import type { PasswordCredentials } from "../../credentials/credentials.ts";
import { type ErrorCode, SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/random.ts";
import { endpoint } from "../endpoint.ts";
import { type HttpResponse, NoResponse } from "../http/transport.ts";
import { type BackOffOptions, backOff } from "../requests/back-off.ts";
import { requestName } from "../requests/failure.ts";
import { redirected } from "../requests/redirect.ts";
import { retryAfterMs, retryDelayMs, statusClass } from "../requests/retry.ts";
import type { Sender } from "../requests/sender.ts";
import { MAX_COOKIE_CHARS, MAX_COOKIES } from "./max-cookies.ts";
import type { SessionCookies } from "./session-cookies.ts";

export interface LoginOptions extends BackOffOptions {
  readonly baseUrl: URL;
  readonly credentials: PasswordCredentials;
  readonly sender: Sender;
  readonly headers: Readonly<Record<string, string>>;
  readonly random: Random;
}

// The body of a login response is not used.
const BODY_CAP_BYTES = 65_536;

/** A new session. Retried only if no response came: repeating a refused login can lock the account. */
export async function login(options: LoginOptions, signal: AbortSignal | undefined): Promise<SessionCookies> {
  const url = endpoint(options.baseUrl, "/v1/auth/login");
  // The list of public suffixes is long: it is loaded by a login alone, while the response is under way.
  const [response, { SessionCookies }] = await Promise.all([
    send(options, url, signal),
    import("./session-cookies.ts"),
  ]);
  if (statusClass(response.status) !== "read") throw refused(url, response, options.clock.now());
  const cookies = new SessionCookies(options.baseUrl);
  cookies.keep(response.headers.get("set-cookie") ?? []);
  if (cookies.refused > 0) throw tooManyCookies(url, response);
  if (Object.keys(cookies.headers(endpoint(options.baseUrl, "/v1/events"))).length === 0)
    throw noCookie(url, response);
  options.logger.info("logged in");
  // The connection is free only when the event loop has turned: before that, the next request would open another one.
  await setImmediate();
  return cookies;
}

async function send(options: LoginOptions, url: URL, signal: AbortSignal | undefined): Promise<HttpResponse> {
  const { counters, credentials, random, sender } = options;
  const { email, password } = credentials;
  const request = {
    method: "POST",
    url,
    headers: { ...options.headers, "content-type": "application/json" },
    // docs/service-interface.md §2.2
    body: JSON.stringify({ meta: { version: "v1" }, data: { email, password } }),
    bodyCapBytes: BODY_CAP_BYTES,
  } as const;
  counters.add("logins");
  for (let failures = 1; ; failures += 1) {
    try {
      return await sender.send(await sender.admit("other", signal), request, signal);
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      const { reason, proxy } = error;
      const failure = { kind: "no-response", reason, proxy } as const;
      const delayMs = retryDelayMs(failures, random);
      await backOff(
        { request: requestName("POST", url), url, failure, failures, delayMs, waitsFor: "retry" },
        options,
        signal,
      );
    }
  }
}

// The service's own text names the e-mail address (docs/service-interface.md §3.1), so it is not repeated.
function refused(url: URL, response: HttpResponse, nowMs: number): SyncError {
  const { status } = response;
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
      const waitMs = retryAfterMs(response.headers, nowMs);
      const wait = waitMs === undefined ? "Run again later" : `Run again in ${Math.ceil(waitMs / 1_000)} s`;
      return error("THROTTLED", `The login was answered with status 429: too many requests. ${wait}.`);
    }
    default:
      break;
  }
  switch (statusClass(status)) {
    case "retry":
      return error("SERVICE_UNAVAILABLE", `Login is unavailable (status ${status}). Run again later.`);
    case "redirect":
      return redirected(requestName("POST", url), url, response);
    default:
      return error(
        "UNEXPECTED_RESPONSE",
        `The login was answered with status ${status}, for which the interface gives no meaning. Check --base-url, and ` +
          "ask the service's operator if it is right.",
      );
  }
}

// Any of them may be the session. Cookies of later responses that do not fit are ignored.
function tooManyCookies(url: URL, response: HttpResponse): SyncError {
  const sent = response.headers.get("set-cookie")?.length ?? 0;
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The login was answered with ${sent} cookies. That is more than a session may have (${MAX_COOKIES}, and ` +
      `${MAX_COOKIE_CHARS / 1_024} KB in all). Check that --base-url is the service itself and no proxy or web page; ` +
      "if it is right, ask the service's operator.",
    { fields: { request: requestName("POST", url), status: response.status, cookies: sent } },
  );
}

function noCookie(url: URL, response: HttpResponse): SyncError {
  const sent = response.headers.get("set-cookie")?.length ?? 0;
  const what =
    sent === 0
      ? "set no cookie"
      : `set ${sent} cookies, none of which is valid for the service's events (path, domain, expiry or form)`;
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The login was answered with status ${response.status} but ${what}, so there is no session. Check that --base-url is ` +
      "the service itself and no proxy or web page, and that this machine's clock is right.",
    { fields: { request: requestName("POST", url), status: response.status, cookies: sent } },
  );
}
