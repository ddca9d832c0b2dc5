// An e-mail address and a password: with them a cookie session (docs/service-interface.md §4.1), which is one login, its cookies
// on every request, and a new login when they are refused; or HTTP Basic (§4.2).

import { isUtf8 } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import { Cookie, CookieJar, pathMatch } from "tough-cookie";
import type { CurrentCredentials, PasswordCredentials } from "../../credentials/credentials.ts";
import { isRefusedLogin, SyncError } from "../../errors/sync-error.ts";
import { canonicalHost } from "../../network/proxies.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import { type Address, type HttpResponse, NoResponse } from "../http/transport.ts";
import { endpoint } from "../requests/api-client.ts";
import { type AuthenticationMethod, NEW_PROOF_PAUSES_MS } from "../requests/authenticator.ts";
import {
  attemptsExhausted,
  BadStatus,
  redirected,
  requestName,
  throttled,
  unexpectedStatus,
} from "../requests/failure.ts";
import { statusClass } from "../requests/retry.ts";
import type { Sender } from "../requests/sender.ts";

interface LoginOptions {
  readonly baseUrl: URL;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * After answers that worked, a 401 may be an accident. One request asks whether it was: a password that is sent wrong too
 * often locks the account.
 */
const BASIC_PAUSES_MS = { accepted: [1_000] };

/** The same header on every request, no login call. */
export function basicMethod(credentials: CurrentCredentials<PasswordCredentials>): AuthenticationMethod {
  let isFirst = true;
  return {
    credentials,
    unauthenticated:
      "The service refused the e-mail address and password (status 401, method basic). Check the credentials and " +
      "--base-url; if they are right, ask the service's operator whether the account is disabled, or use the method session.",
    renew: async () => {
      if (!isFirst && !(await credentials.haveChanged())) return undefined;
      isFirst = false;
      const { email, password } = credentials.current;
      // RFC 7617 §2.1: UTF-8, which is also what ASCII-only services see.
      const authorization = `Basic ${Buffer.from(`${email}:${password}`, "utf8").toString("base64")}`;
      return { isLastTry: false, pausesMs: BASIC_PAUSES_MS, headers: () => ({ authorization }) };
    },
  };
}

/** Sends nothing by itself. */
export function sessionMethod(
  credentials: CurrentCredentials<PasswordCredentials>,
  options: LoginOptions,
): AuthenticationMethod {
  let logins = 0;
  return {
    credentials,
    unauthenticated:
      "The service accepted the login but answered the next requests with 401 for seconds, also after a new login. Check " +
      "that the account may use the interface and that --base-url is the service itself and not a proxy that drops " +
      "cookies. It may also be another program that logs in with the same account, where the service allows one session.",
    renew: async (signal) => {
      const cookies = await logIn(credentials, options, signal);
      logins += 1;
      return {
        // The first login gets a second chance: a service may need two logins to settle.
        isLastTry: logins > 1,
        pausesMs: NEW_PROOF_PAUSES_MS,
        headers: (url) => cookies.headers(url),
        keep: (setCookies) => cookies.keep(setCookies),
      };
    },
  };
}

/**
 * A new session (docs/service-interface.md §3.1). Where the credentials are refused, logs in with those that have been stored since.
 * Never sends refused ones twice: repeating a refused login can lock the account.
 */
async function logIn(
  credentials: CurrentCredentials<PasswordCredentials>,
  options: LoginOptions,
  signal: AbortSignal | undefined,
): Promise<SessionCookies> {
  try {
    return await logInWith(credentials.current, options, signal);
  } catch (error) {
    if (!isRefusedLogin(error) || !(await credentials.haveChanged())) throw error;
    return logInWith(credentials.current, options, signal);
  }
}

// The body of a login response is not used.
const BODY_CAP_BYTES = 65_536;

async function logInWith(
  credentials: PasswordCredentials,
  options: LoginOptions,
  signal: AbortSignal | undefined,
): Promise<SessionCookies> {
  const url = endpoint(options.baseUrl, "/v1/auth/login");
  const response = await send(credentials, options.sender, url, signal);
  if (statusClass(response.status) !== "read")
    throw refused(url, response, options.sender.askedWaitMs(response));
  const cookies = new SessionCookies(options.baseUrl, options.clock);
  cookies.keep(response.headers.get("set-cookie") ?? []);
  if (cookies.refused > 0) throw unusable(url, response, TOO_MANY_COOKIES);
  if (Object.keys(cookies.headers(endpoint(options.baseUrl, "/v1/events"))).length === 0)
    throw unusable(url, response, NO_COOKIE);
  options.logger.info("logged in");
  // The connection is free only when the event loop has turned: before that, the next request would open another one.
  await setImmediate();
  return cookies;
}

/** One POST. Retried only if no response came. */
async function send(
  { email, password }: PasswordCredentials,
  sender: Sender,
  url: URL,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  const request = {
    method: "POST",
    url,
    headers: { "content-type": "application/json" },
    // docs/service-interface.md §2.2
    body: JSON.stringify({ meta: { version: "v1" }, data: { email, password } }),
    bodyCapBytes: BODY_CAP_BYTES,
  } as const;
  sender.counts.logins += 1;
  for (let failures = 1; ; failures += 1) {
    try {
      return await sender.send(await sender.admit("other", signal), request, signal);
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      await sender.backOff("POST", url, error, failures, signal);
    }
  }
}

// The service's own text names the e-mail address (docs/service-interface.md §3.1), so it is not repeated.
function refused(url: URL, response: HttpResponse, waitMs: number | undefined): SyncError {
  const request = requestName("POST", url);
  const { status } = response;
  const fields = { request, status };
  if (status === 404)
    return new SyncError(
      "LOGIN_REFUSED",
      "The service refused the login (status 404): wrong password or unknown e-mail address. Check the credentials; " +
        "if they are right, check --base-url, because a wrong address is answered with 404 as well.",
      { fields },
    );
  if (status === 401)
    return new SyncError(
      "ACCOUNT_DISABLED",
      "The service refused the login (status 401): the account is disabled. Ask the service's operator. If this address " +
        "has never worked, check --base-url, because another server may answer with 401 as well.",
      { fields },
    );
  if (status === 429) return throttled(request, waitMs);
  switch (statusClass(status)) {
    case "redirect":
      return redirected(request, url, response);
    case "retry":
      return attemptsExhausted({ request, failures: 1 }, new BadStatus(status));
    default:
      return unexpectedStatus(request, status);
  }
}

// Any of too many may be the session. Cookies of later responses that do not fit are ignored.
const TOO_MANY_COOKIES = "which are more than a session may have";
const NO_COOKIE = "none of which is valid for the service's events (path, domain, expiry or form)";

/** A response that logs in, but gives no session that can be used. */
function unusable(url: URL, { status, headers }: HttpResponse, why: string): SyncError {
  const cookies = headers.get("set-cookie")?.length ?? 0;
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The login was answered with status ${status} and ${cookies} cookies, ${why}. Check that --base-url is the service ` +
      "itself and not a proxy or web page, and that this machine's clock is right; if so, ask the service's operator.",
    { fields: { request: requestName("POST", url), status, cookies } },
  );
}

/** RFC 6265 §6.1: what every client should accept from one domain. */
const MAX_COOKIES = 50;
/** Names, values and attributes together. Servers that limit request headers accept no more anyway. */
const MAX_COOKIE_CHARS = 16_384;

/** A cookie that is sent until its end to a path and all below it. */
interface Kept {
  readonly text: string;
  readonly path: string;
  readonly chars: number;
  readonly endsAtMs: number;
}

/** The session is among the first: those that come when there is no room are refused. */
export class SessionCookies {
  readonly #root: URL;
  readonly #clock: Pick<Clock, "now">;
  /** By name, domain and path (RFC 6265 §5.3), in the order in which they came. */
  readonly #kept = new Map<string, Kept>();
  #chars = 0;
  /** How many cookies did not fit. */
  refused = 0;

  constructor(baseUrl: URL, clock: Pick<Clock, "now">) {
    this.#root = new URL("/", baseUrl);
    this.#clock = clock;
  }

  /**
   * Stores `Set-Cookie` headers as far as there is room; one that RFC 6265 §5.3 rejects is ignored. All count as set
   * by "/": a cookie without a Path would otherwise be sent to /v1/auth only (RFC 6265 §5.1.4), but it belongs on
   * every later request (docs/service-interface.md §3.1).
   */
  keep(setCookies: readonly string[]): void {
    if (setCookies.length === 0) return;
    const nowMs = this.#clock.now();
    for (const [id, { endsAtMs }] of this.#kept) if (endsAtMs <= nowMs) this.#drop(id);
    for (const setCookie of setCookies) this.#keep(setCookie, nowMs);
  }

  #keep(setCookie: string, nowMs: number): void {
    const cookie = acceptedCookie(setCookie, this.#root, nowMs);
    if (cookie === undefined) return;
    const id = `${cookie.key};${cookie.domain};${cookie.path}`;
    const endsAtMs = cookie.expiryTime(new Date(nowMs)) ?? Infinity;
    const { length: chars } = cookie.toString();
    const before = this.#kept.get(id);
    const allChars = this.#chars + chars - (before?.chars ?? 0);
    const isOneTooMany = before === undefined && this.#kept.size === MAX_COOKIES;
    if (endsAtMs <= nowMs) this.#drop(id);
    else if (isOneTooMany || allChars > MAX_COOKIE_CHARS) this.refused += 1;
    else {
      this.#kept.set(id, { text: cookie.cookieString(), path: cookie.path ?? "/", chars, endsAtMs });
      this.#chars = allChars;
    }
  }

  #drop(id: string): void {
    this.#chars -= this.#kept.get(id)?.chars ?? 0;
    this.#kept.delete(id);
  }

  /** The headers of a request to the origin of the base URL. */
  headers({ pathname }: Pick<Address, "pathname">): Readonly<Record<string, string>> {
    const nowMs = this.#clock.now();
    const path = canonicalPath(pathname);
    // RFC 6265 §5.4: longer paths first, then those that came first.
    const sent = [...this.#kept.values()]
      .filter((cookie) => nowMs < cookie.endsAtMs && pathMatch(path, cookie.path))
      .sort((one, other) => other.path.length - one.path.length);
    return sent.length === 0 ? {} : { cookie: sent.map(({ text }) => text).join("; ") };
  }
}

/** Undefined for one that the rules of cookies do not allow here. */
function acceptedCookie(setCookie: string, root: URL, nowMs: number): Cookie | undefined {
  const cookie = Cookie.parse(setCookie);
  if (cookie === undefined) return undefined;
  if (cookie.domain) cookie.domain = canonicalHost(cookie.domain);
  if (cookie.path) cookie.path = canonicalPath(cookie.path);
  return new CookieJar().setCookieSync(cookie, root, { ignoreError: true, now: new Date(nowMs) });
}

/**
 * As the URL parser writes it, and with one of several ways to percent-encode the same (RFC 3986 §6.2.2). A header arrives as
 * bytes, one character each: UTF-8 that is not encoded.
 */
function canonicalPath(path: string): string {
  if (/^[\w/.~-]*$/.test(path)) return path;
  const bytes = Buffer.from(path, "latin1");
  const url = new URL("https://host/");
  url.pathname = isUtf8(bytes) && bytes.toString("latin1") === path ? bytes.toString() : path;
  return url.pathname.replaceAll(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}
