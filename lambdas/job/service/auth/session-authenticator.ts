// Cookie sessions (docs/service-interface.md §4.1): one login, its cookies on every request, a new login when refused.

import { setImmediate } from "node:timers/promises";
import { type Cookie, CookieJar, type ErrorCallback, MemoryCookieStore } from "tough-cookie";
import type { PasswordCredentials } from "../../credentials/credentials.ts";
import { type ErrorCode, isRefusedLogin, SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/random.ts";
import { type Address, type HttpResponse, NoResponse } from "../http/transport.ts";
import { endpoint } from "../requests/api-client.ts";
import type { Authenticator } from "../requests/authenticator.ts";
import { redirected, requestName } from "../requests/failure.ts";
import { type BackOffOptions, backOff, retryAfterMs, retryDelayMs, statusClass } from "../requests/retry.ts";
import type { Sender } from "../requests/sender.ts";
import type { CurrentCredentials } from "./current-credentials.ts";
import { RenewingAuthenticator } from "./renewing-authenticator.ts";

/** @param login gives the cookies of a new session */
export function sessionAuthenticator(
  login: (signal: AbortSignal | undefined) => Promise<SessionCookies>,
): Authenticator {
  let logins = 0;
  return new RenewingAuthenticator({
    renew: async (signal) => {
      const cookies = await login(signal);
      logins += 1;
      return {
        isExpired: false,
        // The first login gets a second chance: a service may need a moment or two logins to settle.
        isLastTry: logins > 1,
        headers: (url) => cookies.headers(url),
        keep: (setCookies) => cookies.keep(setCookies),
      };
    },
    unauthenticated: () =>
      new SyncError(
        "UNAUTHENTICATED",
        "The service accepted the login but answered the next request with 401, also after a new login. Check that the " +
          "account may use the interface and that --base-url is the service itself and not a proxy that drops cookies.",
        { fields: { method: "session", status: 401 } },
      ),
  });
}

export interface LoginOptions extends BackOffOptions {
  readonly baseUrl: URL;
  readonly credentials: CurrentCredentials<PasswordCredentials>;
  readonly sender: Sender;
  readonly headers: Readonly<Record<string, string>>;
  readonly random: Random;
}

/**
 * A new session (docs/service-interface.md §3.1). Where the credentials are refused, logs in with those that have been stored since.
 * Never sends refused ones twice: repeating a refused login can lock the account.
 */
export async function logIn(options: LoginOptions, signal: AbortSignal | undefined): Promise<SessionCookies> {
  const { credentials } = options;
  const used = credentials.current;
  try {
    return await logInWith(used, options, signal);
  } catch (error) {
    if (!isRefusedLogin(error) || !(await credentials.haveChangedSince(used))) throw error;
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
  const response = await send(credentials, options, url, signal);
  if (statusClass(response.status) !== "read") throw refused(url, response, options.clock.now());
  const cookies = new SessionCookies(options.baseUrl);
  cookies.keep(response.headers.get("set-cookie") ?? []);
  if (cookies.refused > 0) throw unusable(url, response, true);
  if (Object.keys(cookies.headers(endpoint(options.baseUrl, "/v1/events"))).length === 0)
    throw unusable(url, response, false);
  options.logger.info("logged in");
  // The connection is free only when the event loop has turned: before that, the next request would open another one.
  await setImmediate();
  return cookies;
}

/** One POST. Retried only if no response came. */
async function send(
  { email, password }: PasswordCredentials,
  options: LoginOptions,
  url: URL,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  const { counters, random, sender } = options;
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
      const attempt = { request: requestName("POST", url), url, failure: error, failures } as const;
      const delayMs = retryDelayMs(failures, random);
      await backOff({ ...attempt, delayMs, waitsFor: "retry" }, options, signal);
    }
  }
}

function refused(url: URL, response: HttpResponse, nowMs: number): SyncError {
  const request = requestName("POST", url);
  if (statusClass(response.status) === "redirect") return redirected(request, url, response);
  const [code, message] = meaningOf(response, nowMs);
  return new SyncError(code, message, { fields: { request, status: response.status } });
}

// The service's own text names the e-mail address (docs/service-interface.md §3.1), so it is not repeated.
function meaningOf({ status, headers }: HttpResponse, nowMs: number): readonly [ErrorCode, string] {
  switch (status) {
    case 404:
      return [
        "LOGIN_REFUSED",
        "The service refused the login (status 404): wrong password or unknown e-mail address. Check the credentials; " +
          "if they are right, check --base-url, because a wrong address is answered with 404 as well.",
      ];
    case 401:
      return [
        "ACCOUNT_DISABLED",
        "The service refused the login (status 401): the account is disabled. Ask the service's operator.",
      ];
    case 429: {
      const waitMs = retryAfterMs(headers, nowMs);
      const wait = waitMs === undefined ? "Run again later" : `Run again in ${Math.ceil(waitMs / 1_000)} s`;
      return ["THROTTLED", `The login was answered with status 429: too many requests. ${wait}.`];
    }
  }
  if (statusClass(status) === "retry")
    return ["SERVICE_UNAVAILABLE", `Login is unavailable (status ${status}). Run again later.`];
  return [
    "UNEXPECTED_RESPONSE",
    `The login was answered with status ${status}, for which the interface gives no meaning. Check --base-url, and ` +
      "ask the service's operator if it is right.",
  ];
}

