// What is tried before it is advised, with a service that pages in ways which its list does not say.

import { describe, expect, it } from "vitest";
import type { ListTrial } from "../../../../../lambdas/job/service/event-service.ts";
import type { ListOptions } from "../../../../simulator/list-endpoint.ts";
import { cursorOf } from "../../../../simulator/list-endpoint.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { type ConnectionOptions, connect } from "../../connection.ts";
import { httpServer } from "../../http/local-server.ts";
import { entries, readServed } from "./served-list.ts";

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
    await connection.service.list();

    expect([whole, said].map(({ trials, requests }) => [trials, requests])).toEqual([
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
