// From what came of a response to its decoded body, and to how many bytes of it the budget counts.

import { decodeBody, decodedLength } from "./content-encoding.ts";
import type { HttpResponse, ResponseBody, TransportRequest } from "./transport.ts";

/** What came of a response. */
export interface Received extends Pick<HttpResponse, "status" | "headers"> {
  /** Of the body, as far as they came. */
  readonly bytes: Uint8Array;
  readonly ending: Ending;
}

export type Ending =
  | { readonly kind: "whole" }
  /** Longer than the cap; the rest was not read. */
  | { readonly kind: "oversize" }
  /** Cut off or timed out. `cause` is a short code. */
  | { readonly kind: "broken"; readonly cause: string };

/** At once for most bodies that are small or not compressed. */
export function decodeReceived(
  received: Received,
  { bodyCapBytes: capBytes, readsRefusal }: Pick<TransportRequest, "bodyCapBytes" | "readsRefusal">,
): HttpResponse | Promise<HttpResponse> {
  const { status, headers, bytes, ending } = received;
  const encoding = headers.get("content-encoding")?.join(",") ?? "";
  const isRefusal = status >= 400 && status < 500;
  const isRead = status < 300 || (isRefusal && readsRefusal === true);
  const respond = (body: ResponseBody): HttpResponse | Promise<HttpResponse> => {
    if (body.kind === "whole") return { status, headers, body, decodedBytes: body.bytes.length };
    if (bytes.length === 0) return { status, headers, body, decodedBytes: 0 };
    // Services count what they sent before they compressed it, also of what is of no use here.
    const counted = decodedLength(bytes, encoding, capBytes);
    return counted.then((decodedBytes) => ({ status, headers, body, decodedBytes }));
  };
  if (!isRead) return respond({ kind: "unread" });
  const body = ending.kind === "whole" ? decodeBody(bytes, encoding, capBytes) : ending;
  return body instanceof Promise ? body.then(respond) : respond(body);
}
