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

/** The page that is sent: its number from 1, and where its entries are among all of them. */
export interface SentPage {
  readonly number: number;
  readonly isLast: boolean;
  readonly start: number;
  readonly end: number;
  readonly all: number;
}

type OfPage<Value> = Value | ((page: SentPage) => Value);

export interface ListOptions {
  /** Default `data-array`. */
  readonly shape?: ListShape;
  /** JSON members as text: `top` (`"total":120`) goes into the outermost object, `data` into `data` where that is one. */
  readonly members?: { readonly top?: OfPage<string>; readonly data?: string };
  readonly headers?: OfPage<Readonly<Record<string, string>>>;
  /** Default 200. */
  readonly status?: number;
  readonly pageSize?: number;
  /** Where the next page is announced: `Link` (RFC 8288, default), `links.next` in the body, or nowhere. */
  readonly next?: "link" | "body" | "none";
  /**
   * What the query says of a page: its number from 1 (default) or from 0, how many entries lie before it, the uuid of the entry
   * before it, or a cursor, which `members` or `headers` may announce with `cursorOf`.
   */
  readonly asked?: "page" | "page0" | "offset" | "after" | "cursor";
  /** The name of that parameter; default: as it is above. Another one is ignored. */
  readonly parameter?: string;
  /** The status for a page behind the last one, an empty page whose list is null, or the last one again; default: an empty page. */
  readonly behindLast?: 204 | 400 | 404 | 416 | "null" | "last";
  /** Makes the address of the next page of its relative reference; default: leaves it as it is. */
  readonly nextUrl?: (relative: string) => string;
  /** Another order: by a seed, or by the rank of each uuid. */
  readonly shuffle?: number | ((uuid: string) => number);
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
  const all = entriesOf(world.shown(isListed === null ? undefined : isListed === "true"), options);
  const { pageSize = all.length, next = "link", nextUrl = (relative) => relative, raw } = options;
  const asked = startOf(query, all, pageSize, options);
  if (asked === undefined) return refusal(400, "There is no such page.");
  const behindLast = asked >= all.length && asked > 0 ? options.behindLast : undefined;
  if (behindLast === 204) return { status: 204, headers: {}, body: "" };
  if (typeof behindLast === "number") return refusal(behindLast, "No such page.");
  const start = behindLast === "last" ? lastStart(all.length, pageSize) : asked;
  const entries = all.slice(start, start + pageSize);
  const end = start + entries.length;
  const number = pageSize === 0 ? 1 : Math.floor(start / pageSize) + 1;
  const page: SentPage = { number, isLast: end >= all.length, start, end, all: all.length };
  const address = nextUrl(
    `/v1/events?${isListed === null ? "" : `is_listed=${isListed}&`}page=${number + 1}`,
  );

  const more = end < all.length;
  const list = behindLast === "null" ? "null" : `[${entries.map(({ listing }) => listing).join(",")}]`;
  const body = bodyText(list, entries, options, page, more && next === "body" ? address : undefined);
  return json(options.status ?? 200, typeof raw === "function" ? raw(body, entries) : (raw ?? body), {
    ...(more && next === "link"
      ? { link: `</v1/events?page=1>; rel="first", <${address}>; rel="next"` }
      : {}),
    ...ofPage(options.headers, page),
  });
};

/** The cursor of the page that follows; undefined behind the last one. */
export const cursorOf = ({ end, isLast }: SentPage): string | undefined =>
  isLast ? undefined : `c+/${end}=`;

/** Where the page begins among all entries; undefined for none that there is. */
const startOf = (
  query: URLSearchParams,
  all: readonly ListEntry[],
  pageSize: number,
  { asked: how, parameter }: ListOptions,
): number | undefined => {
  const asked = how ?? "page";
  const text = query.get(parameter ?? (asked === "page0" ? "page" : asked));
  if (text === null) return 0;
  const found = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  switch (asked) {
    case "page":
      return found === undefined || found < 1 ? undefined : (found - 1) * pageSize;
    case "page0":
      return found === undefined ? undefined : found * pageSize;
    case "offset":
      return found;
    case "after":
      return all.findIndex(({ uuid }) => uuid === text) + 1;
    case "cursor": {
      const [, start] = /^c\+\/(\d+)=$/.exec(text) ?? [];
      return start === undefined ? undefined : Number(start);
    }
  }
};

const ofPage = <Value>(value: OfPage<Value> | undefined, page: SentPage): Value | undefined =>
  value instanceof Function ? value(page) : value;

const entriesOf = (
  events: readonly ListEntry[],
  { duplicates = 0, extra = [], shuffle }: ListOptions,
): readonly ListEntry[] => {
  const entries = [
    ...events,
    ...events.slice(0, duplicates),
    ...extra.map((listing, index) => ({ uuid: `extra-${index + 1}`, listing })),
  ];
  if (typeof shuffle === "function") return entries.toSorted((a, b) => shuffle(a.uuid) - shuffle(b.uuid));
  return shuffle === undefined ? entries : shuffled(entries, shuffle);
};

const lastStart = (all: number, pageSize: number): number => Math.floor((all - 1) / pageSize) * pageSize;

const bodyText = (
  array: string,
  entries: readonly ListEntry[],
  options: ListOptions,
  page: SentPage,
  next: string | undefined,
): string => {
  const shape: ListShape = options.shape ?? "data-array";
  const { members = {} } = options;
  const links = next === undefined ? undefined : `"links":{"next":${JSON.stringify(next)}}`;
  const envelope = (data: string): string => objectText(data, links, ofPage(members.top, page));
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
