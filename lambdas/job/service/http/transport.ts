// What one attempt to talk to the service is: a request, and the answer or its absence.

export interface TransportRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Neither the bytes received nor the decoded ones go over this. */
  readonly bodyCapBytes: number;
}

export type ResponseBody =
  | { readonly kind: "whole"; readonly bytes: Uint8Array }
  /** Longer than the request's cap; the rest was not read. */
  | { readonly kind: "oversize" }
  /** Cut off, timed out or not decodable. `cause` is a short code. */
  | { readonly kind: "broken"; readonly cause: string }
  /** In a content encoding that the request did not offer. */
  | { readonly kind: "foreign" }
  /** Not a 2xx: nobody reads it, so nobody can leak it. */
  | { readonly kind: "unread" };

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; a header that came several times has several values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: ResponseBody;
  /** Body bytes as they came over the wire. */
  readonly wireBytes: number;
}

/** No status line came: refused, reset, timed out. `reason` is a short code such as `ECONNREFUSED`. */
export class NoResponse extends Error {
  override readonly name = "NoResponse";
  readonly reason: string;

  constructor(reason: string) {
    super(`no response (${reason})`);
    this.reason = reason;
  }
}

/** Sends a request once: follows no redirect, performs no retry, knows no credentials. */
export interface Transport {
  /** Throws `NoResponse`, or the signal's reason. Once the headers are there it is an answer, whatever the body does. */
  send(request: TransportRequest, signal?: AbortSignal): Promise<HttpResponse>;
  close(): Promise<void>;
}
