import { describe, expect, it } from "vitest";
import { nextPage } from "../../../../../lambdas/job/service/events/list/fetch-list.ts";
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
