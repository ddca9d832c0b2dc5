// Stores the cookies of one session, with limits on their number and size.

import { type Cookie, type ErrorCallback, MemoryCookieStore } from "tough-cookie";
import { MAX_COOKIE_CHARS, MAX_COOKIES } from "./max-cookies.ts";

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
