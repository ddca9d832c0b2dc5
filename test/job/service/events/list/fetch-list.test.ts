import { describe, expect, it } from "vitest";
import { fetchList } from "../../../../../lambdas/job/service/events/list/fetch-list.ts";
import type { ApiRequest } from "../../../../../lambdas/job/service/requests/api-client.ts";
import type { IsListed } from "../../../../../lambdas/job/settings/values.ts";
import { cursorOf, type ListOptions, type SentPage } from "../../../../simulator/list-endpoint.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { told } from "../../../../words/said.ts";
import { connect, errorOf, failedList } from "../../connection.ts";
import { httpServer } from "../../http/local-server.ts";
import { entries, LIST_OPTIONS, readServed, type ServedPage } from "./served-list.ts";

const EVENTS = makeEvents(10);
const SORTED = EVENTS.map(({ uuid }) => uuid).sort();
const uuids = (list: { readonly events: Iterable<{ readonly uuid: string }> }): readonly string[] =>
  [...list.events].map(({ uuid }) => uuid);

/** The members of a page that names the next one so. */
const nextCursor = (page: SentPage): string => `"next_cursor":${JSON.stringify(cursorOf(page) ?? null)}`;
const PAGE = "page={page}";
const FOUR: ListOptions = { pageSize: 4 };
/** Four events on a page, of which nothing leads to the next. */
const SILENT: ListOptions = { ...FOUR, next: "none" };
/** With these members beside the list. */
const top = (text: string | ((page: SentPage) => string), options: ListOptions = {}): ListOptions => ({
  ...options,
  members: { top: text },
});
const hasMore = ({ isLast }: SentPage): string => `"has_more":${!isLast}`;

