import { describe, expect, test } from "vitest";
import { type DetailOptions, oneEvent } from "./detail-endpoint.ts";
import { type ListOptions, listEvents } from "./list-endpoint.ts";
import type { SimulatedEvent } from "./simulated-event.ts";
import { World } from "./world.ts";

const event = (uuid: string, flags: Partial<SimulatedEvent> = {}): SimulatedEvent => ({
  uuid,
  source: `{ "uuid":"${uuid}", "n":1.10 }`,
  listing: `{"uuid" : "${uuid}"}`,
  listed: true,
  archived: false,
  ...flags,
});

const world = (): World => new World([event("a"), event("b"), event("c")]);

const list = (options: ListOptions, query = "", events = world()): string | Buffer =>
  listEvents(new URLSearchParams(query), events, options).body;

describe("the list", () => {
  const two = (): World => new World([event("a"), event("b")]);
  const members = { top: '"total":9', data: '"more":false' };

  test.each<[ListOptions, string]>([
    [{ shape: "array" }, '[{"uuid" : "a"},{"uuid" : "b"}]'],
    [{}, '{"data":[{"uuid" : "a"},{"uuid" : "b"}]}'],
    [{ members }, '{"data":[{"uuid" : "a"},{"uuid" : "b"}],"total":9}'],
    [{ shape: "data-map" }, '{"data":{"a":{"uuid" : "a"},"b":{"uuid" : "b"}}}'],
    [
      { shape: "data-map", members },
      '{"data":{"a":{"uuid" : "a"},"b":{"uuid" : "b"},"more":false},"total":9}',
    ],
    [
      { shape: "data-events", members },
      '{"data":{"events":[{"uuid" : "a"},{"uuid" : "b"}],"more":false},"total":9}',
    ],
    [{ shape: "result-items" }, '{"result":{"items":[{"uuid" : "a"},{"uuid" : "b"}]}}'],
  ])("with %j is sent as text, byte for byte", (options, body) => {
    expect(list(options, "", two())).toBe(body);
  });

  test.each([
    { query: "", uuids: ["listed", "unlisted"] },
    { query: "is_listed=true", uuids: ["listed"] },
    { query: "is_listed=false", uuids: ["unlisted"] },
  ])("with $query shows $uuids, and never what is archived", ({ query, uuids }) => {
    const events = new World([
      event("listed"),
      event("unlisted", { listed: false }),
      event("archived", { archived: true }),
      event("archived and unlisted", { archived: true, listed: false }),
    ]);

    expect(list({ shape: "array" }, query, events)).toBe(
      `[${uuids.map((uuid) => `{"uuid" : "${uuid}"}`).join(",")}]`,
    );
  });

  test.each(["is_listed=1", "is_listed=", "is_listed=TRUE", "page=0", "page=x", "page=1.5"])(
    "refuses %s",
    (query) => {
      expect(listEvents(new URLSearchParams(query), world(), {}).status).toBe(400);
    },
  );

  test("comes in pages that Link leads through, in the order of the whole list", () => {
    const options: ListOptions = { shape: "array", pageSize: 2 };

    const first = listEvents(new URLSearchParams("is_listed=true"), world(), options);
    const second = listEvents(new URLSearchParams("is_listed=true&page=2"), world(), options);

    expect(first.body).toBe('[{"uuid" : "a"},{"uuid" : "b"}]');
    expect(first.headers["link"]).toBe(
      '</v1/events?page=1>; rel="first", </v1/events?is_listed=true&page=2>; rel="next"',
    );
    expect(second.body).toBe('[{"uuid" : "c"}]');
    expect(second.headers["link"]).toBeUndefined();
  });

  test("of exactly one full page announces no other", () => {
    expect(listEvents(new URLSearchParams(), world(), { pageSize: 3 }).headers["link"]).toBeUndefined();
  });

  test("announces the next page in the body, or not at all, or at another address", () => {
    const at = (options: ListOptions): unknown => {
      const { body, headers } = listEvents(new URLSearchParams(), world(), { pageSize: 2, ...options });
      return [body, headers["link"]];
    };
    const data = '"data":[{"uuid" : "a"},{"uuid" : "b"}]';

    expect(at({ next: "body" })).toEqual([`{${data},"links":{"next":"/v1/events?page=2"}}`, undefined]);
    expect(at({ next: "none" })).toEqual([`{${data}}`, undefined]);
    expect(at({ nextUrl: () => "https://elsewhere.test/" })).toEqual([
      `{${data}}`,
      '</v1/events?page=1>; rel="first", <https://elsewhere.test/>; rel="next"',
    ]);
  });

  test("is shuffled the same way for the same seed, on every page", () => {
    const events = (): World => new World([..."abcdefghij"].map((uuid) => event(uuid)));
    const uuids = (seed: number, page: number): string => {
      const body = list({ shape: "array", shuffle: seed, pageSize: 5 }, `page=${page}`, events());
      return [...String(body).matchAll(/"(.)"/g)].map(([, uuid]) => uuid).join("");
    };

    const whole = uuids(1, 1) + uuids(1, 2);

    expect(whole).not.toBe("abcdefghij");
    expect([...whole].sort().join("")).toBe("abcdefghij");
    expect(uuids(1, 1)).toBe(whole.slice(0, 5));
    expect(uuids(2, 1) + uuids(2, 2)).not.toBe(whole);
  });

  test("repeats entries and adds others if configured", () => {
    expect(list({ shape: "array", duplicates: 1, extra: ['{"no":"uuid"}'] })).toBe(
      '[{"uuid" : "a"},{"uuid" : "b"},{"uuid" : "c"},{"uuid" : "a"},{"no":"uuid"}]',
    );
  });

  test("carries further headers", () => {
    const options = { headers: { "x-total-count": "9" } };

    expect(listEvents(new URLSearchParams(), world(), options).headers["x-total-count"]).toBe("9");
  });

  test("is replaced or rewritten by raw", () => {
    expect(list({ raw: "nonsense" })).toBe("nonsense");
    expect(list({ shape: "array", raw: (body, entries) => `\ufeff${body}${entries.length}` })).toBe(
      '\ufeff[{"uuid" : "a"},{"uuid" : "b"},{"uuid" : "c"}]3',
    );
  });
});

