// What is tried before it is advised, with a service that pages in ways which its list does not say.

import { describe, expect, it } from "vitest";
import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import type { ListTrial } from "../../../../../lambdas/job/service/event-service.ts";
import { EventTexts } from "../../../../../lambdas/job/service/events/list/listed-events.ts";
import type { FetchedPage, PageClient } from "../../../../../lambdas/job/service/events/list/read-page.ts";
import { fetchListAndTry } from "../../../../../lambdas/job/service/events/list/try-next-page.ts";
import { cursorOf, type ListOptions } from "../../../../simulator/list-endpoint.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { type ConnectionOptions, connect } from "../../connection.ts";
import { httpServer } from "../../http/local-server.ts";
import { entries, LIST_OPTIONS, readServed } from "./served-list.ts";

/** What is tried with a list of so many events, and how many requests for the list were sent. */
async function tried(events: number, list: ListOptions, options: ConnectionOptions = {}) {
  await using connection = await connect({ events: makeEvents(events), list }, options);
  const trials: ListTrial[] = [];
  const outcome = await connection.service
    .list(undefined, (trial) => trials.push(trial))
    .then(
      ({ events: { length } }) => length,
      (error: { readonly code: string }) => error.code,
    );
  return { outcome, trials, requests: connection.simulator.counts.list };
}

const NOTHING = { brought: 0, tried: expect.arrayContaining(["page={page}"]) };

const SILENT: ListOptions = { pageSize: 10, next: "none" };

describe("a list that nothing calls whole", () => {
  it.each<[string, number, ListOptions, object, requests: number | undefined]>([
    ["counts pages from 1", 25, SILENT, { fits: "page={page}", brought: 10, tried: [] }, 2],
    [
      "counts them from 0",
      25,
      { ...SILENT, asked: "page0" },
      { fits: "page={page}", brought: 5, tried: [] },
      2,
    ],
    [
      "counts two of them from 0",
      15,
      { ...SILENT, asked: "page0" },
      { fits: "page={page}", brought: 5, tried: [] },
      3,
    ],
    [
      "counts two of them from 0, and refuses a third",
      15,
      { ...SILENT, asked: "page0", behindLast: 404 },
      { fits: "page={page}", brought: 5, tried: [] },
      3,
    ],
    ["has one page", 9, SILENT, NOTHING, undefined],
    ["does not know the parameter", 25, { ...SILENT, parameter: "p" }, NOTHING, undefined],
  ])(
    "is asked for another page, and nothing is advised that brings none: it %s",
    async (_, events, list, trial, requests) => {
      const found = await tried(events, list);

      expect(found).toMatchObject({ outcome: Math.min(events, 10), trials: [trial] });
      expect(found.requests).toBeLessThanOrEqual(requests ?? 4);
    },
  );

  it("is asked for no other where something says that it is whole, or a person has, or no caller wants to know", async () => {
    await using connection = await connect({ events: makeEvents(25), list: SILENT });

    const whole = await tried(25, { members: { top: '"total":25' } });
    const said = await tried(25, SILENT, { nextPage: "all" });
    const failed = await tried(25, { members: { top: '"total":25,"failed":1' } });
    await connection.service.list();

    expect([whole, said, failed].map(({ trials, requests }) => [trials, requests])).toEqual([
      [[], 1],
      [[], 1],
      [[], 1],
    ]);
    expect(connection.simulator.counts.list).toBe(1);
  });

  it("is not asked again where the service fails at a parameter that it does not know", async () => {
    const pages: string[] = [];
    await using server = await httpServer((request, response) => {
      response.setHeader("set-cookie", "s=1");
      const { search } = new URL(request.url ?? "", "http://service.example");
      if (request.url?.startsWith("/v1/events")) pages.push(search);
      if (search.includes("page=")) response.writeHead(500).end();
      else response.end(JSON.stringify({ data: [{ uuid: makeEvents(1)[0]?.uuid }] }));
    });
    await using connection = await connect({}, { baseUrl: server.url });
    const trials: ListTrial[] = [];

    const list = await connection.service.list(undefined, (trial) => trials.push(trial));

    expect(list.events).toHaveLength(1);
    const [first, ...others] = pages;
    expect([first, ...others.slice(0, 2)]).toEqual(
      ["", "&page=2", "&page=1"].map((page) => `?is_listed=true${page}`),
    );
    expect(others.length).toBeLessThanOrEqual(3);
    expect(trials).toEqual([NOTHING]);
  });
});

