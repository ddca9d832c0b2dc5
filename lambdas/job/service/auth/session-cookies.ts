// Keeps the cookies of one session and puts them on requests to the service's own origin.

import { CookieJar } from "tough-cookie";
import type { Address } from "../endpoint.ts";
import { LimitedCookieStore } from "./limited-cookie-store.ts";

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
