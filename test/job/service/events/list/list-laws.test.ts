// Two laws for lists of any service: no list is taken for the whole without a word while it lacks an event,
// and no list that is whole is refused. Envelopes, headers, ends and errors are drawn from words of many services.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entries, readServed, type ServedPage } from "./served-list.ts";

const { integer, constantFrom, array, oneof, constant, record, tuple, boolean } = fc;

type Members = Readonly<Record<string, unknown>>;

/** Of lists: some of these words are known, some are not. */
const OF_LISTS =
  `next more total count pages page remaining cursor continuation following further subsequent rest outstanding
  left grand sum overall matches size results items records events entries rows hits found available full has is last end done
  final truncated incomplete partial token key marker url link offset start after bookmark continue limit per max suivant
  weitere siguiente gesamt seiten folgende tally window batch chunk slice scroll search position`.split(
    /\s+/,
  );
/** Of everything else. */
const OF_OTHERS =
  `revenue shards unread quota update poll details invoice budget visits campaign brand rate account user
  created modified sync cache region version request duration score impressions unit price job export threshold`.split(
    /\s+/,
  );
const BOXES = "meta info paging pagination links _meta metadata page response result".split(" ");

const STYLES: readonly ((words: readonly string[]) => string)[] = [
  (words) => words.join("_"),
  (words) => words.join("-"),
  (words) => words.join(""),
  (words) => words.join(".").toUpperCase(),
  (words) => words.map(capital).join(""),
  (words) => [words[0] ?? "", ...words.slice(1).map(capital)].join(""),
  (words) => `_${words.join("_")}`,
  (words) => `$${words.join("_")}`,
  (words) => `ns:${words.map(capital).join("")}`,
  (words) => `@odata.${words.join("")}`,
];
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const style = constantFrom(...STYLES);
const nameOf = (words: fc.Arbitrary<readonly string[]>): fc.Arbitrary<string> =>
  tuple(words, style).map(([of, styled]) => styled(of));
const ofLists = array(constantFrom(...OF_LISTS), { minLength: 1, maxLength: 3 });
const listName = nameOf(ofLists);
/** With one word at least that no list has. */
const otherName = nameOf(
  tuple(ofLists, constantFrom(...OF_OTHERS), boolean()).map(([words, other, isFirst]) =>
    isFirst ? [other, ...words] : [...words, other],
  ),
);

const value: fc.Arbitrary<unknown> = oneof(
  integer({ min: 0, max: 99 }),
  integer({ min: 11, max: 99 }).map(String),
  boolean(),
  constantFrom(
    null,
    "",
    "b",
    "aB58==",
    "eyJwIjoyfQ",
    "2026-12-01",
    "2026-12-01T10:00:00Z",
    1_795_800_000,
    "soon",
    "true",
  ),
  constantFrom("https://docs.test/?page=2", "/v1/campaigns?page=2", {}, [], ["a"], [{ id: 1 }]),
);

/** About something else, wherever it stands: one word of its place is of no list. */
const other: fc.Arbitrary<Members> = oneof(
  tuple(otherName, value).map(([name, of]) => ({ [name]: of })),
  tuple(otherName, listName, value).map(([around, name, of]) => ({ [around]: { [name]: of } })),
  tuple(constantFrom(...BOXES), otherName, value).map(([box, name, of]) => ({ [box]: { [name]: of } })),
  tuple(otherName, constantFrom(...BOXES), listName, value).map(([around, box, name, of]) => ({
    [around]: { [box]: { [name]: of } },
  })),
  // Echoes, limits and dates of one word.
  tuple(
    constantFrom("remaining", "size", "cursor", "after", "marker", "bookmark", "limit", "page"),
    integer({ min: 1, max: 99 }),
  ).map(([name, of]) => ({ [name]: of })),
  tuple(
    constantFrom("cursor", "after", "marker", "bookmark", "continue", "last"),
    constantFrom("b", "2026-12-01"),
  ).map(([name, of]) => ({ [name]: of })),
);
const others = array(other, { maxLength: 4 }).map(merged);

function merged(all: readonly Members[]): Members {
  return Object.assign({}, ...all);
}