/** A response that logs in, but gives no session that can be used. */
function unusable(url: URL, { status, headers }: HttpResponse, isTooMuch: boolean): SyncError {
  const cookies = headers.get("set-cookie")?.length ?? 0;
  const what =
    cookies === 0
      ? "set no cookie"
      : `set ${cookies} cookies, none of which is valid for the service's events (path, domain, expiry or form)`;
  // Any of too many may be the session. Cookies of later responses that do not fit are ignored.
  const problem = isTooMuch
    ? `${cookies} cookies. That is more than a session may have (${MAX_COOKIES}, and ` +
      `${MAX_COOKIE_CHARS / 1_024} KB in all). Check that --base-url is the service itself and not a proxy or web page; ` +
      "if it is right, ask the service's operator."
    : `status ${status} but ${what}, so there is no session. Check that --base-url is ` +
      "the service itself and no proxy or web page, and that this machine's clock is right.";
  return new SyncError("UNEXPECTED_RESPONSE", `The login was answered with ${problem}`, {
    fields: { request: requestName("POST", url), status, cookies },
  });
}

/** Keeps the cookies of one session and puts them on requests to the service's own origin. */
export class SessionCookies {
  readonly #store = new LimitedCookieStore();
  readonly #jar = new CookieJar(this.#store);
  readonly #root: URL;
  /** The headers of every request, as long as no cookie expires or has a path: searching the jar is slow. */
  #same: Readonly<Record<string, string>> | undefined;

  /** @param baseUrl cookies go to this exact origin (scheme, host, port) only; the jar itself ignores ports. */
  constructor(baseUrl: URL) {
    this.#root = new URL("/", baseUrl);
  }

  /** How many cookies did not fit. */
  get refused(): number {
    return this.#store.refused;
  }

  /**
   * Stores `Set-Cookie` headers as far as there is room; one that RFC 6265 §5.3 rejects is ignored. All count as set
   * by "/": a cookie without a Path would otherwise be sent to /v1/auth only (RFC 6265 §5.1.4), but it belongs on
   * every later request (docs/service-interface.md §3.1).
   */
  keep(setCookies: readonly string[]): void {
    if (setCookies.length === 0) return;
    for (const setCookie of setCookies)
      this.#jar.setCookieSync(setCookie, this.#root.href, { ignoreError: true });
    const cookies = this.#jar.serializeSync()?.cookies ?? [];
    const areSame = cookies.every(({ path, expires, maxAge }) => path === "/" && !expires && maxAge == null);
    this.#same = areSame ? this.#matching(this.#root) : undefined;
  }

  headers(url: Address): Readonly<Record<string, string>> {
    if (url.origin !== this.#root.origin) return {};
    return this.#same ?? this.#matching(url);
  }

  #matching(url: Address): Readonly<Record<string, string>> {
    const cookie = this.#jar.getCookieStringSync(url.href);
    return cookie === "" ? {} : { cookie };
  }
}

/** Refuses what does not fit and keeps what it has, because the session is among the first cookies. */
export class LimitedCookieStore extends MemoryCookieStore {
  #refused = 0;

  /** How many cookies have been refused so far. */
  get refused(): number {
    return this.#refused;
  }

  override putCookie(cookie: Cookie): Promise<void>;
  override putCookie(cookie: Cookie, callback: ErrorCallback): void;
  override putCookie(cookie: Cookie, callback?: ErrorCallback): Promise<void> | void {
    const others = this.#cookies().filter((other) => !isSame(other, cookie) && !isExpired(other));
    if (isExpired(cookie)) this.#keep(others);
    else if (fits(cookie, others)) this.#keep([...others, cookie]);
    else this.#refused += 1;
    return callback ? callback(null) : Promise.resolve();
  }

  #cookies(): Cookie[] {
    const paths = Object.values(this.idx).flatMap((domain) => Object.values(domain));
    return paths.flatMap((path) => Object.values(path));
  }

  /** Replaces all cookies. Otherwise expired ones, and the paths they were for, would stay until they are looked up. */
  #keep(cookies: readonly Cookie[]): void {
    this.removeAllCookies(nothing);
    for (const cookie of cookies) super.putCookie(cookie, nothing);
  }
}

function fits(cookie: Cookie, others: readonly Cookie[]): boolean {
  const chars = [...others, cookie].reduce((sum, each) => sum + each.toString().length, 0);
  return others.length < MAX_COOKIES && chars <= MAX_COOKIE_CHARS;
}

/** RFC 6265 §5.3 step 11. */
function isSame(a: Cookie, b: Cookie): boolean {
  return a.key === b.key && a.domain === b.domain && a.path === b.path;
}

function isExpired(cookie: Cookie): boolean {
  return (cookie.expiryTime() ?? Number.POSITIVE_INFINITY) <= Date.now();
}

function nothing(): void {}

/** RFC 6265 §6.1: what every client should accept from one domain. */
const MAX_COOKIES = 50;
/** Names, values and attributes together. Servers that limit request headers accept no more anyway. */
const MAX_COOKIE_CHARS = 16_384;
