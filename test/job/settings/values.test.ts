// What values may be, their canonical form, and what is said of others.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { endpoint } from "../../../lambdas/job/service/requests/api-client.ts";
import { PLAIN_ENGLISH, parseSetting, problemsOf } from "../../../lambdas/job/settings/setting-problem.ts";
import {
  allowance,
  baseUrl,
  nextPage,
  parseNextPage,
  timeZone,
} from "../../../lambdas/job/settings/values.ts";
import { filePlace } from "../../../lambdas/job/settings-file/places.ts";
import { anyText } from "../json/any-text.ts";

describe("a time zone", () => {
  test.each([
    "UTC",
    "GMT",
    "Europe/London",
    "Etc/UTC",
    "Etc/GMT+5",
    "US/Eastern",
    "Australia/NSW",
    "America/Port_of_Spain",
    "America/Port-au-Prince",
    "Africa/Dar_es_Salaam",
    "Antarctica/DumontDUrville",
    "America/Argentina/ComodRivadavia",
    // Names that ICU knows, and has no list of.
    "Asia/Kolkata",
    "Asia/Ho_Chi_Minh",
    "Europe/Kyiv",
  ])("%s is taken", (zone) => {
    expect(timeZone.safeParse(zone).success).toBe(true);
  });

  test.each([
    ["an abbreviation", "PST"],
    ["an abbreviation", "CET"],
    ["a country", "GB-Eire"],
    ["an offset", "+01:00"],
    ["an offset", "GMT+5"],
    ["of System V", "SystemV/PST8PDT"],
    ["not known", "Mars/Olympus"],
    ["with other capitals", "utc"],
    ["with other capitals", "europe/london"],
    ["with other capitals", "Europe/london"],
    ["with other capitals", "EUROPE/LONDON"],
    ["with other capitals", "America/Port_Of_Spain"],
    ["with other capitals", "asia/kolkata"],
    ["with other capitals", "ASIA/KOLKATA"],
    ["with other capitals", "ETC/UTC"],
    ["with a space", " Europe/London"],
    ["nothing", ""],
  ])("that is %s is refused: %j", (_, zone) => {
    expect(timeZone.safeParse(zone).success).toBe(false);
  });
});

test.each([
  [200, 180],
  [199, 179],
  [2, 1],
  [1, 1],
  ["unlimited", Number.POSITIVE_INFINITY],
] as const)("of a limit of %s, %s are used", (limit, used) => {
  expect(allowance(limit)).toBe(used);
});

test("another share of a limit leaves at least one too", () => {
  expect([allowance(1_000, 60_000, 0.5), allowance(1, 60_000, 0.1)]).toEqual([500, 1]);
});

const url = fc
  .tuple(fc.constantFrom("http:/", "https:/"), fc.domain(), fc.array(anyText.map(encodeURIComponent)))
  .map(([scheme, host, path]) => [scheme, host, ...path].join("/"));
/** What people paste after an address. */
const pasted = fc.array(fc.constantFrom("/", "/v1", "/v1/events", "/v1/auth/login", "/brands", "/events"));

describe("the base URL", () => {
  test("in its canonical form is its own canonical form", () => {
    fc.assert(
      fc.property(url, fc.constantFrom("", ".", ".."), pasted, (given, dots, parts) => {
        const dotted = given.replace(
          /^https?:\/\/[^/?#:]+/,
          (host) => host.replace(/^http:/, "https:") + dots,
        );
        const once = baseUrl.parse(dotted + parts.join(""));

        expect(baseUrl.parse(once)).toBe(once);
      }),
    );
  });

  test.each([
    ["https://api.example.com", "https://api.example.com/v1/events"],
    ["https://api.example.com/", "https://api.example.com/v1/events"],
    ["https://api.example.com/v1", "https://api.example.com/v1/events"],
    ["https://api.example.com/v1/", "https://api.example.com/v1/events"],
    [" https://api.example.com/v1\n", "https://api.example.com/v1/events"],
    ["https://api.example.com/v1/events", "https://api.example.com/v1/events"],
    ["https://api.example.com/v1/auth/login/", "https://api.example.com/v1/events"],
    ["https://api.example.com/brands/v1/v1/events", "https://api.example.com/brands/v1/events"],
    ["https://api.example.com/v1/brands", "https://api.example.com/v1/brands/v1/events"],
    ["https://api.example.com:8443/brands/v1/", "https://api.example.com:8443/brands/v1/events"],
    ["https://api.example.com/av1", "https://api.example.com/av1/v1/events"],
    ["https://api.example.com//evil.test", "https://api.example.com//evil.test/v1/events"],
    ["http://localhost:8080", "http://localhost:8080/v1/events"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/events"],
    ["http://127.1:80/", "http://127.0.0.1/v1/events"],
    ["https://bücher.example:443/v1", "https://xn--bcher-kva.example/v1/events"],
    ["https://api.example.com//v1/events", "https://api.example.com/v1/events"],
    ["http://[::1]:8080/", "http://[::1]:8080/v1/events"],
    ["https://API.example.com./v1", "https://api.example.com/v1/events"],
    ["https://api.example.com..:8443", "https://api.example.com:8443/v1/events"],
    ["http://localhost.:8080", "http://localhost:8080/v1/events"],
  ])("%s leads to %s", (text, expected) => {
    expect(endpoint(new URL(baseUrl.parse(text)), "/v1/events").href).toBe(expected);
  });

  test.each([
    ["", "expected an absolute URL"],
    ["api.example.com", "expected an absolute URL"],
    ["localhost:8080", "expected an absolute URL"],
    ["ftp://api.example.com", "expected an absolute URL"],
    ["me:secret@api.example.com", "expected an absolute URL"],
    ["api.example.com?token=secret", "expected an absolute URL"],
    ["api.example.com/#secret", "expected an absolute URL"],
    ["https://user@api.example.com", "expected a URL without a user name and password"],
    ["https://user:secret@api.example.com", "expected a URL without a user name and password"],
    ["https://api.example.com?key=secret", "expected a URL without a query or a fragment"],
    ["https://api.example.com/#secret", "expected a URL without a query or a fragment"],
    ["http://api.example.com", "accepted for loopback hosts only"],
    ["http://localhost.example.com", "accepted for loopback hosts only"],
    ["http://127.0.0.1.example.com", "accepted for loopback hosts only"],
    ["http://10.0.0.1", "accepted for loopback hosts only"],
    ["http://[::ffff:127.0.0.1]", "accepted for loopback hosts only"],
    ["http://0.0.0.0", "accepted for loopback hosts only"],
  ])("%s is refused: %s", (text, problem) => {
    expect(() => parseSetting(baseUrl, text)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(problem) }),
    );
    expect(() => parseSetting(baseUrl, text)).not.toThrow("secret");
  });
});

