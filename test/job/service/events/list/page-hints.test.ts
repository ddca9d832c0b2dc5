import { describe, expect, it } from "vitest";
import { type PageHints, pageHints } from "../../../../../lambdas/job/service/events/list/page-hints.ts";
import { shownNames } from "../../../../../lambdas/job/service/events/shape.ts";
import { tableBelow } from "../../../../docs/markdown.ts";

const SHOWN = shownNames(() => []);
const NO_HEADERS = new Map<string, readonly string[]>();

/** Of a page whose list is `data`. */
const hintsIn = (members: object): PageHints =>
  pageHints(
    { beside: JSON.stringify({ data: [], ...members }), path: ["data"] },
    { status: 200, headers: NO_HEADERS },
    SHOWN,
  );

/** Of an example of the table: JSON beside the list, a header, or the status. */
const hintsOf = (example: string): PageHints => {
  if (example.startsWith("{")) return hintsIn(JSON.parse(example));
  const [, name = "", value = ""] = /^([\w-]+): ?(.*)$/.exec(example) ?? [];
  const [status, headers] =
    name === "Status" ? [Number(value), NO_HEADERS] : [200, new Map([[name.toLowerCase(), [value]]])];
  return pageHints({ beside: '{"data":[]}', path: ["data"] }, { status, headers }, SHOWN);
};

/** Whether a page of 50 entries is not all there is. */
const isMore = ({ links, more, total, pages }: PageHints): boolean =>
  links.length > 0 || more !== undefined || (total?.value ?? 0) > 50 || (pages?.value ?? 0) > 1;

const EXAMPLES = tableBelow("limits.md", "## When a list is not whole").rows.flatMap(
  ([sign = "", ...cells]) =>
    cells.flatMap((cell, index) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, example = ""]) => ({ sign, example, expected: index === 0 })),
    ),
);

describe("the table of signs that a list is not whole", () => {
  it("has examples of both kinds for each sign", () => {
    expect(EXAMPLES.length).toBeGreaterThan(40);
  });

  it.each(EXAMPLES)("$sign: $example says that there is more: $expected", ({ example, expected }) => {
    expect(isMore(hintsOf(example))).toBe(expected);
  });
});