describe("one event", () => {
  const source = '{ "uuid":"a", "n":1.10 }';

  test.each<[DetailOptions, string]>([
    [{ shape: "bare" }, source],
    [{}, `{"data":${source}}`],
    [{ shape: "data", members: '"meta":{}' }, `{"data":${source},"meta":{}}`],
    [{ shape: "data-event" }, `{"data":{"event":${source}}}`],
    [{ shape: "result-item" }, `{"result":{"item":${source}}}`],
    [{ raw: (body, { uuid }) => `${uuid} ${body}` }, `a {"data":${source}}`],
  ])("with %j is sent as text, byte for byte", (options, body) => {
    expect(oneEvent("a", world(), options).body).toBe(body);
  });

  test("is answered by what the service knows of it", () => {
    const events = world();
    events.refuse("a", 403);
    events.refuse("b", 410);
    events.change("c", { archived: true });

    expect(["a", "b", "c", "unknown"].map((uuid) => oneEvent(uuid, events, {}).status)).toEqual([
      403, 410, 404, 404,
    ]);
  });
});

describe("the world", () => {
  test("refuses an event twice, and changes to one it does not know", () => {
    const events = world();

    expect(() => events.add(event("a"))).toThrow("has event a already");
    expect(() => events.change("x", { listed: false })).toThrow("no event x");
    expect(() => events.refuse("x", 403)).toThrow("no event x");
    expect(() => new World([event("a")]).otherThan("a")).toThrow("no other event");
  });

  test("knows another event that is shown", () => {
    const events = world();
    events.refuse("a", 403);
    events.change("b", { archived: true });

    expect(events.otherThan("x").uuid).toBe("c");
  });

  test("forgets refusals when its events are replaced", () => {
    const events = world();
    events.refuse("a", 403);

    events.replaceAll([event("a")]);

    expect(oneEvent("a", events, {}).status).toBe(200);
  });
});
