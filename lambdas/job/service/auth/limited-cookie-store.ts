// Where the cookies of one session lie: no more of them, and no larger ones, than a session needs.

import { type Cookie, type ErrorCallback, MemoryCookieStore } from "tough-cookie";

/** RFC 6265 §6.1: what every client should take of one domain. */
export const MAX_COOKIES = 50;
/** Names, values and attributes together. A service that limits its headers takes no more back anyway. */
export const MAX_COOKIE_CHARS = 16_384;

/** What does not fit is refused; what lies here already stays, because the session is among the first that came. */
export class LimitedCookieStore extends MemoryCookieStore {
  #refused = 0;

  /** How many cookies have been refused so far. */
  get refused(): number {
    return this.#refused;
  }

  override putCookie(cookie: Cookie): Promise<void>;
  override putCookie(cookie: Cookie, callback: ErrorCallback): void;
  override putCookie(cookie: Cookie, callback?: ErrorCallback): Promise<void> | void {
    const others = this.#cookies().filter((other) => !isSame(other, cookie) && !isOver(other));
    if (isOver(cookie)) this.#keep(others);
    else if (fits(cookie, others)) this.#keep([...others, cookie]);
    else this.#refused += 1;
    return callback ? callback(null) : Promise.resolve();
  }

  #cookies(): Cookie[] {
    const paths = Object.values(this.idx).flatMap((domain) => Object.values(domain));
    return paths.flatMap((path) => Object.values(path));
  }

  /** Whole, or cookies that are over, and the paths they were for, would stay until somebody asks for just them. */
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

function isOver(cookie: Cookie): boolean {
  return (cookie.expiryTime() ?? Number.POSITIVE_INFINITY) <= Date.now();
}

function nothing(): void {}
