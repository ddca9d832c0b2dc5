import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventTexts } from "../../../../../lambdas/job/service/events/list/event-texts.ts";

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