const headerName = nameOf(ofLists).map((name) => `x-${name.replaceAll(/[^\w-]/g, "")}`);
const otherHeader = otherName.map((name) => `x-${name.replaceAll(/[^\w-]/g, "")}`);
const headerValue = oneof(
  integer({ min: 0, max: 99 }).map(String),
  constantFrom("true", "b", "2026-12-01", '{"total":58}'),
);
const otherHeaders = oneof(
  constant({}),
  constantFrom<Readonly<Record<string, string>>>(
    { "x-ratelimit-remaining": "58", "last-modified": "Wed, 25 Nov 2026 07:28:00 GMT" },
    { "x-rate-limit-limit": "58", age: "58", "x-cache-hits": "58" },
    { "retry-after": "58", "x-next-poll": "58", "x-quota-total": "58" },
  ),
  tuple(otherHeader, headerValue).map(([name, of]) => ({ [name]: of })),
);

/** What says in some words that there is more, or how many there are. */
const sign: fc.Arbitrary<{ readonly members: Members; readonly headers: Readonly<Record<string, string>> }> =
  oneof(
    tuple(listName, constantFrom<unknown>(18, "18", true, "b", 2, { value: 18 }, "aB58==", 8)).chain(
      ([name, of]) =>
        constantFrom(
          { members: { [name]: of }, headers: {} },
          { members: { meta: { [name]: of } }, headers: {} },
          { members: { page: { info: { [name]: of } } }, headers: {} },
          { members: { anything: { [name]: of } }, headers: {} },
        ),
    ),
    tuple(headerName, constantFrom("18", "true", "b", '{"total":18}', '{"next":"b"}')).map(([name, of]) => ({
      members: {},
      headers: { [name]: of },
    })),
    constant({ members: {}, headers: {} }),
  );

/** A page that says it is the last, which is a lie. */
const saysLast = (drawn: object): boolean => /(?:last|end)[^:]*:\W*true/i.test(JSON.stringify(drawn));

const shape = constantFrom<(data: readonly object[], members: Members) => unknown>(
  (data, members) => ({ data, ...members }),
  (data, members) => ({ ...members, data }),
  (data, members) => ({ data: { events: data, ...members } }),
);

const RUNS = { numRuns: Number(process.env["RUNS"] ?? 400) };

describe("a list", () => {
  it("that is whole is never refused, whatever stands beside it", async () => {
    await fc.assert(
      fc.asyncProperty(
        record({
          shape,
          others,
          headers: otherHeaders,
          events: integer({ min: 0, max: 12 }),
          nextPage: constantFrom(undefined, "all", "links", "none"),
        }),
        async (drawn) => {
          const body = drawn.shape(entries(1, drawn.events), drawn.others);

          const { list, error } = await readServed(() => ({ body, headers: drawn.headers }), drawn);

          expect(error).toBeUndefined();
          expect(list?.events.length).toBe(drawn.events);
        },
      ),
      RUNS,
    );
  });

  it("that was cut off is never taken for the whole without a word", async () => {
    await fc.assert(
      fc.asyncProperty(
        record({
          shape,
          others,
          sign: sign.filter((drawn) => !saysLast(drawn)),
          headers: otherHeaders,
        }),
        async (drawn) => {
          const body = drawn.shape(entries(1, 10), { ...drawn.others, ...drawn.sign.members });
          const headers = { ...drawn.headers, ...drawn.sign.headers };

          const { list } = await readServed(() => ({ body, headers }));

          if (list !== undefined) expect(list.doubt).toBeDefined();
        },
      ),
      RUNS,
    );
  });
});

/** How a service leads from one page to the next. */
const LEADS = {
  link: { nextPage: undefined, beside: (n: number) => ({ next: `/v1/events?page=${n}` }) },
  "a link in a box": {
    nextPage: undefined,
    beside: (n: number) => ({ paging: { links: { next: { href: `?page=${n}` } } } }),
  },
  "a link in an unknown object": {
    nextPage: undefined,
    beside: (n: number) => ({ "hydra:view": { "hydra:next": `/v1/events?page=${n}` } }),
  },
  cursor: {
    nextPage: "page={/meta/next_cursor}",
    beside: (n: number) => ({ meta: { next_cursor: String(n) } }),
  },
  number: { nextPage: "page={page}", beside: () => ({}) },
} as const;
const lead = constantFrom(...Object.values(LEADS));

