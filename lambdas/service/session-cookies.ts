// Keeps the cookies of one session and gives them to requests to the service's own origin.

import { CookieJar } from "tough-cookie";

export class SessionCookies {
  readonly #jar = new CookieJar();
  readonly #root: URL;

  /** @param baseUrl cookies go to this exact origin (scheme, host, port) only: a jar alone does not look at ports. */
  constructor(baseUrl: URL) {
    this.#root = new URL("/", baseUrl);
  }

  /**
   * Takes in `Set-Cookie` headers; one that RFC 6265 §5.3 rejects is ignored. All are taken as set by "/": a cookie
   * without a Path would else go back to /v1/auth only (§5.1.4), and the interface document wants it on every later
   * request (§5 rule 3).
   */
  keep(setCookies: readonly string[]): void {
    for (const setCookie of setCookies)
      this.#jar.setCookieSync(setCookie, this.#root.href, { ignoreError: true });
  }

  headers(url: URL): Readonly<Record<string, string>> {
    if (url.origin !== this.#root.origin) return {};
    const cookie = this.#jar.getCookieStringSync(url.href);
    return cookie === "" ? {} : { cookie };
  }
}
