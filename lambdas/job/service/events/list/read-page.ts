// Reads the response for one page of the list: its entries and what it says of the others, or why it is unusable.

import type { HttpResponse } from "../../http/transport.ts";
import { AddressDoubt } from "../../requests/address-doubt.ts";
import type { ApiRequest } from "../../requests/api-client.ts";
import { UnusableBody } from "../../requests/failure.ts";
import { failureIn } from "../failure-beside.ts";
import type { ShownName } from "../shape.ts";
import { failureNamed, failureOfEmpty } from "./empty-page.ts";
import { type ListPage, readListPage } from "./list-page.ts";
import { type PageHints, pageHints } from "./page-hints.ts";

export interface FetchedPage extends ListPage {
  /** How many entries it has, with those that were rejected. */
  readonly entries: number;
  readonly hints: PageHints;
  /** Where a page with entries names something that failed. */
  readonly failedAt: string | undefined;
  readonly headers: HttpResponse["headers"];
  readonly bytes: number;
}

/** Asks for pages; undefined is the answer for one behind the last. */
export interface PageClient {
  get(request: ApiRequest<FetchedPage | undefined>, signal?: AbortSignal): Promise<FetchedPage | undefined>;
}

interface PageResponse extends Pick<HttpResponse, "status" | "headers"> {
  readonly url: URL;
  /** The address of the first page. */
  readonly first: URL;
  readonly pointer: readonly string[] | undefined;
  readonly shownName: ShownName;
  /** The last page that has entries. */
  readonly before: FetchedPage | undefined;
  /** As much came before as pages state: whatever follows is behind the last page. */
  readonly isBehindAll: boolean;
  readonly maxEntries: number;
}

/** The remedy where the service fails in the middle of its list. */
export const ASK = "Ask the service's operator.";

/** In place of a body that has no content. */
const NO_PAGE = Buffer.from("[]");

/** Throws what `readListPage` throws, and `UnusableBody` for an error in place of a page. */
export function readFetchedPage(bytes: Buffer, response: PageResponse): FetchedPage {
  const { status, headers, url, first, before, isBehindAll, shownName } = response;
  const page = status === 204 && before !== undefined ? emptyPage(shownName) : listIn(bytes, response);
  const entries = page.events.length + page.rejected;
  const isEnd = entries === 0 && isBehindAll;
  const failure =
    entries === 0 ? failureOfEmpty(page, before, shownName) : failureIn(JSON.parse(page.beside), shownName);
  if (failure !== undefined && !isEnd)
    throw new UnusableBody(`a page of the list with an error at ${failure}`, ASK, {
      code: entries === 0 ? "LIST_INCOMPLETE" : "SERVICE_UNAVAILABLE",
    });
  const hints = pageHints(page, { status, headers }, { page: url, first, entries }, shownName);
  const failedAt = entries === 0 ? undefined : failureNamed(page, shownName);
  return { ...page, entries, hints, failedAt, headers, bytes: bytes.length };
}

function listIn(
  bytes: Buffer,
  { pointer, shownName, maxEntries, before, isBehindAll }: PageResponse,
): ListPage {
  try {
    return readListPage(bytes, pointer, shownName, maxEntries, before?.path);
  } catch (error) {
    // The page has no list: a wrong address would have shown on the first one.
    if (!(error instanceof AddressDoubt) || before === undefined) throw error;
    if (isBehindAll) return emptyPage(shownName);
    throw new UnusableBody("a page in which there is no list", ASK, { code: "LIST_INCOMPLETE" });
  }
}

function emptyPage(shownName: ShownName): ListPage {
  return readListPage(NO_PAGE, [], shownName);
}
