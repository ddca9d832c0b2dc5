// The port to the network: one request, and its response or the reason why there is none.

/** What a request needs of its URL. */
export interface Address extends Pick<URL, "href" | "origin" | "pathname" | "search"> {
  /** In place of a path that the service has named: it may hold a secret. */
  readonly shownPath?: string;
}

export interface TransportRequest {
  readonly method: "GET" | "POST";
  readonly url: Address;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How many bytes a body may have, as received and as decoded. */
  readonly bodyCapBytes: number;
  /** Reads the content of a 4xx as well, which names the kind of the refusal. */
  readonly readsRefusal?: true;
  /** For connect, headers and body together; without it the transport's own. */
  readonly timeoutMs?: number | undefined;
}

export type ResponseBody =
  | { readonly kind: "whole"; readonly bytes: Uint8Array }
  /** Longer than the request's cap; the rest was not read. */
  | { readonly kind: "oversize" }
  /** Cut off, timed out or not decodable. `cause` is a short code. */
  | { readonly kind: "broken"; readonly cause: string }
  /** The body is in a content encoding that the request does not accept. */
  | { readonly kind: "foreign" }
  /** Neither a 2xx nor a 4xx that the request reads: its content is never read, so it cannot leak. */
  | { readonly kind: "unread" };

export interface HttpResponse {
  readonly status: number;
  /** By their names in lower case; a repeated header has several values. */
  readonly headers: Pick<ReadonlyMap<string, readonly string[]>, "get"> & { keys(): Iterable<string> };
  readonly body: ResponseBody;
  /**
   * Body bytes after decoding, of every status: what services count. Of an incomplete body what can be decoded of it, and
   * never less than what came.
   */
  readonly decodedBytes: number;
}

/** The code of what did not come in time. */
export const TIMED_OUT = "TIMED_OUT";
/** The code of a response that the HTTP parser refuses. */
export const INVALID_HTTP = "INVALID_HTTP";

/**
 * No response came that can be read: connection refused or reset, time-out, something other than HTTP. `reason` is a short
 * code such as `ECONNREFUSED`.
 */
export class NoResponse extends Error {
  override readonly name = "NoResponse";
  readonly kind = "no-response";
  readonly reason: string;
  /** The proxy that opened no tunnel, without credentials; undefined if none is at fault. */
  readonly proxy: string | undefined;
  /** Not one byte of the request has left: there was no connection for it. */
  readonly isUnsent: boolean;

  /** @param says why the HTTP parser refused what came */
  constructor(reason: string, proxy?: string, says?: string, isUnsent = false) {
    const code = says === undefined ? reason : `${reason}: ${says}`;
    super(
      proxy === undefined
        ? `${answerWith(reason) ?? "no response"} (${code})`
        : `no connection through the proxy ${proxy} (${code})`,
    );
    this.reason = reason;
    this.proxy = proxy;
    this.isUnsent = isUnsent;
  }

  /** An answer came, but none that can be read. */
  get isAnswer(): boolean {
    return answerWith(this.reason) !== undefined;
  }
}

function answerWith(reason: string): string | undefined {
  if (reason === "NOT_HTTP") return "something that is not HTTP";
  if (reason === "UND_ERR_HEADERS_OVERFLOW") return "a response with more than 16 KB of headers";
  const isInvalid = reason === INVALID_HTTP || reason === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH";
  return isInvalid ? "a response that is not valid HTTP" : undefined;
}

/** Sends a request once. Follows no redirects, performs no retries, adds no credentials. */
export interface Transport {
  /** Throws `NoResponse` or the signal's reason. Once headers came it resolves, even if the body is incomplete. */
  send(request: TransportRequest, signal?: AbortSignal): Promise<HttpResponse>;
  close(): Promise<void>;
}
