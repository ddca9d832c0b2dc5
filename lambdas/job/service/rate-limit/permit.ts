// Permission to send one request, as the rate limiter gives it.

/** How a request's bytes are estimated: a detail as the largest recent one; for others nothing is known. */
export type RequestKind = "detail" | "other";

/** Permission to send one request. Ends with the first call of either method. */
export interface Permit {
  /** How large the body is expected to be at most; 0 if nothing is known. */
  readonly expectedBytes: number;
  /** The request was sent. `bytes`: the size of the decoded response body, 0 if none came. */
  settle(bytes: number): void;
  /** The request was not sent. */
  cancel(): void;
}