describe("the setting nextPage", () => {
  test.each([
    ["links", "links"],
    ["none", "none"],
    ["page={page}", { fixed: [], parameter: "page", placeholder: { kind: "page" } }],
    [
      "?per_page=100&offset={received}&q=a%20b%26",
      {
        fixed: [
          ["per_page", "100"],
          ["q", "a b&"],
        ],
        parameter: "offset",
        placeholder: { kind: "received" },
      },
    ],
    ["after={last}", { fixed: [], parameter: "after", placeholder: { kind: "last" } }],
    [
      "cursor={/meta/next~1cursor}",
      {
        fixed: [],
        parameter: "cursor",
        placeholder: { kind: "pointer", place: "/meta/next~1cursor", tokens: ["meta", "next/cursor"] },
      },
    ],
    [
      "cursor={header:X-Next-Cursor}",
      {
        fixed: [],
        parameter: "cursor",
        placeholder: { kind: "header", place: "header X-Next-Cursor", name: "x-next-cursor" },
      },
    ],
  ])("takes %s", (text, expected) => {
    expect(parseSetting(nextPage, text)).toBe(text);
    expect(parseNextPage(text)).toEqual(expected);
  });

  test.each([
    ["", 'expected "all", "links", "none", or a query'],
    ["Links", 'expected "all", "links", "none", or a query'],
    ["page=1", 'expected "all", "links", "none", or a query'],
    ["page={page}&offset={received}", 'expected "all", "links", "none", or a query'],
    ["page=p{page}", 'expected "all", "links", "none", or a query'],
    ["page={seite}", 'expected "all", "links", "none", or a query'],
    ["page={page}&page=1", 'expected "all", "links", "none", or a query'],
    ["={page}", 'expected "all", "links", "none", or a query'],
    ["cursor={header:a b}", 'expected "all", "links", "none", or a query'],
    ["cursor={header:}", 'expected "all", "links", "none", or a query'],
    ["cursor={/a~2}", '"~" must be followed by 0'],
    ["page={page}&Is_Listed=any", "expected a query without is_listed, which --is-listed (isListed) sets"],
    ["is_listed={page}", "expected a query without is_listed"],
  ])("refuses %s: %s", (text, problem) => {
    expect(() => parseSetting(nextPage, text)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(problem) }),
    );
  });
});

const HIDDEN = "and got a text that is not shown here, because it may hold a password";

// Every kind of issue that the schemas can raise, from schemas without words of their own.
test.each<[string, z.ZodType, unknown, string]>([
  ["nothing for an object", z.object({}), undefined, "key: expected an object, and got nothing"],
  ["an empty text for a file", filePlace, "", 'key: expected a file, and no URL, and got ""'],
  ["a number for a text", z.string(), 7, "key: expected a text, and got 7"],
  ["a text for a number", z.number(), "x", 'key: expected a number, and got "x"'],
  ["a text for a list", z.array(z.string()), "x", 'key: expected a list, and got "x"'],
  ["a list for a record", z.record(z.string(), z.string()), [], "key: expected an object, and got a list"],
  ["an item of another type", z.array(z.string()), [1], "key.0: expected a text, and got 1"],
  ["another word", z.enum(["a", "b"]), "c", 'key: expected "a" or "b", and got "c"'],
  ["a number too small", z.number().min(2), 1, "key: expected another value, and got 1"],
  ["an unknown key", z.strictObject({}), { a: "x" }, "key.a: there is no such key; is it misspelt?"],
  [
    "a wrong key",
    z.record(z.string().max(1), z.any()),
    { ab: 1 },
    'key.ab: expected another value, and got "ab"',
  ],
])("%s is described in plain English", (_, schema, value, line) => {
  const { error } = schema.safeParse(value, PLAIN_ENGLISH);

  expect(problemsOf(error?.issues ?? [], (path) => ["key", ...path].join("."))).toEqual([line]);
});

test.each([
  ["https://x.example?token=hunter2", HIDDEN],
  ["me:hunter2@x.example", HIDDEN],
  ["a@b", 'and got "a@b"'],
  ["cron(0 6 ? * * *)", 'and got "cron(0 6 ? * * *)"'],
  ["12:00?", 'and got "12:00?"'],
])("the problem with %j, of a setting that is no text, says: %s", (value, says) => {
  const parse = (): unknown => parseSetting(z.number(), value);

  expect(parse).toThrow(says);
  expect(parse).not.toThrow("hunter2");
});

test("a long value is shown only so far that it is recognised", () => {
  expect(() => parseSetting(z.number(), "A".repeat(1_000))).toThrow(/and got "A{79}…$/);
});
