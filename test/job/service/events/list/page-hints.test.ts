import { describe, expect, it } from "vitest";
import { type PageHints, pageHints } from "../../../../../lambdas/job/service/events/list/page-hints.ts";
import { isInstant, Name, WORDS } from "../../../../../lambdas/job/service/events/list/page-words.ts";
import { shownNames } from "../../../../../lambdas/job/service/events/shape.ts";
import { termsBelow } from "../../../../docs/markdown.ts";

const SHOWN = shownNames(() => []);
const PAGE = new URL("https://api.example.com/v1/events?is_listed=true");

/** Of a page of 50 entries, whose list is `data`. */
const hintsIn = (
  members: object,
  headers: Readonly<Record<string, string>> = {},
  { status = 200, page = PAGE } = {},
): PageHints =>
  pageHints(
    { beside: JSON.stringify({ data: [], ...members }), path: ["data"] },
    { status, headers: new Map(Object.entries(headers).map(([name, value]) => [name, [value]])) },
    { entries: 50, page, first: PAGE },
    SHOWN,
  );

/** What is said, in words. */
const saidBy = ({ links, more, end, total, pages, places }: PageHints): string => {
  if (links.length > 0) return "a link";
  if (more !== undefined || (total?.value ?? 0) > 50 || (pages?.value ?? 0) > 1) return "more";
  if (end !== undefined || total?.isExact || pages?.value === 1) return "whole";
  return places.length > 0 ? "weak" : "nothing";
};

describe("the words of names", () => {
  it("are those of the list in docs/connect.md", () => {
    const terms = termsBelow("connect.md", "### Which words?");

    const words = terms.map((term) => term.replaceAll("`", "").replaceAll("/", " "));

    expect(words).toEqual(Object.values(WORDS));
  });

  it.each([
    ["totalItemCount", true],
    ["TotalCOUNT", true],
    ["TOTALCOUNT", true],
    ["totalcount", true],
    ["total-entries", true],
    ["hydra:totalItems", true],
    ["opensearch:totalResults", true],
    ["@odata.nextLink", true],
    ["@Microsoft.Dynamics.CRM.totalrecordcount", true],
    ["odata.count", true],
    ["meta.total", true],
    ["$count", true],
    ["_total", true],
    ["iTotalRecords", true],
    ["usage.total", false],
    ["totalRevenue", false],
    ["total_ms", false],
    ["total24", false],
    ["discount", false],
    ["pageviews", false],
    ["Gesamtzahl", false],
    ["総数total", false],
    ["", false],
    ["--", false],
    ["total".repeat(16), true],
    ["total".repeat(20), false],
  ])("of %s are all known: %s", (text, isKnown) => {
    expect(new Name(text).isKnown).toBe(isKnown);
  });

  it.each([
    [999_999_999, false],
    [1_000_000_000, true],
    [19_999_999_999, true],
    [20_000_000_000, false],
    [999_999_999_999, false],
    [1_000_000_000_000, true],
    [19_999_999_999_999, true],
    [20_000_000_000_000, false],
  ])(
    "leave it to a number whether it may be seconds or milliseconds since 1970: %i, %s",
    (number, isTime) => {
      expect([isInstant(number), isInstant(String(number))]).toEqual([isTime, isTime]);
    },
  );

  it("are told apart in linear time", () => {
    const members = Array.from({ length: 10_000 }, (_, at) => [
      `isnexthas${at.toString(2).replaceAll("0", "of").replaceAll("1", "is")}x`,
      true,
    ]);

    const before = process.cpuUsage();
    hintsIn(Object.fromEntries(members));

    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  });
});