describe("what is tried", () => {
  const [one, other, none] = [{ data: entries(1, 2) }, { data: entries(3, 4) }, { data: [] }];
  const EACH = ["page={page}", "offset={received}"];

  it.each<
    readonly [what: string, bodies: readonly object[], trials: readonly object[], asked: readonly string[]]
  >([
    [
      "that brings what two pages lack together",
      [{ ...one, next: "?page=2", total: 3 }, { data: entries(2, 2) }, { data: entries(3, 3) }],
      [{ fits: "page={page}", brought: 1, tried: [] }],
      ["page=2", "page=2"],
    ],
    [
      "where the list names it first",
      [{ ...one, total: 4, skip: 0 }, other],
      [{ fits: "skip={received}", brought: 2, tried: [] }],
      ["skip=2"],
    ],
    [
      "where pages form a circle",
      [{ ...one, next: "?page=2" }, { ...other, next: "?page=2" }, none, none],
      [{ brought: 0, tried: ["page={page}"] }],
      ["page=2", "page=2", "page=1"],
    ],
    ["of a list without events", [none], [], []],
    [
      "and only three times",
      [{ ...one, cursor: "a", after: "b", marker: "c" }, none, none, none],
      [{ brought: 0, tried: ["cursor={/cursor}", "after={/after}", "marker={/marker}"] }],
      ["cursor=a", "after=b", "marker=c"],
    ],
    [
      "and page 1 too where page 2 has no entries",
      [one, none, none, none],
      [{ brought: 0, tried: EACH }],
      ["page=2", "page=1", "offset=2"],
    ],
    [
      "and a number that is not of a page, also 1",
      [{ data: entries(1, 1) }, none, none, none],
      [{ brought: 0, tried: EACH }],
      ["page=2", "page=1", "offset=1"],
    ],
    [
      "but not page 1 where page 2 has entries",
      [one, one, one],
      [{ brought: 0, tried: EACH }],
      ["page=2", "offset=2"],
    ],
    [
      "but not page 1 where page 2 has entries without a uuid",
      [one, { data: [7] }, one],
      [{ brought: 0, tried: EACH }],
      ["page=2", "offset=2"],
    ],
  ])("is a page at a time, %s", async (_, bodies, expected, asked) => {
    const { trials, seen } = await readServed((_url, nth) => ({ body: bodies[nth - 1] }), { isTried: true });

    expect(trials).toEqual(expected);
    expect(seen.map((path) => path.replace("/v1/events?is_listed=true", "").replace("&", ""))).toEqual([
      "",
      ...asked.map((query) => expect.stringContaining(query)),
    ]);
  });

  it.each<readonly [what: string, nextPage: string | undefined, status: number, error: string | undefined]>([
    ["of a list whose service fails", undefined, 500, "SERVICE_UNAVAILABLE"],
    ["of a list that ends with a page which is refused", "page={page}", 404, undefined],
  ])("is nothing %s", async (_, nextPage, status, code) => {
    const { trials, error } = await readServed(
      (_url, nth) => (nth === 1 ? { body: { ...one, next: "?page=2", total: 2 } } : { status }),
      { nextPage, isTried: true },
    );

    expect(error?.code).toBe(code);
    expect(trials).toEqual([]);
  });

  /** The first page comes as it is given; what answers a trial is `later`. */
  const withClient = (first: (page: FetchedPage) => FetchedPage, later: () => Promise<undefined>) => {
    let requests = 0;
    const client: PageClient = {
      get: async ({ read }) => {
        requests += 1;
        const page = read(Buffer.from(JSON.stringify(one)), { status: 200, headers: new Map() });
        return requests === 1 && page ? first(page) : later();
      },
    };
    return {
      list: (signal?: AbortSignal) => fetchListAndTry(client, LIST_OPTIONS, () => undefined, signal),
      requests: () => requests,
    };
  };

  it("is nothing of a list of more than 100,000 events", async () => {
    const events = new EventTexts();
    const add = (n: number) => events.add(`00000000-0000-4000-8000-${`${n}`.padStart(12, "0")}`, "1");
    for (let n = 1; n < 100_000; n += 1) add(n);

    for (const [count, requests] of [
      [100_000, 4],
      [100_001, 1],
    ] as const) {
      add(count);
      const tried = withClient(
        (page) => ({ ...page, events, entries: count }),
        async () => undefined,
      );
      await tried.list();

      expect(tried.requests()).toBe(requests);
    }
  });

  it.each([
    ["a mistake of the program", new TypeError("no function")],
    ["what interrupts it", new SyncError("INTERRUPTED", "The process was told to end.")],
  ])("ends with %s", async (_, failure) => {
    const interrupted = new AbortController();
    const tried = withClient(
      (page) => page,
      async () => {
        if (failure instanceof SyncError) interrupted.abort(failure);
        throw failure;
      },
    );

    await expect(tried.list(interrupted.signal)).rejects.toBe(failure);
    expect(tried.requests()).toBe(2);
  });
});

