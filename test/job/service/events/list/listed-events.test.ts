import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ListedEvent } from "../../../../../lambdas/job/service/event-service.ts";
import {
  EventListBuilder,
  EventTexts,
} from "../../../../../lambdas/job/service/events/list/listed-events.ts";
import { uuidOf } from "../../../../simulator/simulated-event.ts";
import { anyText } from "../../../json/any-text.ts";

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
      listing: anyText,
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
        expect(() => texts.uuidAt(events.length)).toThrow(RangeError);
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

/** Undefined stands for an entry without a valid uuid. */
type Page = readonly (ListedEvent | undefined)[];

const eventsOf = (page: Page): EventTexts => textsOf(page.filter((entry) => entry !== undefined));
const builderOf = (...pages: readonly Page[]): EventListBuilder => {
  const list = new EventListBuilder();
  for (const page of pages) {
    const events = eventsOf(page);
    list.add(events, page.length - events.length);
  }
  return list;
};
const listOf = (...pages: readonly Page[]) => {
  const { events, ...counts } = builderOf(...pages).finish();
  return { ...counts, events: [...events] };
};
/** Each letter stands for an event. */
const pageOf = (letters: string): Page => [...letters].map((letter) => event(letter));

describe("the merged pages", () => {
  it("is sorted by uuid, over all pages", () => {
    const list = listOf(pageOf("bd"), pageOf("ac"));

    expect(list.events.map(({ uuid }) => uuid)).toEqual(["a", "b", "c", "d"].map(idOf));
    expect(list).toMatchObject({ rejected: 0, repeated: 0 });
  });

  it("counts entries without a uuid as rejected", () => {
    expect(listOf([undefined, event("a"), undefined])).toEqual({
      events: [event("a")],
      rejected: 2,
      repeated: 0,
      overlapping: 0,
    });
  });

  it("keeps the smallest text of a repeated event, and the uuid as that one spells it [D8]", () => {
    const [lower, mixed, upper] = [idOf("a"), idOf("a").replace("a", "A"), idOf("A")];
    const entries = [event("a", "2", upper), event("a", "10", mixed), event("a", "10", lower)];

    expect(listOf(entries)).toEqual({
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
      expect(listOf(...pages.map(pageOf))).toMatchObject(counts);
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
        expect(listOf(reordered)).toEqual(listOf(given));
      }),
    );
  });

  it.each([
    { before: ["ab"], page: "ab", isNew: false, repeats: true },
    { before: ["ab"], page: "ba", isNew: false, repeats: false },
    { before: ["ab"], page: "abb", isNew: false, repeats: false },
    { before: ["ab", "c"], page: "ab", isNew: false, repeats: false },
    { before: ["ab", "c"], page: "c", isNew: false, repeats: true },
    { before: ["ab", "c"], page: "cd", isNew: true, repeats: false },
    { before: ["ab", ""], page: "", isNew: false, repeats: false },
    { before: [], page: "a", isNew: true, repeats: false },
  ])(
    "$before are known when $page comes: new $isNew, repeats the page before $repeats",
    ({ before, page, ...expected }) => {
      const list = builderOf(...before.map(pageOf));
      const upper = eventsOf(
        pageOf(page).map((one) => one && { ...one, requestAs: one.requestAs.toUpperCase() }),
      );

      expect({ isNew: list.hasNew(upper), repeats: list.repeatsPage(upper) }).toEqual(expected);
    },
  );

  it("know what they have received, with and without what came again, and the uuid of the last event as it was listed", () => {
    const list = builderOf([event("a"), undefined], [event("a"), event("b", "1", idOf("B")), undefined]);

    expect(list).toMatchObject({ received: 5, distinct: 4, last: idOf("B") });
  });

  it("tell 200,000 events apart whose uuids are drawn", () => {
    const texts = new EventTexts();
    for (let n = 0; n < 200_000; n += 1) texts.add(uuidOf(`u${n}`), "1");
    const list = builderOf([]);
    list.add(texts, 0);

    expect(list.distinct).toBe(200_000);
  });

  it("tell 100,000 events apart that were numbered", () => {
    const list = builderOf([]);
    const numbered = (from: number): EventTexts => {
      const texts = new EventTexts();
      for (let n = from; n < from + 100_000; n += 1)
        texts.add(`00000000-0000-4000-8000-${`${n}`.padStart(12, "0")}`, "1");
      return texts;
    };
    list.add(numbered(0), 0);

    const unknown = Array.from({ length: 100 }, (_, n) => {
      const texts = new EventTexts();
      texts.add(`00000000-0000-4000-8000-${`${100_000 + n}`.padStart(12, "0")}`, "1");
      return list.hasNew(texts);
    });

    expect(unknown).toEqual(unknown.map(() => true));
    expect(list.hasNew(numbered(0))).toBe(false);
  });
});
