import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ListedEvent } from "../../../../../lambdas/job/service/event-service.ts";
import {
  EventListBuilder,
  EventTexts,
  paginationHints,
} from "../../../../../lambdas/job/service/events/list/listed-events.ts";
import { uuidOf } from "../../../../simulator/simulated-event.ts";

const textsOf = (events: readonly Omit<ListedEvent, "uuid">[]) => {
  const texts = new EventTexts();
  for (const { requestAs, listing } of events) texts.add(requestAs, listing);
  return texts;
};

describe("listed events in memory", () => {
  const near = fc.nat(20).map((n) => `aaaaaaaa-0000-4000-8000-0000000000${`${n}`.padStart(2, "0")}`);
  const event = fc
    .record({
      uuid: fc.oneof(fc.uuid(), near),
      isUpper: fc.boolean(),
      listing: fc.string({ unit: "binary" }),
    })
    .map(({ uuid, isUpper, listing }) => ({
      uuid,
      requestAs: isUpper ? uuid.toUpperCase() : uuid,
      listing,
    }));

  it("are given back as they came, by index and in order", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const texts = textsOf(events);

        expect([...texts]).toEqual(events);
        expect(texts.length).toBe(events.length);
        expect(texts.at(events.length)).toBeUndefined();
        expect(texts.at(-1)).toBeUndefined();
      }),
    );
  });

  it("are ordered by uuid", () => {
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const texts = textsOf(events);

        expect([...texts.order()].map((index) => events[index]?.uuid)).toEqual(
          events.map((each) => each.uuid).sort(),
        );
      }),
    );
  });

  it("may be longer than a chunk", () => {
    const events = [1, 3_000_000, 2, 1_048_576].map((length, index) => ({
      uuid: uuidOf(`u${index}`),
      requestAs: uuidOf(`u${index}`).toUpperCase(),
      listing: "ж".repeat(length),
    }));

    expect([...textsOf(events)]).toEqual(events);
  });

  it("cost little more than their texts, outside the heap", () => {
    const before = process.memoryUsage();
    const listing = "x".repeat(200);

    const texts = new EventTexts();
    for (let n = 0; n < 100_000; n += 1) texts.add(`${n}`.padStart(36, "0"), listing);

    const after = process.memoryUsage();
    expect((after.arrayBuffers - before.arrayBuffers) / texts.length).toBeLessThan(200 + 36 + 12 * 1.4 + 20);
  });
});

/** Of a letter. */
const idOf = (letter: string): string => `${letter.repeat(8)}-0000-4000-8000-000000000000`;
const event = (letter: string, listing = `"${letter}"`, requestAs = idOf(letter)): ListedEvent => ({
  uuid: idOf(letter),
  requestAs,
  listing,
});

interface Page {
  readonly entries: Parameters<EventListBuilder["add"]>[0];
  readonly envelope: object;
}

/** Undefined stands for an entry without a valid uuid. */
const page = (entries: readonly (ListedEvent | undefined)[], envelope: object = []): Page => ({
  entries: {
    events: textsOf(entries.filter((entry) => entry !== undefined)),
    rejected: entries.filter((entry) => entry === undefined).length,
    path: [],
  },
  envelope,
});
const listOf = (...pages: readonly Page[]) => {
  const list = new EventListBuilder();
  for (const [index, { entries, envelope }] of pages.entries())
    list.add(entries, envelope, index < pages.length - 1);
  const { events, ...counts } = list.finish();
  return { ...counts, events: [...events] };
};

describe("the merged pages", () => {
  it("is sorted by uuid, over all pages", () => {
    const list = listOf(page([event("b"), event("d")]), page([event("a"), event("c")]));

    expect(list.events.map(({ uuid }) => uuid)).toEqual(["a", "b", "c", "d"].map(idOf));
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

  it("keeps the smallest text of a repeated event, and the uuid as that one spells it [D8]", () => {
    const [lower, mixed, upper] = [idOf("a"), idOf("a").replace("a", "A"), idOf("A")];
    const entries = [event("a", "2", upper), event("a", "10", mixed), event("a", "10", lower)];

    expect(listOf(page(entries))).toEqual({
      events: [event("a", "10", mixed)],
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
      requestAs: fc.constantFrom(..."aAbBcC").map(idOf),
      listing: fc.constantFrom("1", "2", "\u{10000}", "\uffff"),
    });
    fc.assert(
      fc.property(fc.array(entry), fc.array(fc.nat()), (entries, ranks) => {
        const reordered = entries
          .map((each, index) => ({ each, rank: ranks[index] ?? 0 }))
          .sort((x, y) => x.rank - y.rank)
          .map(({ each }) => ({ uuid: each.requestAs.toLowerCase(), ...each }));

        const given = entries.map((each) => ({ uuid: each.requestAs.toLowerCase(), ...each }));
        expect(listOf(page(reordered))).toEqual(listOf(page(given)));
      }),
    );
  });

  it.each([
    ["a total above what came", [page([event("a"), undefined], { total: 3 })]],
    [
      "the largest total of any page above what came",
      [page([event("a")], { total: 3 }), page([event("b")], { total: 2 })],
    ],
    ["a next page that no Link leads to", [page([event("a")], { links: { next: "/v1/events?page=2" } })]],
  ])("is incomplete with %s", (_, pages) => {
    expect(() => listOf(...pages)).toThrow(expect.objectContaining({ code: "LIST_INCOMPLETE" }));
  });

  it.each([
    [
      "a total of what came, repeated and rejected ones included",
      [page([event("a"), event("a"), undefined], { total: 3 })],
    ],
    ["a total below what came", [page([event("a"), event("b")], { total: 1 })]],
    [
      "a total that all pages reach together",
      [page([event("a")], { total: 2 }), page([event("b")], { total: 2 })],
    ],
    [
      "a next page that a Link led to",
      [page([event("a")], { links: { next: "/v1/events?page=2" } }), page([event("b")])],
    ],
  ])("is complete with %s", (_, pages) => {
    expect(() => listOf(...pages)).not.toThrow();
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
