// GET /v1/events: which events, in what order, on which page, in which envelope (docs/service-interface.md §3.2).

import { shuffled } from "./seeded-random.ts";
import { json, objectText, refusal, type SimulatedResponse } from "./simulated-response.ts";
import type { World } from "./world.ts";

interface ListEntry {
  readonly uuid: string;
  readonly listing: string;
}

/** The last one is a shape that a client must be configured for: `{"result": {"items": [...]}}`. */
export type ListShape = "array" | "data-array" | "data-map" | "data-events" | "result-items";

export interface ListOptions {
  /** Default `data-array`. */
  readonly shape?: ListShape;
  /** JSON members as text: `top` (`"total":120`) goes into the outermost object, `data` into `data` where that is one. */
  readonly members?: { readonly top?: string; readonly data?: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly pageSize?: number;
  /** Where the next page is announced: `Link` (RFC 8288, default), `links.next` in the body, or nowhere. */
  readonly next?: "link" | "body" | "none";
  /** Makes the address of the next page of its relative reference; default: leaves it as it is. */
  readonly nextUrl?: (relative: string) => string;
  readonly shuffle?: number;
  /** So many of the first entries come a second time. */
  readonly duplicates?: number;
  /** Further entries, as text: without a uuid, or with an event's uuid and another text. */
  readonly extra?: readonly string[];
  /** Sent in place of the body, or made from it. */
  readonly raw?: string | Buffer | ((body: string, entries: readonly ListEntry[]) => string | Buffer);
}

export const listEvents = (query: URLSearchParams, world: World, options: ListOptions): SimulatedResponse => {
  const isListed = query.get("is_listed");
  if (isListed !== null && isListed !== "true" && isListed !== "false") {
    return refusal(400, "is_listed is true or false.");
  }
  const page = Number(query.get("page") ?? 1);
  if (!Number.isSafeInteger(page) || page < 1) return refusal(400, "page is a number from 1.");
  const all = entriesOf(world.shown(isListed === null ? undefined : isListed === "true"), options);
  const { pageSize = Infinity, next = "link", nextUrl = (relative) => relative, raw } = options;
  const entries = pageSize === Infinity ? all : all.slice((page - 1) * pageSize, page * pageSize);
  const address = (to: number): string =>
    nextUrl(`/v1/events?${isListed === null ? "" : `is_listed=${isListed}&`}page=${to}`);

  const more = page * pageSize < all.length;
  const body = bodyText(entries, options, more && next === "body" ? address(page + 1) : undefined);
  return json(200, typeof raw === "function" ? raw(body, entries) : (raw ?? body), {
    ...(more && next === "link"
      ? { link: `</v1/events?page=1>; rel="first", <${address(page + 1)}>; rel="next"` }
      : {}),
    ...options.headers,
  });
};

const entriesOf = (
  events: readonly ListEntry[],
  { duplicates = 0, extra = [], shuffle }: ListOptions,
): readonly ListEntry[] => {
  const entries = [
    ...events,
    ...events.slice(0, duplicates),
    ...extra.map((listing, index) => ({ uuid: `extra-${index + 1}`, listing })),
  ];
  return shuffle === undefined ? entries : shuffled(entries, shuffle);
};

const bodyText = (entries: readonly ListEntry[], options: ListOptions, next: string | undefined): string => {
  const shape: ListShape = options.shape ?? "data-array";
  const { members = {} } = options;
  const links = next === undefined ? undefined : `"links":{"next":${JSON.stringify(next)}}`;
  const array = `[${entries.map(({ listing }) => listing).join(",")}]`;
  const envelope = (data: string): string => objectText(data, links, members.top);
  switch (shape) {
    case "array":
      return array;
    case "data-array":
      return envelope(`"data":${array}`);
    case "data-map": {
      const named = entries.map(({ uuid, listing }) => `${JSON.stringify(uuid)}:${listing}`);
      return envelope(`"data":${objectText(...named, members.data)}`);
    }
    case "data-events":
      return envelope(`"data":${objectText(`"events":${array}`, members.data)}`);
    case "result-items":
      return envelope(`"result":{"items":${array}}`);
  }
};
