import { describe, expect, it } from "vitest";
import { paginationHints } from "../../../../../lambdas/job/service/events/list/event-list.ts";

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
    expect(paginationHints({ result: { items: [], total: 7 } }, [["result"]]).total).toEqual({
      pointer: "/result/total",
      count: 7,
    });
  });
});
