// The request for one event, and what each response means: read it, leave the event out, or stop.

import type { Address } from "../endpoint.ts";
import type { Detail } from "../event-service.ts";
import type { ApiRequest } from "../requests/api-request.ts";
import { requestName, unexpectedStatus } from "../requests/failure.ts";
import { decodeText } from "./json-text.ts";
import { readDetail } from "./read-detail.ts";

export interface DetailRequestOptions {
  readonly url: Address;
  /** The event's uuid, as it was listed. */
  readonly requestAs: string;
  readonly pointer: readonly string[] | undefined;
  readonly capBytes: number;
}

export function detailRequest(options: DetailRequestOptions): ApiRequest<Detail> {
  const { url, requestAs, pointer, capBytes } = options;
  return {
    url,
    kind: "detail",
    bodyCapBytes: capBytes,
    read: (bytes) => readDetail(decodeText(bytes), requestAs, pointer),
    oversize: () => ({ kind: "left-out", reason: "oversize" }),
    refused: (status) => {
      switch (status) {
        // docs/service-interface.md §5: not entitled to this event.
        case 403:
          return { kind: "left-out", reason: "forbidden" };
        // docs/service-interface.md §3.3: archived or removed after it was listed.
        case 404:
        case 410:
          return { kind: "left-out", reason: "gone" };
        default:
          throw unexpectedStatus(requestName("GET", url), status);
      }
    },
  };
}