/** A service that logs in, and answers the nth request, the login included, with such a page; `seen` is what was requested. */
const paged = async (pageOf: (nth: number, url: URL) => object | string) => {
  const seen: string[] = [];
  const server = await httpServer((request, response) => {
    const url = request.url ?? "";
    const page = pageOf(seen.push(url), new URL(url, "http://service.test"));
    response.setHeader("set-cookie", "s=1").end(typeof page === "string" ? page : JSON.stringify(page));
  });
  return { url: server.url, seen, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
};

const numbered = (n: number): { readonly uuid: string } => ({
  uuid: `0000000${n}-0000-4000-8000-000000000000`,
});

describe("the list", () => {
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

  it.each<readonly [IsListed, readonly object[], count: string | undefined]>([
    ["true", [{ is_listed: false }, { listed: false }, {}, { is_listed: true }], "2 of 4 entries say"],
    ["true", [{ listed: true }, { is_listed: "false" }, { is_listed: null }, { is_listed: 0 }], undefined],
    ["true", [{}, { uuid: null, is_listed: false }], "1 of 2 entries say"],
    ["any", [{ is_listed: false }], undefined],
    ["false", [{ is_listed: false }], undefined],
  ])("asked with is_listed=%s, with entries of %j, warns: %s", async (isListed, entries, count) => {
    // The first entry alone is the first page.
    await using server = await paged((nth) =>
      nth === 2
        ? { data: [{ ...numbered(1), ...entries[0] }], next: "/v1/events?page=2" }
        : { data: entries.slice(1).map((entry, at) => ({ ...numbered(at + 2), ...entry })) },
    );
    await using connection = await connect({}, { baseUrl: server.url, isListed });

    const { events, warnings } = await connection.service.list();

    expect(events.length).toBe(entries.filter((entry) => !("uuid" in entry)).length);
    expect(warnings).toEqual(count === undefined ? [] : [expect.stringContaining(count)]);
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

  it.each<readonly [ListOptions, string, string]>([
    [top(nextCursor, SILENT), "says at /next_cursor", "cursor={/next_cursor}"],
    [top('"total":11'), "states a total of 11 at /total", PAGE],
    [{ shape: "data-events", members: { data: '"total":11' } }, "states a total of 11 at /data/total", PAGE],
    [top('"total":11,"per_page":4', FOUR), "states a total of 11 at /total", PAGE],
    [top('"total":10,"page":1,"per_page":4', SILENT), "states a total of 10 at /total", PAGE],
    [top('"total":10,"skip":0,"limit":4', SILENT), "states a total of 10 at /total", "skip={received}"],
    [top('"totalPages":4', FOUR), "states 4 pages at /totalPages", PAGE],
    [top(hasMore, SILENT), "says at /has_more", PAGE],
    [
      { pageSize: 4, next: "none", headers: { "x-total-count": "10" } },
      "a total of 10 at X-Total-Count",
      PAGE,
    ],
    [{ pageSize: 4, next: "none", status: 206 }, "says at status 206", PAGE],
  ])(
    "that is not all there is ends the run: %j, with the place (%s), and probably needs %s",
    async (list, place, candidate) => {
      await using connection = await connect({ events: EVENTS, list });

      const error = await errorOf(connection.service.list());

      expect(error).toMatchObject({ code: "LIST_INCOMPLETE", message: expect.stringContaining(place) });
      expect(told(error)).toHaveProperty(
        "message",
        expect.stringContaining("Check: check tries what asks for the next page"),
      );
      expect(error).toHaveProperty("message", expect.not.stringContaining(candidate));
      expect(error).toHaveProperty("fields.candidates.0", candidate);
    },
  );

  it.each<readonly [ListOptions, number]>([
    [{ pageSize: 4, next: "body" }, 3],
    [{ pageSize: 4, next: "body", nextUrl: (relative) => relative.replace("is_listed=true&", "") }, 3],
    [top('"total":10,"totalPages":3', FOUR), 3],
    [{ pageSize: 4, members: { top: ({ isLast }) => (isLast ? '"x":1' : '"total":10') } }, 3],
    [top('"total":10,"last":true,"next":null,"per_page":100'), 1],
    [{ headers: { "x-total": "10", "x-next-poll": "60" } }, 1],
  ])("is all there is where its pages say so: %j takes %i requests", async (list, requests) => {
    await using connection = await connect({ events: EVENTS, list });

    expect(uuids(await connection.service.list())).toEqual(SORTED);
    expect(connection.simulator.counts.list).toBe(requests);
  });

  it("whose pages form a circle ends the run", async () => {
    const { error, served } = await failedList({
      events: EVENTS,
      list: { pageSize: 4, nextUrl: () => "?is_listed=true&page=2" },
    });

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", message: expect.stringContaining("circle") });
    expect(served.list).toBe(2);
  });

  it("of more than 10,000 pages ends the run", async () => {
    let pages = 0;
    const get = async <T>({ read }: ApiRequest<T>): Promise<T> => {
      pages += 1;
      const uuid = `00000000-0000-4000-8000-${String(pages).padStart(12, "0")}`;
      const body = Buffer.from(JSON.stringify({ data: [{ uuid }], next: `?page=${pages}` }));
      return read(body, { status: 200, headers: new Map() });
    };

    const error = await errorOf(fetchList({ get }, LIST_OPTIONS));

    expect(error).toHaveProperty("message", expect.stringContaining("continue after 10000 pages"));
    expect(pages).toBe(10_000);
  });

  it.each([
    [{}, { page: 512, list: 1_048_576 }, "0.00048828125 MiB in a page, or 1 MiB in all"],
    [{}, { page: 1_024, list: 512 }, "0.0009765625 MiB in a page, or 0.00048828125 MiB in all"],
    [{ pageSize: 4 }, { page: 1_024, list: 512 }, "0.0009765625 MiB in a page, or 0.00048828125 MiB in all"],
  ])("%j over the caps %j ends the run with its size", async (list, listCaps, sizes) => {
    const { error } = await failedList({ events: EVENTS, list }, { listCaps });

    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining(`has more than ${sizes}`),
    });
  });

  it("is asked for below a base URL with a path", async () => {
    await using server = await paged(() => "[]");
    await using connection = await connect({}, { baseUrl: `${server.url}/brands` });

    await connection.service.list();

    expect(server.seen).toEqual(["/brands/v1/auth/login", "/brands/v1/events?is_listed=true"]);
  });

  it.each<readonly [what: string, ofLast: (page: number) => object]>([
    ["names itself", (page) => ({ next: `?page=${Math.min(3, page + 1)}` })],
    ["says that it is the last", (page) => ({ next: `?page=${page + 1}`, has_more: page < 2 })],
  ])("whose last page has no entries and %s ends there", async (_, ofLast) => {
    await using server = await paged((_nth, { searchParams }) => {
      const page = Number(searchParams.get("page") ?? 1);
      return { data: page < 3 ? [numbered(page)] : [], ...ofLast(page) };
    });
    await using connection = await connect({}, { baseUrl: server.url });

    expect((await connection.service.list()).events).toHaveLength(2);
    expect(server.seen).toHaveLength(4);
  });

  it.each([
    [
      "/brands",
      "/v1/events/b?token=secret",
      "GET /brands/v1/events (its next page) was answered with status 404",
    ],
    ["", "/v1/events/b/secret", "status 404, and no page says that the entries before it are all: 1."],
  ])("below %s whose next page %s is answered with 404 says so", async (path, next, expected) => {
    await using server = await httpServer((request, response) => {
      response.setHeader("set-cookie", "s=1");
      if (request.url?.startsWith(next)) response.writeHead(404).end();
      else response.end(JSON.stringify({ data: [{ uuid: SORTED[0] }], next }));
    });

    const { error } = await failedList({}, { baseUrl: `${server.url}${path}` });

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", message: expect.stringContaining(expected) });
    expect(error).toHaveProperty("message", expect.not.stringContaining("secret"));
  });
});

describe("a list that nothing calls whole", () => {
  const LIMIT = { why: "limit", entries: 10, places: ["/limit"] };
  const UNSAID = { why: "unsaid", entries: 10, places: [] };

  it.each<readonly [nextPage: string | undefined, list: ListOptions, doubt: object | undefined]>([
    [undefined, {}, UNSAID],
    [undefined, { shape: "array" }, UNSAID],
    [undefined, top('"cursor":"b"'), { ...UNSAID, places: ["/cursor"] }],
    [undefined, { headers: { "x-acme-total": "58" } }, { ...UNSAID, places: ["X-Acme-Total"] }],
    [undefined, top('"limit":10,"after":"b"'), { ...LIMIT, places: ["/limit", "/after"] }],
    [undefined, top('"limit":11'), UNSAID],
    [undefined, top('"total":10'), undefined],
    [undefined, top('"has_more":false,"limit":10'), undefined],
    [undefined, top('"has_more":false,"is_partial_brand":true'), undefined],
    [undefined, { pageSize: 4 }, undefined],
    ["all", {}, undefined],
    ["all", { pageSize: 4 }, undefined],
    ["all", top('"limit":10'), LIMIT],
    ["all", top('"limit":10,"total":10'), undefined],
    ["all", top('"account":{"limit":10}'), undefined],
    ["none", top('"limit":10'), undefined],
    ["links", top('"limit":10'), undefined],
    [PAGE, top('"limit":10'), undefined],
  ])("with nextPage %s and %j is doubted: %j", async (nextPage, list, doubt) => {
    await using connection = await connect({ events: EVENTS, list }, { nextPage });

    expect(await connection.service.list()).toMatchObject({ events: { length: 10 }, doubt });
  });

  it.each<readonly [nextPage: string | undefined, beside: object, doubt: object | undefined]>([
    [undefined, { limit: 0 }, { why: "unsaid", entries: 0, places: [] }],
    ["all", { limit: 0 }, undefined],
    [undefined, { limit: 10, next: null }, undefined],
  ])("without entries, with nextPage %s and %j, is doubted: %j", async (nextPage, beside, doubt) => {
    const { list } = await readServed(() => ({ body: { data: [], ...beside } }), { nextPage });

    expect(list).toMatchObject({ events: { length: 0 }, doubt });
  });

  it("of which nextPage says that it is all is refused by a strong sign", async () => {
    const list: ListOptions = top(hasMore, SILENT);
    await using connection = await connect({ events: EVENTS, list }, { nextPage: "all" });

    expect(await errorOf(connection.service.list())).toMatchObject({ code: "LIST_INCOMPLETE" });
  });

  it.each<[beside: object, candidates: readonly string[]]>([
    [{ cursor: "b" }, ["cursor={/cursor}", PAGE, "offset={received}"]],
    [{ meta: { after: "b", skip: 0 } }, ["after={/meta/after}", "skip={received}", PAGE]],
    [{ pageInfo: { endCursor: "b" } }, ["after={/pageInfo/endCursor}", PAGE, "offset={received}"]],
    [{ "a b": { cursor: "b" } }, [PAGE, "offset={received}"]],
    [{ start: 0 }, ["start={received}", PAGE, "offset={received}"]],
    [{ offset: 0, page: 1 }, ["offset={received}", PAGE]],
    [{ last: "2026-12-01", cursor: "" }, [PAGE, "offset={received}"]],
    [{}, [PAGE, "offset={received}"]],
  ])("has with %j the candidates %j", async (beside, candidates) => {
    const { list } = await readServed(() => ({ body: { data: entries(1, 10), ...beside } }));

    expect(list?.candidates).toEqual(candidates);
  });

  it.each<[beside: object, headers: Readonly<Record<string, string>>, candidate: string]>([
    [{ next_page_token: "b" }, {}, "page_token={/next_page_token}"],
    [{ nextToken: "b" }, {}, "nextToken={/nextToken}"],
    [{ next: "b" }, {}, "cursor={/next}"],
    [{ next_page: 2 }, {}, "page={/next_page}"],
    [{ next: true }, {}, PAGE],
    [{ paging: { next: { after: "b" } } }, {}, "after={/paging/next/after}"],
    [{}, { "x-next-cursor": "b" }, "cursor={header:X-Next-Cursor}"],
    [{ next: "https://inner.test/v1/events?limit=10&page=2" }, {}, PAGE],
    [{ next: "https://inner.test/v1/events?limit=10&offset=10" }, {}, "offset={received}"],
    [{ next: `https://inner.test/v1/events?from=${entries(10, 10)[0]?.uuid}` }, {}, "from={last}"],
    [{ next: "https://inner.test/v1/events?at=b", after: "a", cursor: "b" }, {}, "at={/cursor}"],
  ])("that ends with %j and %j probably needs %s", async (beside, headers, candidate) => {
    const { error } = await readServed(() => ({ body: { data: entries(1, 10), ...beside }, headers }));

    expect(error).toHaveProperty("fields.candidates.0", candidate);
  });
});

describe("the end of the pages", () => {
  /** Pages of 2 events, three in all, that lead to the next by a link; the `at`th is another. */
  const threePages = (other: (nth: number) => ServedPage | undefined, beside: object = {}, at = 2) => {
    let asked = 0;
    return ({ searchParams }: URL): ServedPage => {
      const page = Number(searchParams.get("page") ?? 1);
      if (page === at) asked += 1;
      const changed = page === at ? other(asked) : undefined;
      const next = page < 3 ? `?page=${page + 1}` : null;
      return changed ?? { body: { data: page > 3 ? [] : entries(2 * page - 1, 2 * page), next, ...beside } };
    };
  };
  const always = (body: object) => (): ServedPage => ({ body: { data: [], ...body } });

  it.each<[body: object, place: string]>([
    [{ message: "Internal server error" }, "/message"],
    [{ ok: false }, "/ok"],
    [{ success: "false" }, "/success"],
    [{ status: "fail" }, "/status"],
    [{ code: 500 }, "/code"],
    [{ meta: { statusCode: "503" } }, "/meta/statusCode"],
    [{ error: true }, "/error"],
    [{ lastFailure: "busy" }, "/lastFailure"],
    [{ errors: [{ text: "busy" }] }, "/errors"],
    [{ lastError: { code: 7 } }, "/lastError/code"],
    [{ detail: "The request timed out." }, "/detail"],
    [{ code: 400 }, "/code"],
    [{ error: "busy" }, "/error"],
  ])("is not %j: it is asked for again, and ends the run with its place", async (body, place) => {
    const { error, seen } = await readServed(threePages(always(body)));

    expect(error).toMatchObject({
      code: "LIST_INCOMPLETE",
      message: expect.stringContaining(`error at ${place}.`),
    });
    expect(seen).toHaveLength(7);
    const { list } = await readServed(threePages((nth) => (nth < 3 ? always(body)() : undefined)));
    expect(list).toMatchObject({ events: { length: 6 }, doubt: undefined });
  });

  it.each([
    { message: "No more events.", code: 0, success: true },
    { error: null, errors: [], failure: "", error_count: 0 },
    { error: false, error_message: "none", lastError: {} },
    { code: 20_000, status: 200, message: "OK", kind: "partial" },
    { code: 600, took: 500, error_code: 7 },
    { a: { b: { c: { d: { e: { f: { error: "busy" } } } } } } },
    Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [at < 1_000 ? `m${at}` : "error", "busy"])),
  ])("may have %j", async (body) => {
    expect((await readServed(always(body))).error).toBeUndefined();
    expect((await readServed(threePages(always(body), {}, 4), { nextPage: PAGE })).error).toBeUndefined();
  });

  it("is not an error that each page names", async () => {
    const { list } = await readServed(
      threePages(() => undefined, { note: "errors are in the log", code: 500 }),
      { nextPage: PAGE },
    );

    expect(list).toMatchObject({ events: { length: 6 }, doubt: { why: "failed", places: ["/code"] } });
  });

  it("is not a page without a list", async () => {
    const { error, seen } = await readServed(threePages(() => ({ body: { message: "busy" } })));

    expect(error).toMatchObject({
      code: "LIST_INCOMPLETE",
      message: expect.stringContaining("there is no list"),
    });
    expect(seen).toHaveLength(7);
  });

  const EMPTY = { why: "empty", places: [] };
  it.each<
    [what: string, body: object, nextPage: string | undefined, requests: number, doubt: object | undefined]
  >([
    ["a link, without a member", {}, undefined, 3, EMPTY],
    ["a link, without a member, although links are all", {}, "links", 3, EMPTY],
    ["a link, with all members", { version: 1 }, undefined, 2, EMPTY],
    ["a link, with all members, and links are all", { version: 1 }, "links", 2, undefined],
    ["a link, with all members and one more", { version: 1, notice: "busy" }, "links", 3, EMPTY],
    ["a link, with another state", { version: 1, state: "b", message: "b" }, "links", 3, EMPTY],
    ["a link, without what asks for a page", { version: 1, next: null }, "links", 2, undefined],
    ["a link, and which names no other", { version: 1, next: null }, undefined, 2, EMPTY],
    [
      "a link, and which names no other, and one page is all",
      { version: 1, next: null },
      "all",
      2,
      undefined,
    ],
    ["a link, and which says that it is the last", { version: 1, has_more: false }, undefined, 2, undefined],
    ["a number, without a member", {}, PAGE, 3, undefined],
    ["a number, with one more", { version: 1, notice: "busy" }, PAGE, 4, EMPTY],
  ])("to which %s leads takes %j", async (_, body, nextPage, requests, doubt) => {
    const { list, seen } = await readServed(threePages(always(body), { version: 1 }), { nextPage });

    expect(list?.events).toHaveLength(2);
    expect(list?.doubt).toEqual(doubt && { ...doubt, entries: 2 });
    expect(seen).toHaveLength(requests);
  });

  it("that is odd ends the run where a total is not reached, and is no doubt where it is", async () => {
    const short = await readServed(threePages(always({}), { version: 1, total: 6 }));
    expect(short.error).toMatchObject({
      code: "LIST_INCOMPLETE",
      message: expect.stringContaining("a total of 6"),
    });

    const whole = await readServed(threePages(always({ notice: "busy" }), { version: 1, total: 2 }), {
      nextPage: PAGE,
    });
    expect(whole.list?.doubt).toBeUndefined();
    expect(whole.seen).toHaveLength(3);
  });

  it("is not an empty page that says more: the next number is asked for", async () => {
    const { list } = await readServed(threePages(always({ has_more: true }), { has_more: true }), {
      nextPage: PAGE,
    });
    expect(list?.events).toHaveLength(4);

    const filtered = await readServed(threePages(always({}), { total: 4, next: undefined }), {
      nextPage: PAGE,
    });
    expect(filtered.list).toMatchObject({ events: { length: 4 }, doubt: undefined });
  });

  it.each([
    ["number", PAGE, {}],
    ["link", undefined, {}],
    ["cursor", "page={/next_number}", {}],
    ["link, with the same entries", undefined, { data: entries(1, 1) }],
  ])("comes after twenty pages without a new event, by %s, with a doubt", async (_, nextPage, body) => {
    const { list, seen } = await readServed(
      ({ searchParams }) => {
        const page = Number(searchParams.get("page") ?? 1);
        const next =
          nextPage === undefined ? { next: `?page=${page + 1}` } : { next_number: page + 1, has_more: true };
        return { body: { data: page === 1 ? entries(1, 1) : [], ...(page === 1 ? {} : body), ...next } };
      },
      { nextPage },
    );

    expect(list?.events).toHaveLength(1);
    expect(list?.doubt).toMatchObject({ why: "empty" });
    expect(seen.length).toBeLessThanOrEqual(22);
  });

  it.each<[what: string, page: ServedPage]>([
    ["a repeated last page", { body: { data: entries(5, 6), total: 6 } }],
    ["the first page", { body: { data: entries(1, 2), total: 6 } }],
    ["404", { status: 404 }],
    ["422", { status: 422 }],
    ["204", { status: 204 }],
    ["an error", { body: { data: [], error: "unknown page" } }],
    ["no list", { body: { message: "no such page" } }],
    ["null", { body: { data: null } }],
  ])("is %s behind a total that is reached, by number and by link", async (_, page) => {
    const served = threePages(() => page, { total: 6 }, 4);
    expect((await readServed(served, { nextPage: PAGE })).list).toMatchObject({
      events: { length: 6 },
      doubt: undefined,
      overlapping: 0,
    });

    const linked = await readServed((url) => {
      const { body, ...rest } = served(url);
      const at = Number(url.searchParams.get("page") ?? 1);
      return {
        ...rest,
        ...(body
          ? { body: { next: `?page=${at + 1}`, ...body, ...(at < 4 ? { next: `?page=${at + 1}` } : {}) } }
          : {}),
      };
    });
    expect(linked.list).toMatchObject({ events: { length: 6 }, doubt: undefined, overlapping: 0 });
  });

  it.each<ServedPage>([{ status: 204 }, { body: { data: null } }])("may be %j", async (page) => {
    const { list, error } = await readServed(
      threePages(() => page, {}, 4),
      { nextPage: PAGE },
    );

    expect(error).toBeUndefined();
    expect(list).toMatchObject({ events: { length: 6 }, doubt: undefined });
  });

  it("is a page of the last event alone where each page begins with the one that was asked for", async () => {
    const all = entries(1, 7);
    const { list, seen } = await readServed(
      ({ searchParams }) => {
        const from = Math.max(
          0,
          all.findIndex(({ uuid }) => uuid === searchParams.get("from")),
        );
        return { body: { data: all.slice(from, from + 3) } };
      },
      { nextPage: "from={last}" },
    );

    expect(list).toMatchObject({ events: { length: 7 }, overlapping: 2 });
    expect(seen).toHaveLength(4);
  });

  it("is not told by a total of the page, which the page of number 1 repeats", async () => {
    const { list } = await readServed(
      threePages(() => ({ body: { data: [] } }), { total: 2 }, 4),
      { nextPage: PAGE },
    );

    expect(list?.events).toHaveLength(6);
  });

  it("is not told by the number of entries on a page", async () => {
    const { error } = await readServed(
      threePages(() => ({ status: 404 }), { count: 2 }),
      { nextPage: PAGE },
    );

    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining("status 404"),
    });
  });
});