describe("what a page says of the others", () => {
  it.each<[members: object, said: "more" | "whole" | "weak" | "nothing" | "a link"]>([
    [{ next: "b" }, "more"],
    [{ next: 2 }, "more"],
    [{ next: true }, "more"],
    [{ next: ["b"] }, "more"],
    [{ meta: { next_cursor: "b" } }, "more"],
    [{ paging: { next: { after: "b" } } }, "more"],
    [{ page: { next: { token: { value: "b" } } } }, "more"],
    [{ continuationToken: "b" }, "more"],
    [{ next: null }, "whole"],
    [{ next_page: 0 }, "whole"],
    [{ next_cursor: "0" }, "whole"],
    [{ nextPageToken: "" }, "whole"],
    [{ links: { next: {} } }, "whole"],
    [{ next: [] }, "whole"],
    [{ links: { next: { href: null } } }, "whole"],
    [{ next: "2026-12-01" }, "nothing"],
    [{ next: "2026-12-01T10:00:00Z" }, "nothing"],
    [{ next: "Tue, 01 Dec 2026 10:00:00 GMT" }, "nothing"],
    [{ next: "10:00" }, "nothing"],
    [{ next: 1_795_800_000_000 }, "nothing"],
    [{ next_update: "b" }, "weak"],
    [{ next_event: "b" }, "weak"],
    [{ next_event: null }, "weak"],
    [{ next_events: [] }, "weak"],
    [{ next_event: {} }, "weak"],
    [{ next_stop: [] }, "weak"],
    [{ details: {} }, "nothing"],
    [{ next_event: { uuid: "c", page: 4, key: "d" } }, "weak"],
    [{ nextEvent: { url: "https://brand.example.com/launch" } }, "weak"],
    [{ nextEvent: { title: "b", link: "/launch" } }, "weak"],
    [{ has_next: "no" }, "weak"],
    [{ campaigns: { next: "b" } }, "weak"],
    [{ next: { title: "b", uuid: "c" } }, "weak"],
    [{ has_more: true }, "more"],
    [{ hasMoreItems: "True" }, "more"],
    [{ more: 1 }, "more"],
    [{ has_next_page: true }, "more"],
    [{ is_truncated: true }, "more"],
    [{ incomplete_results: true }, "more"],
    [{ last: false }, "more"],
    [{ isLastPage: "false" }, "more"],
    [{ done: false }, "more"],
    [{ remainingItemCount: 8 }, "more"],
    [{ remaining_pages: 1 }, "more"],
    [{ has_more: false }, "whole"],
    [{ has_more: 0 }, "whole"],
    [{ has_next_page: false }, "whole"],
    [{ last: true }, "whole"],
    [{ remainingItemCount: 0 }, "whole"],
    // These may be about the query, or about the data.
    [{ truncated: false }, "weak"],
    [{ incomplete_results: false }, "weak"],
    [{ done: true }, "weak"],
    [{ final: false }, "weak"],
    [{ job: { done: false } }, "weak"],
    [{ more_info: true }, "weak"],
    [{ has_more_details: true }, "weak"],
    [{ more: "b" }, "weak"],
    [{ remaining: 58 }, "weak"],
    [{ total: 58 }, "more"],
    [{ total: "58" }, "more"],
    [{ count: 58 }, "more"],
    [{ total: { value: 58 } }, "more"],
    [{ total: { items: 58 } }, "more"],
    [{ meta: { page: { totalElements: 58 } } }, "more"],
    [{ numFound: 58 }, "more"],
    [{ full_count: 58 }, "more"],
    [{ number_of_results: 58 }, "more"],
    [{ total: 50 }, "whole"],
    [{ total: { value: 50, relation: "eq" } }, "whole"],
    [{ total: { value: 50, relation: "gte" } }, "nothing"],
    [{ total: { value: 58, relation: "gte" } }, "more"],
    // The count may be that of this page.
    [{ count: 50 }, "nothing"],
    [{ count: 50, total: 50 }, "whole"],
    [{ total: null }, "nothing"],
    [{ total: -1 }, "nothing"],
    [{ total: 58.5 }, "nothing"],
    [{ totals: { impressions: 58 } }, "nothing"],
    [{ total_2026: 58 }, "weak"],
    [{ found: 58 }, "weak"],
    [{ results: 58 }, "weak"],
    [{ _shards: { total: 58 } }, "weak"],
    [{ rate_limit: { total: 58 } }, "nothing"],
    [{ limits: { total: 58, remaining: 58 } }, "nothing"],
    [{ pages: 2 }, "more"],
    [{ totalPages: 2 }, "more"],
    [{ page_count: 2 }, "more"],
    [{ last_page: 2 }, "more"],
    [{ pages: { total: 2 } }, "more"],
    [{ totalPages: 1 }, "whole"],
    [{ page: 3, page_number: 3, per_page: 58, page_size: 58 }, "nothing"],
    [{ pages: { number: 7 } }, "nothing"],
    [{ page_views: 58 }, "nothing"],
    [{ cursor: "b" }, "weak"],
    [{ after: "b" }, "weak"],
    [{ offset: "itr/b" }, "weak"],
    [{ last_sync: "2026-12-01" }, "nothing"],
    [{ info: { tags: ["b"], total: 58 } }, "weak"],
    [{ links: [{ rel: "self", href: "/x" }], meta: { links: [{ label: "b" }], total: 58 } }, "more"],
    [{ a: { b: { c: { d: { e: { f: { total: 58 } } } } } } }, "nothing"],
    [{ meta: { version: "v1" }, request: "b", took: 58 }, "nothing"],
    [{ next: "/v1/events?page=2" }, "a link"],
    [{ next_page_url: "?page=2" }, "a link"],
    [{ "@odata.nextLink": "HTTPS://api.example.com/x" }, "a link"],
    [{ nextRecordsUrl: "http://api.example.com/x" }, "a link"],
    [{ _links: { next: [{ href: "/x", title: "b" }], self: { href: "/w" } } }, "a link"],
    [{ links: { next: { href: "/x", meta: { pages: "3" } } } }, "a link"],
    [{ links: [{ rel: ["next", "collection"], href: "/x" }] }, "a link"],
    [{ link: [{ relation: "next", url: "/x" }] }, "a link"],
    [{ search: { next_results: "?max_id=3" } }, "a link"],
    [{ next: "events?page=2" }, "a link"],
    [{ next_events: { href: "/v1/events?page=2" } }, "a link"],
    [{ "hydra:view": { "hydra:next": "/v1/events?page=2" } }, "a link"],
    [{ more: "/v1/events?page=2" }, "a link"],
    [{ next_record_token: "b" }, "more"],
    [{ total: "" }, "nothing"],
    [{ "--": { total: 58 } }, "weak"],
    [{ ratelimit_remaining: 58 }, "nothing"],
    [{ remaining_limit: 58 }, "weak"],
    [{ campaigns: { next: "/v1/campaigns?page=2" } }, "weak"],
    [{ campaigns: { next: "/v1/events?is_listed=true" } }, "weak"],
    [{ campaigns: { next: "/v1/events?" } }, "weak"],
    [{ campaigns: { next: "https://[?page=2" } }, "weak"],
    [{ campaigns: { next: null } }, "weak"],
    [{ next_stop: "/v1/events?page=2" }, "weak"],
    [{ next: { item: "/v1/events?page=2" } }, "weak"],
    [{ next: { total: 58 } }, "weak"],
    [{ more_stuff: "/v1/events?page=2" }, "weak"],
    [{ remaining_items: "b" }, "weak"],
    [{ has_next: "" }, "whole"],
    [{ has_next: "true" }, "more"],
    [{ has_next: 1 }, "more"],
    [{ limit: true, page: true, value: 58, number: 58 }, "nothing"],
    [{ last: "b" }, "weak"],
    [{ size: 58 }, "weak"],
    [{ cursor: 58 }, "weak"],
    [{ page: { items: 58 } }, "weak"],
    [{ pages: { items: 58 } }, "weak"],
    [{ pages: { value: 7 } }, "nothing"],
    [{ last_page_token: 58 }, "nothing"],
    [{ usage: { meta: { total: 58 } } }, "weak"],
    [{ meta: { tags: [], total: 58 } }, "more"],
    [{ rate_limit: { requests: { remaining: 58 } } }, "nothing"],
    [{ others: [{ rel: "next", href: "/x" }] }, "nothing"],
    [{ links: [{ rel: "next", href: 7 }, null] }, "nothing"],
    [{ next_cursor: "/9j4AAQ" }, "more"],
  ])("%j: %s", (members, expected) => {
    expect(saidBy(hintsIn(members))).toBe(expected);
  });

  it.each<
    [
      headers: Readonly<Record<string, string>>,
      said: "more" | "whole" | "weak" | "nothing" | "a link",
      place?: string,
    ]
  >([
    [{ "x-total-count": "58" }, "more"],
    [{ "x-wp-totalpages": "2" }, "more"],
    [{ "x-pages": "2" }, "more"],
    [{ "x-ms-continuationtoken": "b" }, "more", "X-Ms-Continuationtoken"],
    [{ "x-next-page": "2" }, "more", "X-Next-Page"],
    [{ "x-pagination": '{"TotalCount":58}' }, "more"],
    [{ "x-pagination": '{"next":"b"}' }, "more", "X-Pagination (/next)"],
    [{ "x-pagination": "{58" }, "nothing"],
    [{ "x-next-page": "https://api.example.com/v1/events?page=2" }, "a link"],
    [{ "x-next-page": "" }, "whole"],
    [{ "x-total": "50" }, "whole"],
    [{ "x-acme-next-cursor": "b" }, "weak"],
    [{ "x-acme-total": "58" }, "weak"],
    [{ "x-ratelimit-remaining": "58", "x-rate-limit-total": "58", "x-requests-remaining": "58" }, "nothing"],
    [{ "last-modified": "Tue, 01 Dec 2026 10:00:00 GMT", "x-last-sync": "b", "x-cursor": "b" }, "nothing"],
    [{ "x-cache-hits": "58", age: "58", "x-limit": "50", "x-size": "58" }, "nothing"],
    [{ link: "</x>; rel=prev" }, "nothing"],
    [{ "content-range": "items 0-49/58" }, "more"],
    [{ "content-range": "items 0-49/50" }, "whole"],
    [{ "content-range": "items 0-49/*" }, "nothing"],
  ])("the header %j: %s", (headers, expected, place) => {
    const hints = hintsIn({}, headers);

    expect(saidBy(hints)).toBe(expected);
    if (place !== undefined) expect(hints.more).toBe(place);
  });

  it.each([
    [undefined, true],
    ["items 0-49/51", true],
    ["items 1-50/51", false],
    ["items 50-99/100", false],
    ["items */51", true],
    ["items 0-49/*", true],
  ])("status 206 with the range %s says that there is more: %s", (range, expected) => {
    const headers: Record<string, string> = range === undefined ? {} : { "content-range": range };

    expect(hintsIn({}, headers, { status: 206 }).more).toBe(expected ? "status 206" : undefined);
  });

  it("is the text of a header that begins like JSON and is none", () => {
    expect(hintsIn({}, { "x-next-cursor": "{58" }).clues).toMatchObject([{ kind: "next", value: "{58" }]);
  });

  it("is no more where it repeats what was sent", () => {
    const page = new URL(`${PAGE.href}&token=b`);

    expect(hintsIn({ continuationToken: "b" }, {}, { page }).more).toBeUndefined();
    expect(hintsIn({ continuationToken: "c" }, {}, { page }).more).toBe("/continuationToken");
  });

  it("names the places of weak signs, at most five, and none that may be data", () => {
    expect(hintsIn({ cursor: "b", "a b": { next: "b" }, followers: 58 }).places).toEqual([
      "/cursor",
      "/<key>/next",
    ]);
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`cursor_${"abcdefghi"[at]}`, "b"]));
    expect(hintsIn(many).places).toHaveLength(5);
  });

  it.each<[members: object, end: "said" | "empty" | undefined]>([
    [{ has_next: false }, "said"],
    [{ next: false }, "empty"],
    [{ has_next: null }, "empty"],
    [{ next: null }, "empty"],
    [{ next: ["b"] }, undefined],
    [{ next: { token: "b" } }, undefined],
  ])("%j is this end: %s", (members, end) => {
    expect(hintsIn(members).end).toBe(end);
  });

  it("of a next page with an address is the address", () => {
    expect(hintsIn({ next: { href: "?page=2", token: "b", total: 58 } })).toMatchObject({
      links: ["?page=2"],
      more: undefined,
      places: [],
    });
  });

  it.each<[object, readonly { readonly place: string; readonly value: number }[]]>([
    [{ limit: 50 }, [{ place: "/limit", value: 50 }]],
    [{ meta: { per_page: 50 } }, [{ place: "/meta/per_page", value: 50 }]],
    [{ pageSize: "50" }, [{ place: "/pageSize", value: 50 }]],
    [{ itemsPerPage: 50 }, [{ place: "/itemsPerPage", value: 50 }]],
    [{ size: 50, account: { limit: 50 }, rate_limit: 50 }, []],
  ])("%j states how many entries a page may have: %j", (members, limits) => {
    expect(hintsIn(members).limits).toEqual(limits);
  });

  it.each<[headers: Readonly<Record<string, string>>, limits: readonly object[]]>([
    [{ "x-per-page": "50", "x-limit": "50" }, [{ place: "X-Per-Page", value: 50 }]],
    [{ "x-max-items": "50" }, [{ place: "X-Max-Items", value: 50 }]],
  ])("the headers %j state how many entries a page may have: %j", (headers, limits) => {
    expect(hintsIn({}, headers).limits).toEqual(limits);
  });

  it.each<[members: object, total: object]>([
    [{ count: 58 }, { place: "/count", isExact: true }],
    [
      { count: 50, meta: { count: 50 } },
      { place: "/count", isExact: false },
    ],
    [
      { count: 50, meta: { total: 50 } },
      { place: "/meta/total", isExact: true },
    ],
    [
      { total: { value: 58, relation: "gte" }, meta: { total: 50 } },
      { place: "/total/value", isExact: false },
    ],
  ])("%j states a total, which is exact where it is not a bound or of this page: %j", (members, total) => {
    expect(hintsIn(members).total).toMatchObject(total);
  });

  it("the largest total counts, with its place, and of equal ones the first", () => {
    expect(hintsIn({ total: 3, paging: { total_results: "5" }, meta: { count: 4 } }).total).toMatchObject({
      place: "/paging/total_results",
      value: 5,
    });
    expect(hintsIn({ total: 5, total_count: 5 }).total?.place).toBe("/total");
  });

  it("is looked for around the list, wherever that is, and not in it", () => {
    const beside = '[{"total":7,"data":{"page":{"next":"b"},"items":{},"count":9}},{"total":99}]';

    expect(
      pageHints(
        { beside, path: ["0", "data", "items"] },
        { status: 200, headers: new Map() },
        { entries: 50, page: PAGE, first: PAGE },
        SHOWN,
      ),
    ).toMatchObject({ total: { place: "/0/data/count", value: 9 }, more: "/0/data/page/next" });
  });

  it("is looked for beside a list in an array, and not in lists there", () => {
    const beside = '[{"page":1,"pages":2,"total":99},[],[{"total":700}]]';

    expect(
      pageHints(
        { beside, path: ["1"] },
        { status: 200, headers: new Map() },
        { entries: 50, page: PAGE, first: PAGE },
        SHOWN,
      ),
    ).toMatchObject({ total: { place: "/0/total", value: 99 }, pages: { place: "/0/pages", value: 2 } });
  });
});
