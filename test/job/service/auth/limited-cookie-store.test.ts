import { CookieJar } from "tough-cookie";
import { describe, expect, it } from "vitest";
import { LimitedCookieStore } from "../../../../lambdas/job/service/auth/session-authenticator.ts";

const URL = "https://api.example.com/";

const jarOf = (...setCookies: readonly string[]) => {
  const store = new LimitedCookieStore();
  const jar = new CookieJar(store);
  for (const setCookie of setCookies) jar.setCookieSync(setCookie, URL);
  return {
    store,
    keys: () => (jar.serializeSync()?.cookies ?? []).map(({ key }) => key),
    sent: () => jar.getCookieStringSync(URL),
  };
};

describe("a store of cookies", () => {
  it("takes 50 and refuses the next ones", () => {
    const { store, keys } = jarOf(...Array.from({ length: 53 }, (_, n) => `c${n}=1`));

    expect(keys()).toEqual(Array.from({ length: 50 }, (_, n) => `c${n}`));
    expect(store.refused).toBe(3);
  });

  it("takes 16 KB in all, attributes included", () => {
    const large = (name: string) => `${name}=1; Path=/${"x".repeat(8_000)}`;

    const { store, keys } = jarOf(large("a"), large("b"), large("c"), "d=1");

    expect(keys()).toEqual(["a", "b", "d"]);
    expect(store.refused).toBe(1);
  });

  it("takes another value of a cookie that it has, also when it is full", () => {
    const { store, sent } = jarOf(...Array.from({ length: 50 }, (_, n) => `c${n}=1`), "c0=2", "c49=3");

    expect(sent()).toMatch(/^c0=2; c1=1; .* c48=1; c49=3$/);
    expect(store.refused).toBe(0);
  });

  it("drops a cookie that is over, and keeps nothing of it", () => {
    const over = Array.from({ length: 100 }, (_, n) => `o${n}=1; Path=/${n}; Max-Age=0`);

    const { store, keys } = jarOf("a=1", "b=1", "a=; Max-Age=0", ...over);

    expect(keys()).toEqual(["b"]);
    expect(Object.values(store.idx).flatMap((domain) => Object.keys(domain))).toEqual(["/"]);
    expect(store.refused).toBe(0);
  });
});
