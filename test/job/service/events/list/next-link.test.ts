import { describe, expect, it } from "vitest";
import { namesNextPage, nextLink } from "../../../../../lambdas/job/service/events/list/next-link.ts";

const PAGE = new URL("https://api.example.com/v1/events?is_listed=true");
const next = (...headers: readonly string[]): string | undefined =>
  nextLink([], new Map([["link", headers]]), PAGE, PAGE)?.href;

describe("the next page", () => {
  it.each([
    [
      '<https://api.example.com/v1/events?page=2>; rel="next"',
      "https://api.example.com/v1/events?page=2&is_listed=true",
    ],
    ['<?is_listed=false&page=2>; rel="next"', "https://api.example.com/v1/events?is_listed=false&page=2"],
    ['<?page=2>; rel="next"', "https://api.example.com/v1/events?page=2&is_listed=true"],
    ['<http://api.example.com/x?a=1>; rel="next"', "https://api.example.com/x?a=1"],
    ["</v1/events/?page=2>; rel=next", "https://api.example.com/v1/events/?page=2&is_listed=true"],
    ["</x>; rel='next'", "https://api.example.com/x"],
    ["</x>; rel='prev next'; title='a, b'", "https://api.example.com/x"],
    ['</x>; rel="https://api.example.com/rels/more next"', "https://api.example.com/x"],
    ["</x>; rel='prev'", undefined],
    ['<https://API.example.com./x>; rel="next"', "https://api.example.com/x"],
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

  it.each([
    [["/x"], undefined, "https://api.example.com/x"],
    [["http://api.example.com/x", "/x"], "</x>; rel=next", "https://api.example.com/x"],
    [["/x?a=1&b=2"], "</x?b=2&a=1>; rel=next", "https://api.example.com/x?b=2&a=1"],
    [
      ["?page=2"],
      "</v1/events?page=2&is_listed=true>; rel=next",
      "https://api.example.com/v1/events?page=2&is_listed=true",
    ],
    [
      ["https://brand.example.com/?page=2", "/events?page=2", "/v1/events?page=2"],
      undefined,
      "https://api.example.com/v1/events?page=2&is_listed=true",
    ],
    [[], undefined, undefined],
  ])("of the links %j in the page and the header %s is %s", (links, header, expected) => {
    const headers = new Map(header === undefined ? [] : [["link", [header]]]);

    expect(nextLink(links, headers, PAGE, PAGE)?.href).toBe(expected);
  });

  it("of links in the page and in headers that differ ends the run", () => {
    for (const [one, other] of [
      ["/x", "/y"],
      ["?page=2", "?page=3"],
    ])
      expect(() =>
        nextLink([String(one)], new Map([["link", [`<${other}>; rel=next`]]]), PAGE, PAGE),
      ).toThrow("name two different next pages");
  });

  it("is missing where there is no Link header", () => {
    expect(nextLink([], new Map(), PAGE, PAGE)).toBeUndefined();
  });

  it.each([
    [
      '<https://evil.test/x?secret>; rel="next"',
      "at https://evil.test, but credentials go to https://api.example.com",
    ],
    ['<http://api.example.com:81/x>; rel="next"', "at http://api.example.com:81, but"],
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

  it("gets its filter back and stays as it came otherwise", () => {
    expect(next("</v1/events?c=%E9%20a~b+c>; rel=next")).toBe(
      "https://api.example.com/v1/events?c=%E9%20a~b+c&is_listed=true",
    );
  });

  it("keeps no filter that the first page has not", () => {
    const page = new URL("https://api.example.com/v1/events");

    expect(nextLink(["?page=2"], new Map(), page, page)?.search).toBe("?page=2");
  });

  it.each(["http://other.example/x", "ftp://api.example.com/x", "http://api.example.com:81/x"])(
    "at %s is elsewhere",
    (target) => {
      expect(() => nextLink([target], new Map(), PAGE, PAGE)).toThrow("credentials go to");
    },
  );

  it("elsewhere, at an address of 14,000 characters, is not repeated", () => {
    expect(() => next(`<https://${"x.".repeat(7_000)}test/>; rel="next"`)).toThrow(
      "at something that is not a web address, but",
    );
  });

  it("of a page elsewhere that leads back to the list gets its filter back", () => {
    const page = new URL("https://api.example.com/x?page=2");

    expect(nextLink(["/v1/events?page=3"], new Map(), page, PAGE)?.href).toBe(
      "https://api.example.com/v1/events?page=3&is_listed=true",
    );
  });

  it.each([
    [[], undefined, false],
    [[], '</x>; rel="prev"', false],
    [[], "</x>; rel='next'", true],
    [[], '<https://evil.test/x>; rel="next"', true],
    [[], '</x; rel="next"', true],
    [["https://evil.test/x"], undefined, true],
  ])("is named by the links %j and the header %s: %s", (links, header, expected) => {
    expect(namesNextPage(links, new Map(header === undefined ? [] : [["link", [header]]]))).toBe(expected);
  });
});
