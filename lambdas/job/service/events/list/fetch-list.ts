// Fetches the whole list, page by page, along the Link headers.

import { SyncError } from "../../../errors/sync-error.ts";
import { OversizeJson } from "../../../json/json-tokens.ts";
import type { IsListed } from "../../../settings/is-listed.ts";
import { endpoint } from "../../endpoint.ts";
import type { EventList } from "../../event-service.ts";
import type { HttpResponse } from "../../http/transport.ts";
import type { ApiClient } from "../../requests/api-client.ts";
import type { ApiRequest } from "../../requests/api-request.ts";
import type { BodyReader } from "../../requests/body-pieces.ts";
import { requestName, unexpectedStatus } from "../../requests/failure.ts";
import { EventListBuilder } from "./event-list.ts";
import { MAX_ENTRIES } from "./list-entries.ts";
import { type ListPage, ListReader } from "./list-reader.ts";
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
    read: (bytes, headers) => {
      const reader = new PageReader(url, left, options);
      reader.add(bytes);
      return reader.end(headers);
    },
    reader: () => new PageReader(url, left, options),
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

class PageReader implements BodyReader<FetchedPage> {
  readonly #url: URL;
  readonly #options: ListOptions;
  readonly #reader: ListReader;
  #bytes = 0;

  constructor(url: URL, { entries }: Left, options: ListOptions) {
    this.#url = url;
    this.#options = options;
    this.#reader = new ListReader(options.pointer, entries);
  }

  add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    this.#explained(() => this.#reader.add(piece));
  }

  end(headers: HttpResponse["headers"]): FetchedPage {
    const page = this.#explained(() => this.#reader.end());
    return { page, bytes: this.#bytes, next: nextPage(headers, this.#url) };
  }

  #explained<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw error instanceof OversizeJson ? tooLarge(error.message, this.#options) : error;
    }
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
