// The port of authentication. The folder auth has an adapter for each method.

import type { Address } from "../http/transport.ts";

/** What became of a request that carried credentials. */
type RequestResult =
  /** Any response but a 401. `setCookies`: its `Set-Cookie` headers. */
  | { readonly kind: "accepted"; readonly setCookies: readonly string[] }
  /** A 401. */
  | { readonly kind: "refused"; readonly setCookies: readonly string[] }
  /** The request was not sent, or no response came. */
  | { readonly kind: "unanswered" };

/** The current credentials, for one request or for many. */
export interface Authorization {
  /** False once the credentials are known to be stale: get another authorization before sending. */
  readonly isCurrent: boolean;
  /** The headers for a request to `url`; none unless it has the exact origin the credentials belong to. */
  headers(url: Address): Readonly<Record<string, string>>;
  /**
   * Reports what became of a request, once for each. After a refusal it resolves with the renewed authorization to send
   * the request again with, or rejects with `UNAUTHENTICATED`; else it returns undefined at once.
   */
  settle(result: RequestResult, signal?: AbortSignal): Promise<Authorization | undefined> | undefined;
}

/** Puts credentials on requests to their own origin and renews refused ones. It sends no request a second time. */
export interface Authenticator {
  /**
   * At once, or with a wait while credentials are renewed or tried. Each authorization must be settled, also if nothing
   * was sent.
   */
  authorize(signal?: AbortSignal): Authorization | Promise<Authorization>;
}
