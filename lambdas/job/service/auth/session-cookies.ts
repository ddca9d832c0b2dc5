// Keeps the cookies of one session and gives them to requests to the service's own origin.

import { CookieJar } from "tough-cookie";
import { LimitedCookieStore } from "./limited-cookie-store.ts";

export class SessionCookies {
  readonly #store = new LimitedCookieStore();
  readonly #jar = new CookieJar(this.#store);
  readonly #root: URL;
  /** The headers of every request, while no cookie ends or is for some paths only: the jar's search is slow. */
  #same: Readonly<Record<string, string>> | undefined;

  /** @param baseUrl cookies go to this exact origin (scheme, host, port) only: a jar alone does not look at ports. */
  constructor(baseUrl: URL) {
    this.#root = new URL("/", baseUrl);
  }

  /** How many cookies there was no room for. */
  get refused(): number {
    return this.#store.refused;
  }

  /**
   * Takes in `Set-Cookie` headers as far as there is room for them; one that RFC 6265 §5.3 rejects is ignored. All are taken as set by "/": a cookie
   * without a Path would else go back to /v1/auth only (§5.1.4), and the interface document wants it on every later
   * request (§5 rule 3).
   */
  keep(setCookies: readonly string[]): void {
    if (setCookies.length === 0) return;
    for (const setCookie of setCookies)
      this.#jar.setCookieSync(setCookie, this.#root.href, { ignoreError: true });
    const cookies = this.#jar.serializeSync()?.cookies ?? [];
    const areSame = cookies.every(({ path, expires, maxAge }) => path === "/" && !expires && maxAge == null);
    this.#same = areSame ? this.#matching(this.#root) : undefined;
  }

  headers(url: URL): Readonly<Record<string, string>> {
    if (url.origin !== this.#root.origin) return {};
    return this.#same ?? this.#matching(url);
  }

  #matching(url: URL): Readonly<Record<string, string>> {
    const cookie = this.#jar.getCookieStringSync(url.href);
    return cookie === "" ? {} : { cookie };
  }
}