describe("a list that says that there is more", () => {
  it.each<[string, ListOptions]>([
    ["by a total", { ...SILENT, members: { top: ({ all }) => `"total":${all}` } }],
    [
      "by a link that leads to an inner host",
      { pageSize: 10, next: "body", nextUrl: (url) => `http://inner.example${url}` },
    ],
  ])("is tried too: %s", async (_, list) => {
    const { outcome, trials, requests } = await tried(25, list);

    expect(outcome).toMatch(/^(?:LIST_INCOMPLETE|UNEXPECTED_RESPONSE)$/);
    expect(trials).toEqual([expect.objectContaining({ fits: "page={page}", brought: 10 })]);
    expect(requests).toBeLessThanOrEqual(4);
  });

  it("counts only events that came on no page before", async () => {
    const links = ({ number, all }: { readonly number: number; readonly all: number }): string =>
      number === 1 ? `"total":${all},"links":{"next":"?is_listed=true&page=2"}` : `"total":${all}`;

    const { outcome, trials } = await tried(20, {
      ...SILENT,
      members: { top: (page) => links({ ...page, all: 25 }) },
    });

    expect(outcome).toBe("LIST_INCOMPLETE");
    expect(trials).toEqual([NOTHING]);
  });

  it.each([
    { next: "https://inner.test/v1/events?is_listed=1&page=2" },
    { next: "https://inner.test/v1/events?=1&page=2" },
  ])("is tried with what nextPage can be only: %j", async (beside) => {
    const { error, trials } = await readServed(() => ({ body: { data: entries(1, 10), ...beside } }), {
      isTried: true,
    });

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE" });
    expect(error?.fields["candidates"]).toEqual(["page={page}", "offset={received}"]);
    expect(trials).toEqual([{ brought: 0, tried: ["page={page}", "offset={received}"] }]);
  });

  it("sends three requests more at most, whatever it could try", async () => {
    const list: ListOptions = {
      ...SILENT,
      asked: "cursor",
      parameter: "after",
      members: { top: (page) => `"next_cursor":"${cursorOf(page)}","has_more":true` },
    };

    const { requests } = await tried(25, list);

    expect(requests).toBeLessThanOrEqual(4);
  });
});
