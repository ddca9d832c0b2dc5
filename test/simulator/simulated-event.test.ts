import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { evolve } from "./evolve.ts";
import { hostileEvents } from "./hostile-events.ts";
import { makeEvent, makeEvents, uuidOf } from "./simulated-event.ts";
import { Simulator } from "./simulator.ts";

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("makeEvents", () => {
  test("makes the same events every time, and others for another seed", () => {
    const once = makeEvents(20).map(({ uuid, source, listing }) => ({ uuid, source, listing }));
    const again = makeEvents(20).map(({ uuid, source, listing }) => ({ uuid, source, listing }));
    const others = makeEvents(20, { seed: 7 });

    expect(again).toEqual(once);
    expect(others.some(({ uuid }) => once.some((event) => event.uuid === uuid))).toBe(false);
    expect(others[0]?.source.slice(60)).not.toBe(once[0]?.source.slice(60));
  });

  test("makes JSON of 0.5 to 2 KB with a uuid of version 4, and a listing that agrees with it", () => {
    for (const { uuid, source, listing } of makeEvents(200)) {
      const detail: unknown = JSON.parse(source);
      const entry: unknown = JSON.parse(listing);

      expect(uuid).toMatch(UUID_V4);
      expect(detail).toMatchObject({ uuid, revision: 1 });
      expect(detail).toMatchObject(Object(entry));
      expect(source.length).toBeGreaterThanOrEqual(500);
      expect(source.length).toBeLessThan(2_100);
    }
  });

  test("makes number literals that a parser would not write back the same", () => {
    const sources = makeEvents(50).map(({ source }) => source);

    expect(sources.filter((source) => /"amount":\d+\.\d0[,}]/.test(source))).toHaveLength(50);
  });

  test("takes a length and further members", () => {
    const { source } = makeEvent(3, { length: 10_000, extra: '"note":"canary"' });

    expect(source.length).toBeGreaterThanOrEqual(10_000);
    expect(source.length).toBeLessThan(10_100);
    expect(source.endsWith(',"note":"canary"}')).toBe(true);
    expect(() => JSON.parse(source)).not.toThrow();
  });

  test("makes no text before it is read, so tens of thousands of events are quick", () => {
    const [first] = makeEvents(10);

    expect(Object.getOwnPropertyDescriptor(first, "source")?.get).toBeTypeOf("function");
    expect(Object.getOwnPropertyDescriptor(first, "listing")?.get).toBeTypeOf("function");
  });

  test("names have uuids that stay", () => {
    expect(uuidOf("event 0 1")).toBe("8384abaa-771b-45c1-8c84-9e6b15ecd8b5");
  });
});

describe("hostileEvents", () => {
  const events = hostileEvents();

  test("are valid JSON, each with its own name and uuid", () => {
    for (const { uuid, source, listing } of events) {
      expect(JSON.parse(source)).toMatchObject({ uuid: uuid.toLowerCase() });
      expect(JSON.parse(listing)).toMatchObject({ uuid });
    }
    expect(new Set(events.map(({ name }) => name)).size).toBe(events.length);
    expect(new Set(events.map(({ uuid }) => uuid.toLowerCase())).size).toBe(events.length);
  });

  test.each([
    ["an integer beyond 2^53", '"reach":9007199254740993'],
    ["a number beyond the range of doubles", '"reach":1e400'],
    ["a number with a trailing zero", '"reach":1.10'],
    ["minus zero", '"reach":-0'],
    ["keys that differ only by case", '"Date":'],
    ["duplicate keys", '"date":"2026-01-01","date":"2026-01-02"'],
    ["integer-like keys out of order", '"10":"ten","2":"two","1":'],
    ["line separators in a text and in a key", "a\u2028b\u2029c\u0085d"],
    ["escaped newlines", String.raw`a\nb\r\nc\td\u000ae\u2028f`],
    ["a NUL escape", String.raw`a\u0000b`],
    ["a lone surrogate escape", String.raw`a\ud800b`],
    ["a null date", '"date":null'],
    ["an object as date", '"date":{'],
    ["a number as date", '"date":20260101.10'],
    ["a nested scope", '"scope":{"regions":[{'],
    ["an indented body", '\r\n\t"date" :\t"2026-01-01" ,'],
    ["emoji, raw and escaped", String.raw`👩‍👩‍👧 \ud83d\ude00`],
    ["a __proto__ key", '"__proto__":{"polluted":true}'],
    ["escaped key names", String.raw`"d\u0061te":"2026-01-01"`],
    ["an escaped uuid key at the very end", String.raw`"\u0075uid":"`],
  ])("%s is in the text as it stands here", (name, text) => {
    const event = events.find((each) => each.name === name);

    expect(event?.source).toContain(text);
  });

  test("one has 1 MB of text, one a depth of 300, one no date, one another case in the list", () => {
    const byName = new Map(events.map((event) => [event.name, event]));
    const deep = byName.get("a depth of 300")?.source ?? "";

    expect(byName.get("a text of 1 MB")?.source.length).toBeGreaterThan(1_048_576);
    expect(deep.replaceAll(/[^[{]/g, "")).toHaveLength(301);
    expect(byName.get("no date and no scope")?.source).not.toContain("date");
    expect(byName.get("an upper-case uuid in the list")?.uuid).toMatch(/^[0-9A-F-]+$/);
    expect(byName.get("an upper-case uuid in the list")?.source).toMatch(/"uuid":"[0-9a-f-]+"/);
  });
});

describe("evolve", () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await Simulator.start();
  });
  afterEach(() => simulator.stop());

  const state = (): ReadonlyMap<string, string> =>
    new Map(simulator.listed().map(({ uuid, source }) => [uuid, source]));

  test("adds 5 events, changes 8 and archives 3", () => {
    const before = state();

    const counts = evolve(simulator);

    const after = state();
    expect(counts).toEqual({ added: 5, changed: 8, archived: 3 });
    expect([...after.keys()].filter((uuid) => !before.has(uuid))).toHaveLength(5);
    expect([...before.keys()].filter((uuid) => !after.has(uuid))).toHaveLength(3);
    const changed = [...after].filter(([uuid, source]) => before.has(uuid) && before.get(uuid) !== source);
    expect(changed).toHaveLength(8);
    for (const [, source] of changed) expect(JSON.parse(source)).toMatchObject({ revision: 2 });
  });

  test("does it the same way every time, and again and again", async () => {
    const twin = await Simulator.start();
    for (const each of [simulator, twin]) for (let round = 0; round < 3; round += 1) evolve(each);

    expect(state()).toEqual(new Map(twin.listed().map(({ uuid, source }) => [uuid, source])));
    expect(state().size).toBe(100 + 3 * (5 - 3));
    await twin.stop();
  });

  test("makes no event twice", () => {
    simulator.setEvents(makeEvents(12).slice(6));

    expect(evolve(simulator).added).toBe(5);
    expect(simulator.size).toBe(11);
  });

  test.each([
    { events: 0, counts: { added: 5, changed: 0, archived: 0 } },
    { events: 2, counts: { added: 5, changed: 0, archived: 2 } },
    { events: 7, counts: { added: 5, changed: 4, archived: 3 } },
  ])("does what it can with $events events", ({ events, counts }) => {
    simulator.setEvents(makeEvents(events));

    expect(evolve(simulator)).toEqual(counts);
    expect(simulator.listed()).toHaveLength(events + 5 - counts.archived);
  });
});
