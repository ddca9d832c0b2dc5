import { describe, expect, it } from "vitest";
import type { Pass } from "../../../../lambdas/job/service/auth/authenticator.ts";
import { SessionAuthenticator } from "../../../../lambdas/job/service/auth/session-authenticator.ts";
import { SessionCookies } from "../../../../lambdas/job/service/auth/session-cookies.ts";

const BASE = new URL("https://api.example.com");
const EVENTS = new URL("https://api.example.com/v1/events");

/** Each login gives the cookie `s=1`, `s=2` … */
const setUp = () => {
  const logins: number[] = [];
  const authenticator = new SessionAuthenticator(async () => {
    logins.push(logins.length + 1);
    const cookies = new SessionCookies(BASE);
    cookies.keep([`s=${logins.length}`]);
    return cookies;
  });
  return { authenticator, logins };
};

const cookie = (pass: Pass): string | undefined => pass.headers(EVENTS)["cookie"];

/** What became of a promise by now. */
const state = async (promise: Promise<unknown>): Promise<"waits" | "done" | "failed"> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  return Promise.race([
    promise.then(
      () => "done" as const,
      () => "failed" as const,
    ),
    Promise.resolve("waits" as const),
  ]).then((first) => first);
};

describe("a session", () => {
  it("is opened by the first who needs it, once, and tried out by one while others wait", async () => {
    const { authenticator, logins } = setUp();

    const first = await authenticator.pass();
    const second = authenticator.pass();
    expect(await state(second)).toBe("waits");
    first.accepted();

    expect(cookie(await second)).toBe("s=1");
    expect(logins).toEqual([1]);
  });

  it("that no answer came to is tried out by the next who waits, without another login", async () => {
    const { authenticator, logins } = setUp();

    const first = await authenticator.pass();
    const second = authenticator.pass();
    const third = authenticator.pass();
    first.release();
    const trial = await second;
    expect(await state(third)).toBe("waits");
    trial.accepted();

    expect(cookie(await third)).toBe("s=1");
    expect(logins).toEqual([1]);
  });

  it("that is refused is renewed once for all who used it, and tried out by the one who found out", async () => {
    const { authenticator, logins } = setUp();
    (await authenticator.pass()).accepted();
    const passes = await Promise.all([authenticator.pass(), authenticator.pass(), authenticator.pass()]);

    const [finder, ...others] = passes.map((pass) => pass.refused());
    const trial = await finder;
    expect(await Promise.all(others.map(state))).toEqual(["waits", "waits"]);
    expect(passes.map(({ isCurrent }) => isCurrent)).toEqual([false, false, false]);
    trial?.accepted();

    expect((await Promise.all(others)).map(cookie)).toEqual(["s=2", "s=2"]);
    expect(logins).toEqual([1, 2]);
  });

  it("is not renewed because of a late refusal of an older one", async () => {
    const { authenticator, logins } = setUp();
    (await authenticator.pass()).accepted();
    const [early, late] = await Promise.all([authenticator.pass(), authenticator.pass()]);
    (await early.refused()).accepted();

    expect(cookie(await late.refused())).toBe("s=2");
    expect(logins).toEqual([1, 2]);
  });

  it("that is refused at its first use is renewed once, if it is the first of all", async () => {
    const { authenticator, logins } = setUp();

    const second = await (await authenticator.pass()).refused();
    expect(cookie(second)).toBe("s=2");
    await expect(second.refused()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });

    expect(logins).toEqual([1, 2]);
    await expect(authenticator.pass()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  it("that is renewed and refused at its first use ends the run, for those who wait too", async () => {
    const { authenticator, logins } = setUp();
    (await authenticator.pass()).accepted();
    const [finder, other] = await Promise.all([authenticator.pass(), authenticator.pass()]);

    const trial = await finder.refused();
    const waiting = other.refused();
    await expect(trial.refused()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });

    await expect(waiting).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(logins).toEqual([1, 2]);
  });

  it("may be renewed again and again as long as each is accepted once", async () => {
    const { authenticator, logins } = setUp();
    (await authenticator.pass()).accepted();

    for (let n = 0; n < 5; n += 1) {
      const trial = await (await authenticator.pass()).refused();
      trial.accepted();
    }

    expect(logins).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("settles a pass once: a release after an answer changes nothing", async () => {
    const { authenticator } = setUp();
    const first = await authenticator.pass();
    first.accepted();
    first.release();

    const passes = await Promise.all([authenticator.pass(), authenticator.pass()]);

    expect(passes.map(({ isCurrent }) => isCurrent)).toEqual([true, true]);
  });

  it("gives its cookies to its own origin only", async () => {
    const { authenticator } = setUp();
    const pass = await authenticator.pass();

    const urls = [
      "https://api.example.com/",
      "http://api.example.com/",
      "https://api.example.com:8443/",
      "https://example.com/",
      "https://sub.api.example.com/",
    ];

    expect(urls.map((url) => pass.headers(new URL(url))["cookie"])).toEqual([
      "s=1",
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("keeps the cookies of a late answer to an old one apart", async () => {
    const { authenticator } = setUp();
    (await authenticator.pass()).accepted();
    const [early, late] = await Promise.all([authenticator.pass(), authenticator.pass()]);
    const renewed = await early.refused();
    renewed.accepted();

    late.keep(["s=old"]);

    expect(cookie(renewed)).toBe("s=2");
    expect(cookie(late)).toBe("s=old");
  });
});
