import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ListedEvent } from "../../../../../lambdas/job/service/event-service.ts";
import { EventListBuilder } from "../../../../../lambdas/job/service/events/list/fetch-list.ts";
import type { ListPage } from "../../../../../lambdas/job/service/events/list/list-reader.ts";
import type { ListOptions } from "../../../../simulator/list-endpoint.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { connect, errorOf } from "../../connection.ts";
import { httpServer } from "../../http/local-server.ts";

const EVENTS = makeEvents(10);
const SORTED = EVENTS.map(({ uuid }) => uuid).sort();
const uuids = (list: { readonly events: Iterable<{ readonly uuid: string }> }): readonly string[] =>
  [...list.events].map(({ uuid }) => uuid);

describe("the list", () => {
  it.each(["array", "data-array", "data-map", "data-events"] as const)(
    "is read from the shape %s",
    async (shape) => {
      await using connection = await connect({ events: EVENTS, list: { shape, shuffle: 7 } });

      const list = await connection.service.list();

      expect(uuids(list)).toEqual(SORTED);
      expect(list).toMatchObject({ rejected: 0, repeated: 0 });
    },
  );

  it("is read from where the pointer says", async () => {
    await using connection = await connect(
      { events: EVENTS, list: { shape: "result-items" } },
      { listPointer: "/result/items" },
    );

    expect(uuids(await connection.service.list())).toEqual(SORTED);
  });

  it.each([
    ["true", 8],
    ["false", 2],
    ["any", 10],
  ] as const)("asks for is_listed=%s", async (isListed, expected) => {
    await using connection = await connect({ events: EVENTS }, { isListed });
    for (const uuid of SORTED.slice(0, 2)) connection.simulator.unlist(uuid);

    expect((await connection.service.list()).events).toHaveLength(expected);
  });

  it("counts repeated entries and entries without a uuid", async () => {
    await using connection = await connect({
      events: EVENTS,
      list: { duplicates: 3, extra: ['{"name":"no uuid"}', "null"] },
    });

    const list = await connection.service.list();

    expect(uuids(list)).toEqual(SORTED);
    expect(list).toMatchObject({ rejected: 2, repeated: 3 });
  });

  it.each([1, 3, 9, 10])("is followed over pages of %i", async (pageSize) => {
    await using connection = await connect({
      events: EVENTS,
      list: { pageSize, members: { top: '"total":10' } },
    });

    expect(uuids(await connection.service.list())).toEqual(SORTED);
    expect(connection.simulator.counts.list).toBe(Math.ceil(10 / pageSize));
  });

  it("is followed with an absolute address too, and a page is asked for again like any request", async () => {
    await using connection = await connect({
      events: EVENTS,
      list: { pageSize: 4 },
      faults: [{ match: { path: "list", nth: 2 }, fault: { kind: "truncate" } }],
    });
    const { service, simulator } = connection;
    simulator.configure({ list: { pageSize: 4, nextUrl: (relative) => simulator.url + relative } });

    expect(uuids(await service.list())).toEqual(SORTED);
    expect(service.counts).toMatchObject({ retries: 1 });
  });

  it.each(["truncate", "reset-mid-body"] as const)(
    "that breaks off in the middle (%s) leaves nothing behind, and is read again from its beginning",
    async (kind) => {
      const events = makeEvents(2_000);
      await using connection = await connect({
        events,
        faults: [{ match: { path: "list", nth: 1 }, fault: { kind } }],
      });

      const list = await connection.service.list();

      expect(uuids(list)).toEqual(events.map(({ uuid }) => uuid).sort());
      expect(list).toMatchObject({ rejected: 0, repeated: 0 });
      expect(connection.service.counts).toMatchObject({ retries: 1 });
    },
  );

  const incomplete: readonly (readonly [ListOptions, string])[] = [
    [{ pageSize: 4, next: "body" }, "/links/next"],
    [{ members: { top: '"total":11' } }, "/total"],
    [{ members: { top: '"meta":{"total_count":11}' } }, "/meta/total_count"],
    [{ members: { top: '"pagination":{"has_more":true}' } }, "/pagination/has_more"],
    [{ shape: "data-events", members: { data: '"total":11' } }, "/data/total"],
    [{ pageSize: 4, members: { top: '"total":11' } }, "/total"],
  ];
  it.each(incomplete)("that is not all there is ends the run: %j (%s)", async (list, pointer) => {
    await using connection = await connect({ events: EVENTS, list });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({ code: "LIST_INCOMPLETE", message: expect.stringContaining(pointer) });
  });

  it("whose pages form a circle ends the run", async () => {
    await using connection = await connect({
      events: EVENTS,
      list: { pageSize: 4, nextUrl: () => "?is_listed=true&page=2" },
    });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", message: expect.stringContaining("circle") });
    expect(connection.simulator.counts.list).toBe(2);
  });

  it("whose pages never end ends the run", async () => {
    let page = 0;
    const headers = new Map<string, readonly string[]>();
    await using connection = await connect(
      {},
      {
        transport: {
          send: async ({ method }) => {
            if (method === "GET") page += 1;
            headers.set("set-cookie", ["s=1"]).set("link", [`<?page=${page}>; rel=next`]);
            return {
              status: 200,
              headers,
              decodedBytes: 2,
              body: { kind: "whole", bytes: Buffer.from("[]") },
            };
          },
          close: async () => undefined,
        },
      },
    );

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining("10000 pages"),
    });
    expect(page).toBe(10_000);
  });

  it.each([undefined, 4])("over the cap ends the run (page size %s)", async (pageSize) => {
    await using connection = await connect(
      { events: EVENTS, list: pageSize === undefined ? {} : { pageSize } },
      { listCapBytes: 600 },
    );

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining("600 bytes"),
    });
  });

  it("may begin with a byte order mark", async () => {
    await using connection = await connect({ events: EVENTS, list: { raw: (body) => `\uFEFF${body}` } });

    expect(uuids(await connection.service.list())).toEqual(SORTED);
  });

  it("is asked for below a base URL with a path", async () => {
    const seen: (string | undefined)[] = [];
    await using server = await httpServer((request, response) => {
      seen.push(request.url);
      response.setHeader("set-cookie", "s=1").end("[]");
    });
    await using connection = await connect({}, { baseUrl: `${server.url}/brands` });

    await connection.service.list();

    expect(seen).toEqual(["/brands/v1/auth/login", "/brands/v1/events?is_listed=true"]);
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
