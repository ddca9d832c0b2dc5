import { describe, expect, it } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { Authenticator, type Authorization } from "../../../../lambdas/job/service/requests/authenticator.ts";

const BASE = new URL("https://api.example.com");
const EVENTS = new URL("https://api.example.com/v1/events");

/** As of the method `session`: the first login gets a second chance. */
const authenticatorOf = (logIn: () => Promise<string>): Authenticator => {
  let logins = 0;
  return new Authenticator(BASE, {
    name: "session",
    credentials: { current: { method: "session", email: "a@b.test", password: "secret" } },
    unauthenticated: "refused",
    renew: async () => {
      let value = await logIn();
      logins += 1;
      return {
        isLastTry: logins > 1,
        headers: () => ({ cookie: value }),
        keep: ([setCookie]) => {
          value = setCookie ?? value;
        },
      };
    },
  });
};

/** Each login gives the cookie `s=1`, `s=2` … */
const setUp = () => {
  const logins: number[] = [];
  const authenticator = authenticatorOf(async () => {
    logins.push(logins.length + 1);
    return `s=${logins.length}`;
  });
  return { authenticator, logins };
};

const response = (status: number, setCookies: readonly string[] = []) => ({
  status,
  headers: new Map([["set-cookie", setCookies]]),
});

const cookie = (authorization: Authorization): string | undefined => authorization.headers(EVENTS)["cookie"];

const accept = (authorization: Authorization, setCookies: readonly string[] = []): void => {
  void authorization.settle(response(200, setCookies));
};

const release = (authorization: Authorization): void => {
  void authorization.settle();
};

/** Resolves with the authorization to send the request again with. */
const refuse = async (authorization: Authorization): Promise<Authorization> => {
  const renewed = await authorization.settle(response(401));
  if (renewed === undefined) throw new Error("was not renewed");
  return renewed;
};

/** The present state of a promise. */
const state = async (outcome: unknown): Promise<"waits" | "done" | "failed"> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  return Promise.race([
    Promise.resolve(outcome).then(
      () => "done" as const,
      () => "failed" as const,
    ),
    Promise.resolve("waits" as const),
  ]).then((first) => first);
};

