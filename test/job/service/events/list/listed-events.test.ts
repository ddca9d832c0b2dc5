import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ListedEvent } from "../../../../../lambdas/job/service/event-service.ts";
import {
  EventListBuilder,
  EventTexts,
  type ListPage,
} from "../../../../../lambdas/job/service/events/list/listed-events.ts";

const textsOf = (events: readonly { uuid: string; requestAs: string; listing: string }[]) => {
  const texts = new EventTexts();
  for (const event of events) texts.add(event);
  return texts;
};

describe("listed events in memory", () => {
  const uuid = fc.oneof(fc.uuid(), fc.constantFrom("a", "ab", ""));
  const event = fc.record({
    uuid,
    requestAs: fc.constantFrom("a", "B"),
    listing: fc.string({ unit: "binary" }),
  });

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
      uuid: `u${index}`,
      requestAs: `U${index}`,
      listing: "ж".repeat(length),
    }));

    expect([...textsOf(events)]).toEqual(events);
  });

  it("cost little more than their texts, outside the heap", () => {
    const before = process.memoryUsage();
    const listing = "x".repeat(200);

    const texts = new EventTexts();
    for (let n = 0; n < 100_000; n += 1)
      texts.add({ uuid: `${n}`.padStart(36, "0"), requestAs: `${n}`.padStart(36, "0"), listing });

    const after = process.memoryUsage();
    expect((after.arrayBuffers - before.arrayBuffers) / texts.length).toBeLessThan(
      200 + 36 + 2 + 20 * 1.4 + 20,
    );
  });
});

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

describe("the merged pages", () => {
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

  it("keeps the smallest text of a repeated event, and the uuid as that one spells it [D8]", () => {
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
