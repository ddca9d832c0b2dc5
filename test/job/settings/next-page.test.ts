import { describe, expect, it } from "vitest";
import { parseSetting } from "../../../lambdas/job/settings/setting-problem.ts";
import { nextPage, parseNextPage } from "../../../lambdas/job/settings/values.ts";

describe("the setting nextPage", () => {
  it.each([
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

  it.each([
    ["", 'expected "links", "none", or a query'],
    ["Links", 'expected "links", "none", or a query'],
    ["page=1", 'expected "links", "none", or a query'],
    ["page={page}&offset={received}", 'expected "links", "none", or a query'],
    ["page=p{page}", 'expected "links", "none", or a query'],
    ["page={seite}", 'expected "links", "none", or a query'],
    ["page={page}&page=1", 'expected "links", "none", or a query'],
    ["={page}", 'expected "links", "none", or a query'],
    ["cursor={header:a b}", 'expected "links", "none", or a query'],
    ["cursor={header:}", 'expected "links", "none", or a query'],
    ["cursor={/a~2}", '"~" must be followed by 0'],
    ["page={page}&Is_Listed=any", "expected a query without is_listed, which --is-listed (isListed) sets"],
    ["is_listed={page}", "expected a query without is_listed"],
  ])("refuses %s: %s", (text, problem) => {
    expect(() => parseSetting(nextPage, text)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(problem) }),
    );
  });
});
