// An e-mail address and a password: with them a cookie session (docs/service-interface.md §4.1), which is one login, its cookies
// on every request, and a new login when they are refused; or HTTP Basic (§4.2).

import { setImmediate } from "node:timers/promises";
import type { CurrentCredentials, PasswordCredentials } from "../../credentials/credentials.ts";
import { advise, setting } from "../../errors/advice.ts";
import { isRefusedLogin, type SyncError } from "../../errors/sync-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import { shownNames } from "../events/shape.ts";
import { type HttpResponse, NoResponse } from "../http/transport.ts";
import { AddressDoubt } from "../requests/address-doubt.ts";
import { endpoint } from "../requests/api-client.ts";
import { type AuthenticationMethod, NEW_PROOF_PAUSES_MS } from "../requests/authenticator.ts";
import { BadStatus, isThrottled, redirected, requestName, unexpectedStatus } from "../requests/failure.ts";
import { isPutOff, statusClass } from "../requests/retry.ts";
import type { Sender } from "../requests/sender.ts";
import { SessionCookies } from "./session-cookies.ts";
import { SessionEnds } from "./session-end.ts";

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
    unauthenticated: {
      what: "The service refused the e-mail address and password (status 401, method basic).",
      next: "Check the credentials; if they are right, ask the service's operator whether the account is disabled, or use the method session.",
      ifNew: advise`If this address has never worked, check ${setting("baseUrl")}.`,
    },
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
  const { clock, logger } = options;
  const ends = new SessionEnds();
  let logins = 0;
  return {
    credentials,
    unauthenticated: {
      what: "The service accepted the login but answered the next requests with 401 for seconds, also after a new login.",
      next: "Check that the account may use the interface. It may also be another program that logs in with the same account, where the service allows one session.",
      ifNew: advise`If this address has never worked, check that ${setting("baseUrl")} is the service itself and not a proxy that drops cookies.`,
    },
    renew: async (signal) => {
      const cookies = await logIn(credentials, options, signal);
      logins += 1;
      return {
        // The first login gets a second chance: a service may need two logins to settle.
        isLastTry: logins > 1,
        pausesMs: NEW_PROOF_PAUSES_MS,
        endsUnsaid: true,
        get isExpired() {
          return ends.isOver(cookies.ofLogin(), clock.monotonicMs());
        },
        headers: (url) => cookies.headers(url),
        keep: (setCookies, sentAtMs) => cookies.keep(setCookies, sentAtMs),
      };
    },
    close: async () => {
      const { email, password } = credentials.current;
      const names = [...ends.ignored].map(shownNames(() => [email, password]));
      if (names.length > 0)
        logger.warn(
          `The service ended its cookie ${names.join(", ")} within a minute of a new login, or four times in an hour, so the end of that cookie was no reason for another login any more. If events are missing, ask the service's operator how long a session lasts.`,
        );
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
  const { response, sentAtMs } = await send(credentials, options, url, signal);
  if (statusClass(response.status) !== "read") throw refused(url, response);
  const cookies = new SessionCookies(options.baseUrl, options.clock);
  cookies.keepOfLogin(response.headers.get("set-cookie") ?? [], sentAtMs);
  if (cookies.refused > 0) throw unusable(url, response, TOO_MANY_COOKIES);
  if (Object.keys(cookies.headers(endpoint(options.baseUrl, "/v1/events"))).length === 0)
    throw unusable(url, response, NO_COOKIE);
  options.logger.info("logged in");
  // The connection is free only when the event loop has turned: before that, the next request would open another one.
  await setImmediate();
  return cookies;
}

/** What came of a login is not known after a lost answer: then it is sent once more. */
const MOST_UNSURE = 2;

/** A POST. One that was certainly not carried out is sent again as any request is, and a refused one never. */
async function send(
  { email, password }: PasswordCredentials,
  { sender, clock }: LoginOptions,
  url: URL,
  signal: AbortSignal | undefined,
): Promise<{ readonly response: HttpResponse; readonly sentAtMs: number }> {
  const request = {
    method: "POST",
    url,
    headers: { "content-type": "application/json" },
    // docs/service-interface.md §2.2
    body: JSON.stringify({ meta: { version: "v1" }, data: { email, password } }),
    bodyCapBytes: BODY_CAP_BYTES,
  } as const;
  sender.counts.logins += 1;
  let unsure = 0;
  for (let failures = 1; ; failures += 1) {
    const permit = await sender.admit("other", signal);
    const sentAtMs = clock.now();
    let failure: NoResponse | BadStatus;
    try {
      const response = await sender.send(permit, request, signal);
      const { status } = response;
      if (statusClass(status) !== "retry") return { response, sentAtMs };
      failure = new BadStatus(status, sender.askedWaitMs(response));
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      failure = error;
    }
    if (!isPutOff(failure)) unsure += 1;
    // A service that does not say when may refuse for as long as its window is full.
    const after = isThrottled(failure) && !isPutOff(failure) ? new BadStatus(429, sender.windowMs) : failure;
    await sender.backOff("POST", url, after, failures, signal, unsure === MOST_UNSURE);
  }
}

// The service's own text names the e-mail address (docs/service-interface.md §3.1), so it is not repeated.
function refused(url: URL, response: HttpResponse): SyncError {
  const request = requestName("POST", url);
  const { status } = response;
  const fields = { request, status };
  if (status === 404)
    return new AddressDoubt(
      "LOGIN_REFUSED",
      "The service refused the login (status 404): wrong password or unknown e-mail address.",
      {
        ifNew: advise`Check the credentials. If they are right, check ${setting("baseUrl")}, because a wrong address is answered with 404 as well.`,
        ifKnown: "Check the credentials.",
        fields,
      },
    );
  if (status === 401)
    return new AddressDoubt(
      "ACCOUNT_DISABLED",
      "The service refused the login (status 401): the account is disabled.",
      {
        ifNew: advise`Ask the service's operator. If this address has never worked, check ${setting("baseUrl")}, because another server may answer with 401 as well.`,
        ifKnown: "Ask the service's operator.",
        fields,
      },
    );
  return statusClass(status) === "redirect"
    ? redirected(request, url, response)
    : unexpectedStatus(request, status);
}

// Any of too many may be the session. Cookies of later responses that do not fit are ignored.
const TOO_MANY_COOKIES = "which are more than a session may have";
const NO_COOKIE = "none of which is valid for the service's events (path, domain, expiry or form)";

/** A response that logs in, but gives no session that can be used. */
function unusable(url: URL, { status, headers }: HttpResponse, why: string): SyncError {
  const cookies = headers.get("set-cookie")?.length ?? 0;
  return new AddressDoubt(
    "UNEXPECTED_RESPONSE",
    `The login was answered with status ${status} and ${cookies} cookies, ${why}.`,
    {
      ifNew: advise`Check that ${setting("baseUrl")} is the service itself and not a proxy or web page, and that this machine's clock is right; if so, ask the service's operator.`,
      ifKnown: "Check that this machine's clock is right.",
      fields: { request: requestName("POST", url), status, cookies },
    },
  );
}