describe("what a page says of the others", () => {
  it.each([
    [{ next: "/v1/events?page=2" }, ["/v1/events?page=2"]],
    [{ next_page_url: "?page=2" }, ["?page=2"]],
    [{ "@odata.nextLink": "HTTPS://api.example.com/x" }, ["HTTPS://api.example.com/x"]],
    [{ nextRecordsUrl: "http://api.example.com/x" }, ["http://api.example.com/x"]],
    [{ links: { next: "/x", prev: "/w" } }, ["/x"]],
    [{ links: { next: { href: "/x", meta: { pages: "3" } } } }, ["/x"]],
    [{ _links: { next: { href: "/x" }, self: { href: "/w" } } }, ["/x"]],
    [
      {
        links: [
          { rel: "self", href: "/w" },
          { rel: "next", href: "/x" },
        ],
      },
      ["/x"],
    ],
    [{ link: [{ relation: "next", url: "/x" }] }, ["/x"]],
    [{ links: [{ rel: "next", href: "" }, { label: "Next", url: "/y" }, null, 7] }, [""]],
    [{ meta: { pagination: { next: "/x" } } }, ["/x"]],
    [{ meta: { a: { b: { next: "/x" } } } }, []],
    [{ meta: { pagination: { total: 50, links: { next: "/x" } } } }, ["/x"]],
    [{ next: "x" }, []],
    [{ previous: "/x", nextOne: "/x" }, []],
    [{ next: ["/x"] }, ["/x"]],
    [{ _links: { next: [{ href: "/x" }] } }, ["/x"]],
    [{ links: [{ rel: ["next", "collection"], href: "/x" }] }, ["/x"]],
    [{ next_path: "/x" }, ["/x"]],
    [{ search: { next_results: "?max_id=3" } }, ["?max_id=3"]],
    [{ others: [{ rel: "next", href: "/x" }] }, []],
    [{ links: [{ rel: "next", href: 7 }] }, []],
  ])("%j has the links %j", (members, links) => {
    expect(hintsIn(members).links).toEqual(links);
  });

  it.each<[object, string, string]>([
    [{ meta: { next_cursor: "b" } }, "/meta/next_cursor", "cursor={/meta/next_cursor}"],
    [{ nextPageToken: "b" }, "/nextPageToken", "pageToken={/nextPageToken}"],
    [{ next_page_token: "b" }, "/next_page_token", "page_token={/next_page_token}"],
    [{ nextToken: "b" }, "/nextToken", "nextToken={/nextToken}"],
    [{ next_page: 2 }, "/next_page", "page={/next_page}"],
    [{ next: "b" }, "/next", "cursor={/next}"],
    [{ paging: { next: { after: "b" } } }, "/paging/next/after", "after={/paging/next/after}"],
    [{ continuationToken: "b" }, "/continuationToken", "continuationToken={/continuationToken}"],
    [{ offset: "itr/b" }, "/offset", "offset={/offset}"],
    [{ has_more: true }, "/has_more", "page={page}"],
    [{ has_more: "True" }, "/has_more", "page={page}"],
    [{ last: "false" }, "/last", "page={page}"],
    [{ next: ["b"] }, "/next", "cursor={/next}"],
    [{ has_more: true, next_cursor: "b" }, "/next_cursor", "cursor={/next_cursor}"],
    [{ meta: { hasMore: true, skip: 0, limit: 50 } }, "/meta/hasMore", "skip={received}"],
    [{ last: false }, "/last", "page={page}"],
    [{ next: true }, "/next", "cursor={/next}"],
    [{ has_more: true, limit: 50, skip: "a" }, "/has_more", "page={page}"],
    [{ "a b": { has_more: true } }, "/<key>/has_more", "page={page}"],
    [
      { pageInfo: { hasNextPage: true, endCursor: "b" } },
      "/pageInfo/hasNextPage",
      "after={/pageInfo/endCursor}",
    ],
    [{ pageInfo: { hasNextPage: true, endCursor: "" } }, "/pageInfo/hasNextPage", "page={page}"],
  ])("%j says at %s that there is more, which %s probably asks for", (members, place, value) => {
    expect(hintsIn(members).more).toEqual({ place, value });
  });

  it.each([
    { next: false },
    { next: null },
    { next_cursor: "0" },
    { next_page: 0 },
    { links: { next: { href: "/x", title: "b" } } },
  ])("%j names no place of what asks for more", (members) => {
    expect(hintsIn(members).more).toBeUndefined();
  });

  it.each([
    ["x-next-cursor", "b", { place: "X-Next-Cursor", value: "cursor={header:X-Next-Cursor}" }],
    ["x-next-page", "2", { place: "X-Next-Page", value: "page={header:X-Next-Page}" }],
    ["x-next-page", "", undefined],
    ["x-next-page", "0", undefined],
    ["x-next-link", "b", undefined],
  ])("the header %s: %s says %j", (name, value, more) => {
    const headers = new Map([[name, [value]]]);

    expect(pageHints({ beside: "[]", path: [] }, { status: 200, headers }, SHOWN).more).toEqual(more);
  });

  it.each([
    [undefined, true],
    ["items 0-49/51", true],
    ["items 1-50/51", false],
    ["items 50-99/100", false],
    ["items */51", true],
    ["items 0-49/*", true],
  ])("status 206 with the range %s says that there is more: %s", (range, expected) => {
    const headers = new Map(range === undefined ? [] : [["content-range", [range]]]);

    const { more } = pageHints({ beside: "[]", path: [] }, { status: 206, headers }, SHOWN);

    expect(more).toEqual(expected ? { place: "status 206", value: "offset={received}" } : undefined);
  });

  it("the largest total counts, with its place", () => {
    expect(hintsIn({ total: 3, paging: { total_results: "5" }, meta: { count: 4 } }).total).toEqual({
      place: "/paging/total_results",
      value: 5,
    });
  });

  it("of equal totals the first counts", () => {
    expect(hintsIn({ total: 5, count: 5 }).total?.place).toBe("/total");
  });

  it.each([
    [{ has_more: false }, true],
    [{ last: true }, true],
    [{ has_more: "false" }, true],
    // These may be about the query, which more pages answer.
    [{ truncated: false }, false],
    [{ incomplete_results: false }, false],
    [{ job: { done: true } }, false],
    [{ next: [] }, false],
    [{ next: null }, false],
    [{ has_more: true }, false],
    [{ total: 50 }, false],
    [{ totalPages: 1 }, false],
    [{ next: {} }, false],
    [{ next: "/x" }, false],
  ])("%j says by itself that it is the last: %s", (members, isLast) => {
    expect(hintsIn(members)).toMatchObject({ isLast, isStated: true });
  });

  it.each([
    {},
    { count: 50 },
    { per_page: 50 },
    { complete: true },
    { meta: { version: "v1" } },
    { total: null },
    { total: -1, total_pages: -1 },
    { offset: null },
    { pages: { number: 7 } },
  ])("%j says nothing of how many there are", (members) => {
    expect(hintsIn(members).isStated).toBe(false);
  });

  it.each<[object, string | undefined]>([
    [{ error: { code: 7 } }, "/error"],
    [{ errors: ["timeout"] }, "/errors"],
    [{ error: "timeout" }, "/error"],
    [{ success: false }, "/success"],
    [{ status: "error" }, "/status"],
    [{ status: "FAILED" }, "/status"],
    [{ error: null, errors: [], success: true, status: "ok" }, undefined],
    [{ error: "", errors: {}, status: 200 }, undefined],
    [{ error: false }, undefined],
    [{ meta: { error: "timeout" } }, undefined],
  ])("%j says that the service could not make all of it, at %s", (members, place) => {
    expect(hintsIn(members).failure).toBe(place);
  });

  it("is read in linear time, however many members say the same", () => {
    const members = Array.from({ length: 20_000 }, (_, index) => [
      `more${index.toString(2).replaceAll("0", "-").replaceAll("1", "_")}`,
      index % 2 === 0,
    ]);

    const startedMs = performance.now();
    hintsIn(Object.fromEntries(members));

    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });

  it("is read once where the list is deeper", () => {
    const beside = '{"data":{"next":"/x","items":[]}}';
    const path = ["data", "items"];

    expect(pageHints({ beside, path }, { status: 200, headers: NO_HEADERS }, SHOWN).links).toEqual(["/x"]);
  });

  it("is looked for around the list, wherever that is, and not in it", () => {
    const beside = '[{"total":7,"data":{"x":{"next":"b"},"items":{},"count":9}},{"total":99}]';

    expect(
      pageHints({ beside, path: ["0", "data", "items"] }, { status: 200, headers: NO_HEADERS }, SHOWN),
    ).toMatchObject({
      total: { place: "/0/data/count", value: 9 },
      more: { place: "/0/data/x/next" },
    });
  });
});
