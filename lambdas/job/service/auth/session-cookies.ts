// The cookies of a session (RFC 6265): which are kept, where they are sent, and until when those of the login live.

import { isUtf8 } from "node:buffer";
import { Cookie, CookieJar, pathMatch } from "tough-cookie";
import { canonicalHost } from "../../network/proxies.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Address } from "../http/transport.ts";
import type { LoginCookie } from "./session-end.ts";

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

interface Ending extends LoginCookie {
  /** The same by the wall clock. */
  readonly wallEndsAtMs: number;
}

/** The session is among the first: those that come when there is no room are refused. */
export class SessionCookies {
  readonly #root: URL;
  readonly #clock: Pick<Clock, "now" | "monotonicMs">;
  /** By name, domain and path (RFC 6265 §5.3), in the order in which they came. */
  readonly #kept = new Map<string, Kept>();
  readonly #ofLogin = new Map<string, Ending>();
  #chars = 0;
  /** How many cookies did not fit. */
  refused = 0;

  constructor(baseUrl: URL, clock: Pick<Clock, "now" | "monotonicMs">) {
    this.#root = new URL("/", baseUrl);
    this.#clock = clock;
  }

  /**
   * Stores `Set-Cookie` headers as far as there is room; one that RFC 6265 §5.3 rejects is ignored. All count as set
   * by "/": a cookie without a Path would otherwise be sent to /v1/auth only (RFC 6265 §5.1.4), but it belongs on
   * every later request (docs/service-interface.md §3.1).
   * @param sentAtMs when their request was sent: they are not younger at the service
   */
  keep(setCookies: readonly string[], sentAtMs = this.#clock.now()): void {
    if (setCookies.length === 0) return;
    const nowMs = sentAtMs;
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
    const isEnd = endsAtMs <= nowMs;
    if (!isEnd && (isOneTooMany || allChars > MAX_COOKIE_CHARS)) {
      this.refused += 1;
      return;
    }
    if (isEnd) this.#drop(id);
    else {
      const { path } = cookie;
      this.#kept.set(id, { text: cookie.cookieString(), path: path ?? "/", chars, endsAtMs });
      this.#chars = allChars;
    }
    const ofLogin = this.#ofLogin.get(id);
    if (ofLogin) this.#ofLogin.set(id, this.#setAgain(ofLogin, isEnd ? nowMs : endsAtMs));
  }

  /** The login's answer, before any other. */
  keepOfLogin(setCookies: readonly string[], sentAtMs: number): void {
    this.keep(setCookies, sentAtMs);
    const fromMs = this.#clock.monotonicMs() - (this.#clock.now() - sentAtMs);
    for (const [id, { endsAtMs }] of this.#kept) {
      const [name = ""] = id.split(";", 1);
      this.#ofLogin.set(id, this.#setAgain({ name, fromMs, endsAtMs: Infinity }, endsAtMs));
    }
  }

  #setAgain(cookie: LoginCookie, endsAtMs: number): Ending {
    const nowMs = this.#clock.monotonicMs();
    if (cookie.endsAtMs <= nowMs && endsAtMs <= this.#clock.now())
      return { ...cookie, wallEndsAtMs: endsAtMs };
    return { ...cookie, endsAtMs: nowMs + endsAtMs - this.#clock.now(), wallEndsAtMs: endsAtMs };
  }

  /**
   * The cookies of the login, as they were set last. One has ended by whichever clock says so first: a wall clock may be set
   * back, and the monotonic one may stand still while the computer sleeps.
   */
  ofLogin(): readonly LoginCookie[] {
    const nowMs = this.#clock.monotonicMs();
    const wallNowMs = this.#clock.now();
    for (const [id, cookie] of this.#ofLogin)
      if (cookie.wallEndsAtMs <= wallNowMs && cookie.endsAtMs > nowMs)
        this.#ofLogin.set(id, { ...cookie, endsAtMs: nowMs, statedMs: cookie.endsAtMs - cookie.fromMs });
    return [...this.#ofLogin.values()];
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
