import { describe, expect, it } from "vitest";
import { nextPage, paginationHints } from "../../../../../lambdas/job/service/events/list/paging.ts";

const PAGE = new URL("https://api.example.com/v1/events?is_listed=true");
const next = (...headers: readonly string[]): string | undefined =>
  nextPage(new Map([["link", headers]]), PAGE)?.href;

describe("the next page", () => {
  it.each([
    ['<https://api.example.com/v1/events?page=2>; rel="next"', "https://api.example.com/v1/events?page=2"],
    ['</v1/events?page=2>; rel="next"', "https://api.example.com/v1/events?page=2"],
    ['<?page=2>; rel="next"', "https://api.example.com/v1/events?page=2"],
    ['<//api.example.com/x>; rel="next"', "https://api.example.com/x"],
    ["</x>;rel=next", "https://api.example.com/x"],
    ['</x> ; REL = "NEXT"', "https://api.example.com/x"],
    ['</x>; rel="last next"', "https://api.example.com/x"],
    ['</x?a,b;c>; title="a, <b>; \\"c"; rel="next"', "https://api.example.com/x?a,b;c"],
    ['</p>; rel="prev", , </x>; rel="next", </l>; rel=last', "https://api.example.com/x"],
    ['</x>; rel="next", </x>; rel="next"', "https://api.example.com/x"],
    ['</x#part>; rel="next"', "https://api.example.com/x"],
    ['<https://user:secret@api.example.com/x>; rel="next"', "https://api.example.com/x"],
    ['</x>; rel="prev"', undefined],
    ['</x>; rel="nextish"', undefined],
    ['</x>; rel="prev"; rel="next"', undefined],
    ['</x>; rel="next"; anchor="#foo"', undefined],
    ['</x>; rel="next";', "https://api.example.com/x"],
    ["</x>;; ;rel=next", "https://api.example.com/x"],
    ['</x>; rel=\tnext; title="\\\\"', "https://api.example.com/x"],
    ['</x>; title="; rel=next"', undefined],
    ["</x>", undefined],
    ["", undefined],
    ["garbage", undefined],
  ])("of %s is %s", (header, expected) => {
    expect(next(header)).toBe(expected);
  });

  it("is found in any of several headers", () => {
    expect(next('</p>; rel="prev"', '</x>; rel="next"')).toBe("https://api.example.com/x");
  });

  it("is missing where there is no Link header", () => {
    expect(nextPage(new Map(), PAGE)).toBeUndefined();
  });

  it.each([
    [
      '<https://evil.test/x?secret>; rel="next"',
      "at https://evil.test, but credentials go to https://api.example.com",
    ],
    ['<http://api.example.com/x>; rel="next"', "at http://api.example.com, but"],
    ['<//evil.test/x>; rel="next"', "at https://evil.test, but"],
    ['<https://api.example.com:444/x>; rel="next"', "at https://api.example.com:444, but"],
    ['<javascript:alert(1)>; rel="next"', "at something that is not a web address, but"],
    ['<https://[>; rel="next"', "not a URL"],
    ['</x>; rel="next", </y>; rel="next"', "two different next pages"],
    ['/x; rel="next"', "cannot be read"],
    ['</x; rel="next"', "cannot be read"],
    ['</x>; rel="next', "cannot be read"],
    ['</x>; rel="next" </y>; rel="prev"', "cannot be read"],
    ['</x>; rel="prev"; title="\\", </y>; rel="next"', "cannot be read"],
  ])("of %s ends the run: %s", (header, problem) => {
    expect(() => next(header)).toThrow(
      expect.objectContaining({ code: "UNEXPECTED_RESPONSE", message: expect.stringContaining(problem) }),
    );
    expect(() => next(header)).not.toThrow("secret");
  });

  it("elsewhere, at an address of 14,000 characters, is not repeated", () => {
    expect(() => next(`<https://${"x.".repeat(7_000)}test/>; rel="next"`)).toThrow(
      "at an address that is too long to show, but",
    );
  });

  it("is looked for in linear time", () => {
    const hostile = `</x>${'; a="'.repeat(3_000)}`;

    const startedMs = performance.now();
    next(hostile);

    expect(performance.now() - startedMs).toBeLessThan(200);
  });
});

describe("signs that there is more", () => {
  it.each([
    [{ total: 5 }, { pointer: "/total", count: 5 }],
    [{ meta: { total_count: 5 } }, { pointer: "/meta/total_count", count: 5 }],
    [{ meta: { pagination: { totalCount: "5" } } }, { pointer: "/meta/pagination/totalCount", count: 5 }],
    [{ data: { totalResults: 5, events: [] } }, { pointer: "/data/totalResults", count: 5 }],
    [
      { total: 3, paging: { total_results: 5 } },
      { pointer: "/paging/total_results", count: 5 },
    ],
    [{ total: 0 }, undefined],
    [{ total: -1 }, undefined],
    [{ total: "many" }, undefined],
    [{ other: { total: 5 } }, undefined],
    [[], undefined],
    [null, undefined],
  ])("%j states the total %j", (envelope, total) => {
    expect(paginationHints(envelope).total).toEqual(total);
  });

  it.each([
    [{ next: "/v1/events?page=2" }, "/next"],
    [{ links: { next: "/v1/events?page=2" } }, "/links/next"],
    [{ _links: { next: { href: "/v1/events?page=2" } } }, "/_links/next"],
    [{ meta: { next_page: 2 } }, "/meta/next_page"],
    [{ page: { nextCursor: "abc" } }, "/page/nextCursor"],
    [{ data: { nextPageToken: "abc", events: [] } }, "/data/nextPageToken"],
    [{ pagination: { has_more: true } }, "/pagination/has_more"],
    [{ hasNextPage: true }, "/hasNextPage"],
    [
      { next: null, next_url: "", links: { next: {} }, _links: { next: { href: null } }, has_more: false },
      undefined,
    ],
    [{ nextOne: "x", other: { next: "x" } }, undefined],
  ])("%j leads on at %j", (envelope, next) => {
    expect(paginationHints(envelope).next).toBe(next);
  });

  it("are found where the list itself was pointed at", () => {
    expect(paginationHints({ result: { items: [], total: 7 } }, ["result", "items"]).total).toEqual({
      pointer: "/result/total",
      count: 7,
    });
  });
});
