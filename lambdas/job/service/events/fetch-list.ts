// Fetches the whole list, page by page, along the Link headers.

import { SyncError } from "../../errors/sync-error.ts";
import { OversizeJson } from "../../json/json-tokens.ts";
import type { IsListed } from "../../settings/is-listed.ts";
import { endpoint } from "../endpoint.ts";
import type { EventList } from "../event-service.ts";
import type { ApiClient } from "../requests/api-client.ts";
import type { ApiRequest } from "../requests/api-request.ts";
import { requestName, unexpectedStatus } from "../requests/failure.ts";
import { EventListBuilder } from "./event-list.ts";
import { type ListPage, MAX_ENTRIES, readListPage } from "./list-page.ts";
import { nextPage } from "./next-page.ts";

export interface ListOptions {
  readonly baseUrl: URL;
  readonly isListed: IsListed;
  readonly pointer: readonly string[] | undefined;
  /** Over all pages. */
  readonly capBytes: number;
}

const MAX_PAGES = 10_000;

/** The limits for all remaining pages together. */
interface Left {
  readonly bytes: number;
  readonly entries: number;
}

interface FetchedPage {
  readonly page: ListPage;
  readonly bytes: number;
  readonly next: URL | undefined;
}

export async function fetchList(
  client: Pick<ApiClient, "get">,
  options: ListOptions,
  signal?: AbortSignal,
): Promise<EventList> {
  const list = new EventListBuilder();
  const seen = new Set<string>();
  let leftBytes = options.capBytes;
  for (let url: URL | undefined = firstPage(options); url !== undefined; ) {
    if (seen.has(url.href)) throw unexpected("form a circle", options);
    if (seen.size === MAX_PAGES) throw unexpected(`continue after ${MAX_PAGES} pages`, options);
    seen.add(url.href);
    const left: Left = { bytes: leftBytes, entries: MAX_ENTRIES - list.received };
    const fetched: FetchedPage = await client.get(pageRequest(url, left, options), signal);
    leftBytes -= fetched.bytes;
    list.add(fetched.page, fetched.next !== undefined);
    url = fetched.next;
  }
  return list.finish();
}

function firstPage({ baseUrl, isListed }: ListOptions): URL {
  const url = endpoint(baseUrl, "/v1/events");
  if (isListed !== "any") url.searchParams.set("is_listed", isListed);
  return url;
}

function pageRequest(url: URL, left: Left, options: ListOptions): ApiRequest<FetchedPage> {
  return {
    url,
    kind: "other",
    bodyCapBytes: left.bytes,
    read: (bytes, headers) => ({
      page: readPage(bytes, left, options),
      bytes: bytes.length,
      next: nextPage(headers, url),
    }),
    oversize: () => {
      throw unexpected(`are longer than ${options.capBytes} bytes`, options);
    },
    refused: (status) => {
      const request = requestName("GET", url);
      if (status !== 403) throw unexpectedStatus(request, status);
      throw new SyncError(
        "NOT_ENTITLED",
        `The account may not list events (${request} was answered with status 403). Ask the service's operator to ` +
          "license events for it.",
        { fields: { request, status } },
      );
    },
  };
}

function readPage(bytes: Uint8Array, left: Left, options: ListOptions): ListPage {
  try {
    return readListPage(bytes, options.pointer, left.entries);
  } catch (error) {
    if (error instanceof OversizeJson) throw tooLarge(error.message, options);
    throw error;
  }
}

function tooLarge(problem: string, { baseUrl }: ListOptions): SyncError {
  const request = requestName("GET", endpoint(baseUrl, "/v1/events"));
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The list of events (${request}) ${problem}, and is not read further. Nothing was published. Check that --base-url ` +
      "is the service itself and --list-pointer leads to the events; if so, ask the service's operator.",
    { fields: { request } },
  );
}

function unexpected(problem: string, { baseUrl }: ListOptions): SyncError {
  const request = requestName("GET", endpoint(baseUrl, "/v1/events"));
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The pages of the list of events (${request}) ${problem}. Nothing was published; ask the service's operator.`,
    { fields: { request } },
  );
}