describe("the pages that a service sends one after the other", () => {
  const OFFSET = "offset={received}";
  const LAST = "from={last}";
  const CURSOR = "cursor={/next_cursor}";
  /** Behind them come pages without entries. */
  const inTurn = (bodies: readonly object[], nextPage: string | undefined) =>
    readServed((_, nth) => ({ body: bodies[nth - 1] ?? { data: [] } }), { nextPage });
  const [one, other, none] = [{ data: entries(1, 2) }, { data: entries(3, 4) }, { data: [] }];
  const EMPTY = { why: "empty" };

  it.each<
    readonly [
      what: string,
      nextPage: string | undefined,
      bodies: readonly object[],
      list: object,
      requests: number,
    ]
  >([
    ["a first one without entries, whatever it has", undefined, [{ ...none, version: 1 }], {}, 1],
    ["no uuid on the first one", LAST, [{ data: [{}] }], { rejected: 1 }, 1],
    [
      "no uuid on the second one",
      PAGE,
      [one, { data: [{}] }, { data: [7] }],
      { rejected: 2, rejectedShape: "{}" },
      4,
    ],
    [
      "a reached total, and an empty one that says more",
      PAGE,
      [{ ...one, total: 2 }, { ...none, has_more: true }, other],
      { events: { length: 4 } },
      4,
    ],
    ["the last event alone", LAST, [one, { data: entries(2, 2) }], { overlapping: 0 }, 2],
    ["another event alone", LAST, [one, { data: entries(1, 1) }], { overlapping: 1 }, 3],
    ["the last event, and another", LAST, [one, { data: one.data.toReversed() }], { overlapping: 2 }, 3],
    [
      "a reached total, and a last one that names itself",
      undefined,
      [
        { ...one, next: "?page=2", total: 4 },
        { ...other, next: "?page=2" },
      ],
      { events: { length: 4 }, doubt: undefined },
      2,
    ],
    [
      "an empty one whose list is elsewhere",
      undefined,
      [{ data: { events: one.data }, next: "?page=2" }],
      { doubt: EMPTY },
      2,
    ],
    [
      "an empty one with another state",
      undefined,
      [
        { ...one, message: "done", note: "a", next: "?page=2" },
        { ...none, message: "busy", note: "a" },
      ],
      { doubt: EMPTY },
      3,
    ],
    [
      "an empty one with another note",
      undefined,
      [
        { ...one, message: "done", note: "a", next: "?page=2" },
        { ...none, message: "done", note: "b" },
      ],
      { doubt: EMPTY },
      2,
    ],
    ["as many as it says", undefined, [{ ...one, totalPages: 1 }], { doubt: undefined }, 1],
    [
      "a cursor to one that lacks a member",
      CURSOR,
      [{ ...one, next_cursor: "b", version: 1 }],
      { doubt: EMPTY },
      3,
    ],
    [
      "a link to an empty one that has a link",
      undefined,
      [{ ...one, next: "?page=2" }, { ...none, next: "?page=3" }, other],
      { events: { length: 4 } },
      3,
    ],
    [
      "none that names a next one",
      PAGE,
      [one, one, other].map((each) => ({ ...each, next: null })),
      { events: { length: 4 } },
      4,
    ],
    [
      "one that says both that it is the last and that more follow",
      PAGE,
      [{ ...one, has_more: true, last: true }, other],
      { events: { length: 4 } },
      3,
    ],
    ["an empty one that says more", OFFSET, [one, { ...none, has_more: true }], { doubt: EMPTY }, 2],
    [
      "an empty one that repeats its cursor",
      CURSOR,
      [one, none].map((each) => ({ ...each, next_cursor: "b" })),
      { doubt: undefined },
      2,
    ],
    [
      "an empty one before their number is reached",
      PAGE,
      [{ ...one, totalPages: 3 }, none, other],
      { events: { length: 4 } },
      4,
    ],
    ["an empty one with which it is", PAGE, [{ ...one, totalPages: 2 }], { events: { length: 2 } }, 2],
  ])("are read: %s, with nextPage %s", async (_, nextPage, bodies, expected, requests) => {
    const { list, error, seen } = await inTurn(bodies, nextPage);

    expect(error).toBeUndefined();
    expect(list).toMatchObject(expected);
    expect(seen).toHaveLength(requests);
  });

  it.each<[beside: object, place: string | undefined]>([
    [{ success: false }, "/success"],
    [{ success: true, status: "ok", error: null, errors: [] }, undefined],
    [{ "is-error": { code: 7 }, error: true, status: 500 }, undefined],
    [{ status: "Failed" }, "/status"],
    [{ error: { code: 7 } }, "/error"],
    [{ errors: ["busy"] }, "/errors"],
    [{ Error: "busy" }, "/Error"],
  ])("with entries and %j are no pages, because of %s", async (beside, place) => {
    const { list, error } = await readServed(() => ({ body: { ...one, ...beside } }), { nextPage: "none" });

    expect(list?.events.length).toBe(place === undefined ? 2 : undefined);
    expect(error?.message).toEqual(place && expect.stringContaining(`with an error at ${place}.`));
  });

  it.each<[beside: object, place: string | undefined]>([
    [{ took: 3, timed_out: true }, "/timed_out"],
    [{ _shards: { successful: 3, failed: 2 } }, "/_shards/failed"],
    [{ meta: { errorCount: 1 } }, "/meta/errorCount"],
    [{ error: true }, "/error"],
    [{ success: { ok: false } }, "/success/ok"],
    [{ message: "1 region is unavailable" }, "/message"],
    [{ status: 503 }, "/status"],
    [{ meta: { status: "PARTIAL_SUCCESS" } }, "/meta/status"],
    [{ status: "incomplete" }, "/status"],
    [{ timed_out: false, _shards: { failed: 0 }, errorCount: 0, error_code: 3, timeout: 30 }, undefined],
    [{ meta: { error: { code: "0", text: "none", details: {}, causes: [] } } }, undefined],
    [
      { errors_url: "/errors", errorPage: "https://s.example/e", timeout: "30s", timeouts: "1.5 minutes" },
      undefined,
    ],
    [{ meta: { error: { code: "0", text: "No region is there" } } }, "/meta/error/text"],
    [{ status: 200, message: "no error", note: "errors are logged", errors: [] }, undefined],
    [{ status: "complete", message: "See more in the docs", scope: "partial" }, undefined],
  ])("with entries and %j are doubted for %s, whatever else they say", async (beside, place) => {
    const body = { ...one, ...beside, total: 2, totalPages: 2, next: null };
    const { list } = await inTurn(
      [
        { ...body, next: "?page=2" },
        { ...other, totalPages: 2 },
      ],
      undefined,
    );

    expect(list?.events.length).toBe(4);
    expect(list?.doubt).toEqual(place && { why: "failed", entries: 4, places: [place] });
  });

  it("end where a cursor leads back, unless as much came as they state", async () => {
    const bodies = [one, other].map((each) => ({ ...each, next_cursor: "b" }));

    expect((await inTurn(bodies, CURSOR)).error?.message).toContain("circle");
    const { list } = await inTurn(
      bodies.map((each) => ({ ...each, total: 4 })),
      CURSOR,
    );
    expect(list?.events).toHaveLength(4);
  });

  it.each<readonly [what: string, second: object, requests: number, error: object]>([
    [
      "an error beside its entries",
      { ...other, error: { code: 7 } },
      7,
      { code: "SERVICE_UNAVAILABLE", message: expect.stringContaining("an error at /error.") },
    ],
    [
      "two uuids for an entry",
      { data: { [numbered(3).uuid]: numbered(4) } },
      2,
      { code: "UNEXPECTED_RESPONSE", message: expect.stringContaining("own uuid differs") },
    ],
  ])("are not at their end with %s, although a total is reached", async (_, second, requests, expected) => {
    const { error, seen } = await readServed((_url, nth) => ({
      body: nth === 1 ? { ...one, next: "?page=2", total: 2 } : second,
    }));

    expect(error).toMatchObject(expected);
    expect(seen).toHaveLength(requests);
  });

  it("are twenty at most without an event, the first one included", async () => {
    const { seen } = await readServed((_, nth) => ({ body: { data: [], next: `?page=${nth + 1}` } }));

    expect(seen).toHaveLength(20);
  });

  it.each([
    { total: 2, isReached: false },
    { total: 3, isReached: true },
    { total: 4, isReached: true },
    { total: 5, isReached: false },
  ])(
    "with four entries of three events reach a total of $total: $isReached",
    async ({ total, isReached }) => {
      const bodies = [{ ...one, next: "?page=2", total }, { data: entries(2, 3) }];

      expect((await inTurn(bodies, "links")).list?.isTotalReached).toBe(isReached);
      const { list } = await readServed(
        (_, nth) => (nth === 3 ? { status: 404 } : { body: bodies[nth - 1] }),
        { nextPage: PAGE },
      );
      expect(list?.isTotalReached).toBe(isReached || undefined);
    },
  );
});

