import { describe, expect, it } from "vitest";
import { SessionCookies } from "../../../../lambdas/job/service/auth/session-cookies.ts";

const SITE = new URL("https://api.example.com/");
const NOW = Date.UTC(2026, 10, 21, 6);

/** What is kept, as it is sent to a path. */
const keeping = (...setCookies: readonly string[]) => {
  let nowMs = NOW;
  const cookies = new SessionCookies(SITE, { now: () => nowMs, monotonicMs: () => nowMs });
  cookies.keep(setCookies);
  const sent = (path = "/"): string | undefined => cookies.headers(new URL(path, SITE))["cookie"];
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { cookies, sent, pass };
};

describe("the cookies of a session", () => {
  it("are 50 at most: the next ones are refused", () => {
    const { cookies, sent } = keeping(...Array.from({ length: 53 }, (_, n) => `c${n}=1`));

    expect(sent()).toBe(Array.from({ length: 50 }, (_, n) => `c${n}=1`).join("; "));
    expect(cookies.refused).toBe(3);
  });

  it("have 16 KB in all, attributes included", () => {
    const long = `/${"x".repeat(8_000)}`;
    const large = (name: string) => `${name}=1; Path=${long}`;

    const { cookies, sent } = keeping(large("a"), large("b"), large("c"), "d=1");

    expect(sent(long)).toBe("a=1; b=1; d=1");
    expect(cookies.refused).toBe(1);
  });

  it("take another value of one that is there, also when they are full", () => {
    const { cookies, sent } = keeping(...Array.from({ length: 50 }, (_, n) => `c${n}=1`), "c0=2", "c49=3");

    expect(sent()).toMatch(/^c0=2; c1=1; .* c48=1; c49=3$/);
    expect(cookies.refused).toBe(0);
  });

  it("keep nothing of one that is over", () => {
    const over = Array.from({ length: 100 }, (_, n) => `o${n}=1; Path=/${n}; Max-Age=0`);

    const { cookies, sent } = keeping("a=1", "b=1", "a=; Max-Age=0", ...over);

    expect(sent()).toBe("b=1");
    expect(cookies.refused).toBe(0);
  });

  it.each([
    ["/br%C3%A4ndi", "/br%C3%A4ndi", "s=1"],
    ["/br%c3%a4ndi", "/br%C3%A4ndi/v1/events", "s=1"],
    ["/brändi", "/br%C3%A4ndi/v1/events", "s=1"],
    // As the bytes of a header arrive.
    ["/brÃ¤ndi", "/br%C3%A4ndi/v1/events", "s=1"],
    ["/br%C3%A4ndi", "/brändi/v1/events", "s=1"],
    ["/a%20b", "/a%20b/c", "s=1"],
    ["/a b", "/a%20b/c", "s=1"],
    ["/a%25b", "/a%25b/c", "s=1"],
    ["/100%", "/100%/c", "s=1"],
    ["/a%2Fb", "/a%2fb/c", "s=1"],
    ["/%7Ea%41", "/~aA", "s=1"],
    ["/a%2Fb", "/a/b", undefined],
    ["/a%25b", "/a%b", undefined],
    ["/br%C3%A4ndi", "/brandi", undefined],
    ["/br%C3%A4", "/br%C3%A4ndi", undefined],
  ])("with the path %s are sent to %s as %s", (path, request, expected) => {
    const { sent } = keeping(`s=1; Path=${path}`);

    expect(sent(request)).toBe(expected);
  });

  it.each(["api.example.com.", ".EXAMPLE.com.", "api.example.com"])(
    "for the domain %s are those of the host",
    (domain) => {
      const { sent } = keeping(`s=1; Domain=${domain}`, "s=2; Domain=example.org.", "t=3; Domain=com.");

      expect(sent()).toBe("s=1");
    },
  );

  it("of longer paths come first, then those that came first", () => {
    const { sent } = keeping("a=1", "b=2; Path=/v1", "c=3", "d=4; Path=/v1/events", "a=5");

    expect(sent("/v1/events")).toBe("d=4; b=2; a=5; c=3");
    expect(sent("/other")).toBe("a=5; c=3");
  });

  it("end at their time", () => {
    const expires = new Date(NOW + 20_000).toUTCString();
    const { cookies, sent, pass } = keeping("a=1; Max-Age=10", `b=2; Expires=${expires}`, "c=3");

    const before = sent();
    pass(10_000);
    const between = sent();
    cookies.keep(["c=4"]);
    pass(10_000);

    expect([before, between, sent()]).toEqual(["a=1; b=2; c=3", "b=2; c=3", "c=4"]);
  });

  it("that end make room for others", () => {
    const value = "x".repeat(300);
    const { cookies, sent, pass } = keeping(
      ...Array.from({ length: 50 }, (_, n) => `c${n}=${value}; Max-Age=10`),
    );

    pass(10_000);
    cookies.keep(["d=2", `e=${value.repeat(50)}`]);

    expect(sent()).toBe(`d=2; e=${value.repeat(50)}`);
    expect(cookies.refused).toBe(0);
  });

  it("of load balancers, of which each response brings two others, cost little", () => {
    const { cookies, sent } = keeping(...Array.from({ length: 20 }, (_, n) => `c${n}=1`));
    const expires = new Date(NOW + 604_800_000).toUTCString();
    const before = process.threadCpuUsage();

    for (let n = 0; n < 2_000; n += 1) {
      sent();
      cookies.keep([
        `lb=${n}; Expires=${expires}; Path=/`,
        `lbcors=${n}; Expires=${expires}; Path=/; Secure`,
      ]);
    }

    const { user, system } = process.threadCpuUsage(before);
    expect(sent()).toMatch(/; lb=1999; lbcors=1999$/);
    // Microseconds of 2,000 responses. To copy all cookies for each took 15 times as long as here, 500 at least.
    expect(user + system).toBeLessThan(2_000 * 150);
  });
});
