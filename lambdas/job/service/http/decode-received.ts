// From what came of a response to its decoded body, and to how many bytes of it the budget counts.

import { decodeBody, decodedLength } from "./content-encoding.ts";
import type { Collected, Received } from "./response-collector.ts";
import type { HttpResponse, ResponseBody, TransportRequest } from "./transport.ts";

export async function decodeReceived(
  received: Received,
  { bodyCapBytes: capBytes, readsRefusal }: Pick<TransportRequest, "bodyCapBytes" | "readsRefusal">,
): Promise<HttpResponse> {
  if (received.ending === undefined) return received;
  const { status, headers, bytes } = received;
  const encoding = headers.get("content-encoding")?.join(",") ?? "";
  const isRefusal = status >= 400 && status < 500;
  const isRead = status < 300 || (isRefusal && readsRefusal === true);
  const body: ResponseBody = isRead ? await bodyOf(received, encoding, capBytes) : { kind: "unread" };
  // Services count what they sent before they compressed it, also of what is of no use here.
  const decodedBytes =
    body.kind === "whole" ? body.bytes.length : await decodedLength(bytes, encoding, capBytes);
  return { status, headers, body, decodedBytes };
}

async function bodyOf(
  { bytes, ending }: Collected,
  encoding: string,
  capBytes: number,
): Promise<ResponseBody> {
  return ending.kind === "whole" ? decodeBody(bytes, encoding, capBytes) : ending;
}