/** Pages of 3 events; what follows them is `end`. */
const pagesOf = (
  count: number,
  { beside }: (typeof LEADS)[keyof typeof LEADS],
  envelope: Members,
  end: ServedPage,
): ((url: URL) => ServedPage) => {
  return ({ searchParams }) => {
    const page = Number(searchParams.get("page") ?? 1);
    if (page > count) return end;
    const next = page < count ? beside(page + 1) : {};
    return { body: { data: entries(3 * page - 2, 3 * page), ...envelope, ...next } };
  };
};

const message = constantFrom(
  ...[
    "Internal server error",
    "upstream request timeout",
    "Bitte später erneut versuchen",
    "busy",
    "Service overloaded",
    "denied",
  ],
);
/** In place of a page. */
const errorBody: fc.Arbitrary<Members> = oneof(
  tuple(constantFrom("message", "detail", "reason", "fehler", "msg", "fault", "description"), message).map(
    ([name, text]) => ({ [name]: text }),
  ),
  tuple(
    constantFrom("error", "errors", "lastError", "Exception", "failure"),
    oneof(
      message,
      constant(true),
      message.map((text) => ({ text })),
      message.map((text) => [{ text }]),
    ),
  ).map(([name, of]) => ({ [name]: of })),
  constantFrom(
    { success: false },
    { ok: false },
    { status: "fail" },
    { code: 500 },
    { statusCode: "503" },
    { status: 502 },
    { state: "FAILED" },
  ),
  message.map((text) => ({ meta: { problem: text } })),
);

describe("the pages of a list", () => {
  it("are all read, however they end, and never refused where they are whole", async () => {
    const end = oneof(
      constant<ServedPage>({ body: { data: [] } }),
      constant<ServedPage>({ body: { data: null } }),
      constant<ServedPage>({ status: 204 }),
      message.map(
        (text): ServedPage => ({ body: { data: [], note: text.startsWith("B") ? text : "No more." } }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(record({ count: integer({ min: 1, max: 4 }), lead, others, end }), async (drawn) => {
        const { lead: of, count } = drawn;

        const { list, error } = await readServed(pagesOf(count, of, drawn.others, drawn.end), of);

        expect(error).toBeUndefined();
        expect(list?.events.length).toBe(3 * count);
      }),
      RUNS,
    );
  });

  it("are all read where what came is what they state, however the next one is refused", async () => {
    const end = oneof(
      constantFrom<ServedPage>(
        { status: 404 },
        { status: 204 },
        { status: 400 },
        { body: { error: "no such page" } },
      ),
      errorBody.map((body): ServedPage => ({ body: { data: [], ...body } })),
      constant<ServedPage>({ body: "again" }),
    );
    await fc.assert(
      fc.asyncProperty(record({ count: integer({ min: 1, max: 4 }), end }), async ({ count, end: drawn }) => {
        const again = { body: { data: entries(3 * count - 2, 3 * count), total: 3 * count } };
        const behind = drawn.body === "again" ? again : drawn;
        const served = pagesOf(count, LEADS.number, { total: 3 * count }, behind);

        const { list, error } = await readServed(served, LEADS.number);

        expect(error).toBeUndefined();
        expect(list).toMatchObject({ events: { length: 3 * count }, doubt: undefined, overlapping: 0 });
      }),
      RUNS,
    );
  });

  it("are not at their end where an error stands in place of one, whether it passes or not", async () => {
    await fc.assert(
      fc.asyncProperty(
        record({ count: integer({ min: 2, max: 4 }), lead, others, errorBody, passes: boolean() }).chain(
          (drawn) => integer({ min: 2, max: drawn.count }).map((at) => ({ ...drawn, at })),
        ),
        async ({ count, lead: of, others: envelope, errorBody: body, passes, at }) => {
          const served = pagesOf(count, of, envelope, { body: { data: [], ...envelope } });
          let failures = 0;
          const { list, error } = await readServed((url) => {
            const isFailure = url.searchParams.get("page") === String(at) && !(passes && failures > 0);
            if (isFailure) failures += 1;
            return isFailure ? { body: { data: [], ...body } } : served(url);
          }, of);

          if (passes) expect(list?.events.length).toBe(3 * count);
          else if (error === undefined) expect(list?.doubt).toBeDefined();
          else expect(error.code).toBe("LIST_INCOMPLETE");
        },
      ),
      RUNS,
    );
  });
});
