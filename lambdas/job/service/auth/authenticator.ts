// How requests prove who sends them. One port, an adapter for each method.

/** The credentials of one moment, to send one request at a time with. */
export interface Pass {
  /** False once the credentials are known to be stale: ask for another pass before sending. */
  readonly isCurrent: boolean;
  /** The headers for a request to `url`; none unless it has the exact origin the credentials belong to. */
  headers(url: URL): Readonly<Record<string, string>>;
  /** Takes in the `Set-Cookie` headers of an answer to a request that carried this pass. */
  keep(setCookies: readonly string[]): void;
  /** The request was answered with anything but 401. */
  accepted(): void;
  /** The request was not sent or not answered. Does nothing after one of the others. */
  release(): void;
  /** The request was answered with 401. Resolves with the pass to send it again with; throws `UNAUTHENTICATED`. */
  refused(signal?: AbortSignal): Promise<Pass>;
}

/** Puts credentials on requests to their own origin and renews them when told of a refusal; repeats no request. */
export interface Authenticator {
  /** WaitReporter while credentials are renewed or tried out. */
  pass(signal?: AbortSignal): Promise<Pass>;
}