describe("the list with --next-page", () => {
  const found = async (list: ListOptions, nextPage: string) => {
    await using connection = await connect({ events: EVENTS, list: { next: "none", ...list } }, { nextPage });
    const listed = await connection.service.list().catch((error: unknown) => ({ error }));
    const { list: requests } = connection.simulator.counts;
    return "error" in listed ? listed : { ...listed, uuids: uuids(listed), requests };
  };

  it.each<readonly [what: string, nextPage: string, list: ListOptions, requests: number]>([
    ["links ignores totals", "links", top('"total":11', { ...FOUR, next: "link" }), 3],
    [
      "links ignores other signs",
      "links",
      { members: { top: '"has_more":true,"totalPages":9,"total":99' }, status: 206 },
      1,
    ],
    ["none takes one page", "none", top('"has_more":true,"total":11'), 1],
    ["page, counted from 1", PAGE, { pageSize: 4 }, 5],
    ["page, counted from 0", PAGE, { pageSize: 4, asked: "page0" }, 4],
    ["page, all on one", PAGE, {}, 3],
    ["page, the last one says so", PAGE, top(hasMore, FOUR), 4],
    ["page, that no longer names a next one", PAGE, top(nextCursor, FOUR), 4],
    ["page, beside a fixed parameter", "size=4&page={page}", { pageSize: 4 }, 5],
    ["page, 404 behind the last with a total", PAGE, top('"total":10', { ...FOUR, behindLast: 404 }), 5],
    [
      "page, 400 behind the last with its number",
      PAGE,
      top('"totalPages":3', { ...FOUR, behindLast: 400 }),
      5,
    ],
    ["page, 416 behind the last with a total", PAGE, top('"total":10', { ...FOUR, behindLast: 416 }), 5],
    ["page, the only one says so", PAGE, top('"has_more":false'), 1],
    [
      "page, the last one says nothing",
      PAGE,
      { pageSize: 4, members: { top: ({ isLast }) => (isLast ? '"x":1' : '"has_more":true') } },
      5,
    ],
    ["received", "offset={received}", { pageSize: 4, asked: "offset" }, 4],
    ["received, a page that ends with it", "offset={received}", { pageSize: 5, asked: "offset" }, 3],
    ["last", "after={last}", { pageSize: 4, asked: "after" }, 4],
    ["a pointer", "cursor={/next_cursor}", top(nextCursor, { ...FOUR, asked: "cursor" }), 3],
    [
      "a header",
      "cursor={header:X-Cursor}",
      { pageSize: 4, asked: "cursor", headers: (page) => ({ "x-cursor": cursorOf(page) ?? "" }) },
      3,
    ],
  ])("%s: %s", async (_, nextPage, list, requests) => {
    expect(await found(list, nextPage)).toMatchObject({ uuids: SORTED, requests, overlapping: 0 });
  });

  it.each<readonly [what: string, nextPage: string, list: ListOptions, code: string, problem: string]>([
    [
      "a parameter that is not known",
      "seite={page}",
      { pageSize: 4 },
      "UNEXPECTED_RESPONSE",
      "does not know the parameter seite. Nothing was published.",
    ],
    [
      "an offset that is not known",
      "from={received}",
      { pageSize: 4, asked: "offset" },
      "UNEXPECTED_RESPONSE",
      "does not know the parameter from",
    ],
    [
      "a total above all pages",
      PAGE,
      top('"total":11,"per_page":4', FOUR),
      "LIST_INCOMPLETE",
      "a total of 11 at /total, and 10 entries were received. A partial snapshot is never published.",
    ],
    [
      "404 behind a page without a total",
      PAGE,
      { pageSize: 4, behindLast: 404 },
      "UNEXPECTED_RESPONSE",
      "status 404, and no page says that the entries before it are all: 10.",
    ],
    [
      "404 before the total",
      PAGE,
      top('"total":11', { ...FOUR, behindLast: 404 }),
      "UNEXPECTED_RESPONSE",
      "status 404",
    ],
    [
      "a pointer that is empty, and another sign",
      "cursor={/cursor}",
      top(hasMore, FOUR),
      "LIST_INCOMPLETE",
      "has nothing at /cursor, where the setting for the next page looks, but says at /has_more",
    ],
    [
      "a pointer that is empty, and a link",
      "cursor={/cursor}",
      { pageSize: 4, next: "body" },
      "LIST_INCOMPLETE",
      "says at a link",
    ],
  ])("%s ends the run: %s", async (_, nextPage, list, code, problem) => {
    expect(await found(list, nextPage)).toMatchObject({
      error: { code, message: expect.stringContaining(problem) },
    });
  });

  it.each<readonly [nextPage: string, list: ListOptions, warning: string | undefined]>([
    ["none", { pageSize: 4, next: "link" }, "names a next page, which the setting says not to ask for"],
    ["none", { pageSize: 4, nextUrl: () => "https://evil.test/", next: "link" }, "names a next page, which"],
    ["none", { pageSize: 4, next: "none" }, undefined],
    [
      "cursor={/cursor}",
      {},
      "No page of the list has a value where the setting for the next page looks for one, so only the first page was read: /cursor",
    ],
    ["cursor={header:X-Cursor}", {}, "looks for one, so only the first page was read: header X-Cursor"],
    ["cursor={/next_cursor}", top(nextCursor, { ...FOUR, asked: "cursor" }), undefined],
  ])("%s with %j warns: %s", async (nextPage, list, warning) => {
    const warnings = warning === undefined ? [] : [expect.stringContaining(warning)];

    expect(await found(list, nextPage)).toMatchObject({ warnings });
  });

  it.each(["null", "false", '""', "[]", "{ }", '"null"', '"False"', "0", '"0"', "-1"])(
    "the list ends where its last page has %s in place of what asks for the next one",
    async (none) => {
      const top = (page: SentPage): string =>
        `"token":${page.isLast ? none : JSON.stringify(cursorOf(page))}`;
      const headers = (page: SentPage) => ({ "x-token": cursorOf(page) ?? none.replaceAll(/[" ]/g, "") });
      const list = { pageSize: 4, asked: "cursor", members: { top } } as const;

      const whole = { uuids: SORTED, requests: 3 };
      expect(await found(list, "cursor={/token}")).toMatchObject(whole);
      expect(await found({ ...list, headers }, "cursor={header:X-Token}")).toMatchObject(whole);
    },
  );

  it.each<readonly [what: string, asked: string, tokens: readonly string[]]>([
    ["a number below -1, which may be a cursor", "-2", ['"a"', "-2"]],
    ["a word", "END", ['"a"', '"END"']],
    // Else a part would be taken for the whole where a pointer leads to what was asked for.
    ["0 on the first page", "0", ["0"]],
  ])("the service is asked for %s: %s", async (_, asked, tokens) => {
    await using server = await paged(
      (nth) => `{"data":[{"uuid":"${SORTED[nth]}"}],"token":${tokens[nth - 2] ?? null}}`,
    );
    await using connection = await connect({}, { baseUrl: server.url, nextPage: "cursor={/token}" });

    await connection.service.list();

    expect(server.seen.at(-1)).toBe(`/v1/events?is_listed=true&cursor=${asked}`);
  });

  it("sends what it is told, percent-encoded, from the first request on", async () => {
    await using server = await paged((nth) => {
      const cursor = nth < 4 ? `a b+/${nth}&=é` : "";
      return { data: [numbered(nth)], n: { "x/y": cursor } };
    });
    await using connection = await connect(
      {},
      { baseUrl: server.url, nextPage: "fields=a b&cursor={/n/x~1y}&x=1%262" },
    );

    await connection.service.list();

    const fixed = "/v1/events?is_listed=true&fields=a%20b&x=1%262";
    expect(server.seen.slice(1)).toEqual([
      fixed,
      `${fixed}&cursor=a%20b%2B%2F2%26%3D%C3%A9`,
      `${fixed}&cursor=a%20b%2B%2F3%26%3D%C3%A9`,
    ]);
  });

  it("ends with an empty page that names the page before it again", async () => {
    await using server = await paged((nth) => ({
      data: nth < 4 ? [numbered(nth)] : [],
      next: nth < 3 ? "b" : "c",
    }));
    await using connection = await connect({}, { baseUrl: server.url, nextPage: "cursor={/next}" });

    const { events } = await connection.service.list();

    expect(events).toHaveLength(2);
    expect(server.seen.slice(1)).toHaveLength(3);
  });

  /** A service whose pages have the events of these numbers, and name the next page and a total of 10. */
  const ofPages = (
    pages: readonly (readonly number[])[],
    beside: (request: number) => object = () => ({}),
  ) => {
    let lists = 0;
    return paged((_, { pathname, searchParams }) => {
      if (pathname !== "/v1/events") return {};
      lists += 1;
      const page = Number(searchParams.get("page") ?? "1");
      const data = (pages[page - 1] ?? []).map((index) => ({ uuid: SORTED[index] }));
      const next = page < pages.length ? `?page=${page + 1}` : null;
      return { data, next, total: 10, ...beside(lists) };
    });
  };

  it("is incomplete where it states as many entries as came, and some came on two pages", async () => {
    await using server = await ofPages([
      [0, 1, 2, 3, 4],
      [3, 4, 5, 6, 7],
    ]);
    await using connection = await connect({}, { baseUrl: server.url });

    expect(await connection.service.list()).toMatchObject({
      overlapping: 2,
      incomplete: {
        message: expect.stringContaining("a total of 10 at /total, and 8 entries were received"),
      },
    });
  });

  it("asks again for a page with an error beside its list", async () => {
    const halves = [
      [0, 1, 2, 3, 4],
      [5, 6, 7, 8, 9],
    ];
    await using server = await ofPages(halves, (request) =>
      request === 2 ? { data: [], error: { code: "timeout" } } : {},
    );
    await using connection = await connect({}, { baseUrl: server.url });

    expect(uuids(await connection.service.list())).toEqual(SORTED);
    expect(connection.service.counts).toMatchObject({ retries: 1 });
  });

  it("sends a number of the page as it is written there", async () => {
    await using server = await paged(
      (nth) => `{"data":[{"uuid":"${SORTED[nth]}"}],"next":${nth === 2 ? "9007199254740993" : "null"}}`,
    );
    await using connection = await connect({}, { baseUrl: server.url, nextPage: "cursor={/next}" });

    await connection.service.list();

    expect(server.seen.at(-1)).toBe("/v1/events?is_listed=true&cursor=9007199254740993");
  });
});
