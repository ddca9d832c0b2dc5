import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ListedEvent } from "../../../../../lambdas/job/service/event-service.ts";
import {
  EventListBuilder,
  type ListPage,
} from "../../../../../lambdas/job/service/events/list/event-list.ts";

const event = (uuid: string, listing = `"${uuid}"`, requestAs = uuid): ListedEvent => ({
  uuid,
  requestAs,
  listing,
});
/** Undefined stands for an entry without a valid uuid. */
const page = (
  entries: readonly (ListedEvent | undefined)[],
  hints: Partial<ListPage["hints"]> = {},
): ListPage => ({
  events: entries.filter((entry) => entry !== undefined),
  rejected: entries.filter((entry) => entry === undefined).length,
  hints: { total: undefined, next: undefined, ...hints },
});
const listOf = (...pages: readonly ListPage[]) => {
  const list = new EventListBuilder();
  for (const [index, each] of pages.entries()) list.add(each, index < pages.length - 1);
  const { events, ...counts } = list.finish();
  return { ...counts, events: [...events] };
};

describe("the list of events", () => {
  it("is sorted by uuid, over all pages", () => {
    const list = listOf(page([event("b"), event("d")]), page([event("a"), event("c")]));

    expect(list.events.map(({ uuid }) => uuid)).toEqual(["a", "b", "c", "d"]);
    expect(list).toMatchObject({ rejected: 0, repeated: 0 });
  });

  it("counts entries without a uuid as rejected", () => {
    expect(listOf(page([undefined, event("a"), undefined]))).toEqual({
      events: [event("a")],
      rejected: 2,
      repeated: 0,
      overlapping: 0,
    });
  });

  it("keeps the smallest text of a repeated event, and the uuid as that one spells it", () => {
    const entries = [event("a", "2", "A"), event("a", "10", "a"), event("a", "10", "aA")];

    expect(listOf(page(entries))).toEqual({
      events: [event("a", "10", "a")],
      rejected: 0,
      repeated: 2,
      overlapping: 0,
    });
  });

  it.each([
    { pages: ["ab", "cd"], repeated: 0, overlapping: 0 },
    { pages: ["aab", "cdd"], repeated: 2, overlapping: 0 },
    { pages: ["ab", "bc"], repeated: 1, overlapping: 1 },
    { pages: ["ab", "bbc"], repeated: 2, overlapping: 1 },
    { pages: ["ab", "bc", "ab"], repeated: 3, overlapping: 3 },
    { pages: ["", "ab", "", "c", "", "a", ""], repeated: 1, overlapping: 1 },
  ])(
    "of the pages $pages has $repeated repeated entries, of which $overlapping came on another page",
    ({ pages, ...counts }) => {
      expect(listOf(...pages.map((uuids) => page([...uuids].map((uuid) => event(uuid)))))).toMatchObject(
        counts,
      );
    },
  );

  it("is the same whatever the order of the entries", () => {
    const entry = fc.record({
      uuid: fc.constantFrom("a", "b", "c"),
      requestAs: fc.constantFrom("x", "y"),
      listing: fc.constantFrom("1", "2", "\u{10000}", "\uffff"),
    });
    fc.assert(
      fc.property(fc.array(entry), fc.array(fc.nat()), (entries, ranks) => {
        const reordered = entries
          .map((each, index) => ({ each, rank: ranks[index] ?? 0 }))
          .sort((x, y) => x.rank - y.rank)
          .map(({ each }) => each);

        expect(listOf(page(reordered))).toEqual(listOf(page(entries)));
      }),
    );
  });

  it.each([
    ["a total above what came", [page([event("a"), undefined], { total: { pointer: "/total", count: 3 } })]],
    [
      "the largest total of any page above what came",
      [
        page([event("a")], { total: { pointer: "/total", count: 3 } }),
        page([event("b")], { total: { pointer: "/total", count: 2 } }),
      ],
    ],
    ["a next page that no Link leads to", [page([event("a")], { next: "/links/next" })]],
  ])("is incomplete with %s", (_, pages) => {
    expect(() => listOf(...pages)).toThrow(expect.objectContaining({ code: "LIST_INCOMPLETE" }));
  });

  it.each([
    [
      "a total of what came, repeated and rejected ones included",
      [page([event("a"), event("a"), undefined], { total: { pointer: "/total", count: 3 } })],
    ],
    ["a total below what came", [page([event("a"), event("b")], { total: { pointer: "/total", count: 1 } })]],
    [
      "a total that all pages reach together",
      [
        page([event("a")], { total: { pointer: "/total", count: 2 } }),
        page([event("b")], { total: { pointer: "/total", count: 2 } }),
      ],
    ],
    ["a next page that a Link led to", [page([event("a")], { next: "/links/next" }), page([event("b")])]],
  ])("is complete with %s", (_, pages) => {
    expect(() => listOf(...pages)).not.toThrow();
  });
});