describe("a session", () => {
  it("is opened by the first request, once, and tried by one while others wait", async () => {
    const { authenticator, logins } = setUp();

    const first = await authenticator.authorize();
    const second = authenticator.authorize();
    expect(await state(second)).toBe("waits");
    accept(first);

    expect(cookie(await second)).toBe("s=1");
    expect(logins).toEqual([1]);
  });

  it("whose trial got no response is tried by the next waiting request, without another login", async () => {
    const { authenticator, logins } = setUp();

    const first = await authenticator.authorize();
    const second = authenticator.authorize();
    const third = authenticator.authorize();
    release(first);
    const trial = await second;
    expect(await state(third)).toBe("waits");
    accept(trial);

    expect(cookie(await third)).toBe("s=1");
    expect(logins).toEqual([1]);
  });

  it("that is refused is renewed once for all requests, and tried by the one that found it refused", async () => {
    const { authenticator, logins } = setUp();
    accept(await authenticator.authorize());
    const authorizations = await Promise.all([
      authenticator.authorize(),
      authenticator.authorize(),
      authenticator.authorize(),
    ]);

    const [finder, ...others] = authorizations.map(refuse);
    const trial = await finder;
    expect(await Promise.all(others.map(state))).toEqual(["waits", "waits"]);
    expect(authorizations.map(({ isCurrent }) => isCurrent)).toEqual([false, false, false]);
    if (trial) accept(trial);

    expect((await Promise.all(others)).map(cookie)).toEqual(["s=2", "s=2"]);
    expect(logins).toEqual([1, 2]);
  });

  it("is not renewed because of a late refusal of an older one", async () => {
    const { authenticator, logins } = setUp();
    accept(await authenticator.authorize());
    const [early, late] = await Promise.all([authenticator.authorize(), authenticator.authorize()]);
    accept(await refuse(early));

    expect(cookie(await refuse(late))).toBe("s=2");
    expect(logins).toEqual([1, 2]);
  });

  it("that is refused at its first use is renewed once, if it is the first of all", async () => {
    const { authenticator, logins } = setUp();

    const second = await refuse(await authenticator.authorize());
    expect(cookie(second)).toBe("s=2");
    await expect(refuse(second)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });

    expect(logins).toEqual([1, 2]);
    await expect(authenticator.authorize()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  it("that is renewed and refused at its first use ends the run, also for waiting requests", async () => {
    const { authenticator, logins } = setUp();
    accept(await authenticator.authorize());
    const [finder, other] = await Promise.all([authenticator.authorize(), authenticator.authorize()]);

    const trial = await refuse(finder);
    const waiting = refuse(other);
    await expect(refuse(trial)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });

    await expect(waiting).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(logins).toEqual([1, 2]);
  });

  it("may be renewed again and again as long as each is accepted once", async () => {
    const { authenticator, logins } = setUp();
    accept(await authenticator.authorize());

    for (let n = 0; n < 5; n += 1) {
      const trial = await refuse(await authenticator.authorize());
      accept(trial);
    }

    expect(logins).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("settles an authorization once: a release after a response changes nothing", async () => {
    const { authenticator } = setUp();
    const first = await authenticator.authorize();
    accept(first);
    release(first);

    const authorizations = await Promise.all([authenticator.authorize(), authenticator.authorize()]);

    expect(authorizations.map(({ isCurrent }) => isCurrent)).toEqual([true, true]);
  });

  it("gives its cookies to its own origin only", async () => {
    const { authenticator } = setUp();
    const authorization = await authenticator.authorize();

    const urls = [
      "https://api.example.com/",
      "http://api.example.com/",
      "https://api.example.com:8443/",
      "https://example.com/",
      "https://sub.api.example.com/",
    ];

    expect(urls.map((url) => authorization.headers(new URL(url))["cookie"])).toEqual([
      "s=1",
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("keeps the cookies of a late response to an old one apart", async () => {
    const { authenticator } = setUp();
    accept(await authenticator.authorize());
    const [early, late] = await Promise.all([authenticator.authorize(), authenticator.authorize()]);
    const renewed = await refuse(early);
    accept(renewed);

    accept(late, ["s=old"]);

    expect(cookie(renewed)).toBe("s=2");
    expect(cookie(late)).toBe("s=old");
  });
});

describe("a login that fails", () => {
  const failing = (errors: unknown[]) => {
    let logins = 0;
    const authenticator = authenticatorOf(async () => {
      logins += 1;
      const error = errors.shift();
      if (error !== undefined) throw error;
      return "s=1";
    });
    return { authenticator, logins: () => logins };
  };

  it("fails for all waiting and all later requests, and is not repeated", async () => {
    const error = new SyncError("LOGIN_REFUSED", "refused");
    const { authenticator, logins } = failing([error]);

    const outcomes = await Promise.allSettled([authenticator.authorize(), authenticator.authorize()]);
    outcomes.push(...(await Promise.allSettled([authenticator.authorize()])));

    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason)).toEqual([
      error,
      error,
      error,
    ]);
    expect(logins()).toBe(1);
  });

  it("that its caller aborted is made by the next waiting request", async () => {
    const { authenticator, logins } = failing([new Error("stop")]);

    const [first, second] = await Promise.allSettled([authenticator.authorize(), authenticator.authorize()]);

    expect([first?.status, second?.status]).toEqual(["rejected", "fulfilled"]);
    expect(logins()).toBe(2);
  });

  it("does not hold a request that is aborted", async () => {
    const abort = new AbortController();
    const authenticator = authenticatorOf(() => Promise.withResolvers<string>().promise);
    void authenticator.authorize();
    const waiting = authenticator.authorize(abort.signal);

    abort.abort(new Error("stop"));

    await expect(waiting).rejects.toThrow("stop");
  });
});
