import { describe, expect, it } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import {
  Authenticator,
  type Authorization,
  NEW_PROOF_PAUSES_MS,
  type Proof,
} from "../../../../lambdas/job/service/requests/authenticator.ts";
import { LogLines } from "../../runtime/log-lines.ts";

const BASE = new URL("https://api.example.com");
const EVENTS = new URL("https://api.example.com/v1/events");

type Traits = Pick<Proof, "pausesMs" | "isStored" | "isExpired" | "endsUnsaid">;

/** As of the method `session`: the first login gets a second chance. `slept` is how long it waited each time. */
const authenticatorOf = (
  logIn: () => Promise<string | undefined>,
  traits: Traits = { pausesMs: NEW_PROOF_PAUSES_MS },
  sleep: (ms: number) => Promise<void> = async () => undefined,
) => {
  let logins = 0;
  const slept: number[] = [];
  const log = new LogLines();
  const method = {
    credentials: { current: { method: "session", email: "a@b.test", password: "secret" } },
    unauthenticated: { what: "refused", next: "", ifNew: ["Check --base-url."] },
    renew: async () => {
      let value = await logIn();
      logins += 1;
      if (value === undefined) return undefined;
      return {
        ...traits,
        get isExpired() {
          return traits.isExpired === true;
        },
        isLastTry: logins > 1,
        headers: () => ({ cookie: value ?? "" }),
        keep: ([setCookie]: readonly string[]) => {
          value = setCookie ?? value;
        },
      };
    },
  } as const;
  const clock = {
    now: () => 0,
    sleep: (ms: number, signal?: AbortSignal) => {
      slept.push(ms);
      return Promise.race([sleep(ms), aborted(signal)]);
    },
  };
  return { authenticator: new Authenticator(BASE, method, { clock, logger: log }), slept, log };
};

const aborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));

/** Each login gives the cookie `s=1`, `s=2` … */
const setUp = (traits?: Traits, sleep?: () => Promise<void>) => {
  const logins: number[] = [];
  const logIn = async (): Promise<string> => {
    logins.push(logins.length + 1);
    return `s=${logins.length}`;
  };
  return { ...authenticatorOf(logIn, traits, sleep), logins };
};

const response = (status: number, headers: Readonly<Record<string, readonly string[]>> = {}) => ({
  status,
  headers: new Map(Object.entries(headers)),
});

const cookie = (authorization: Authorization): string | undefined => authorization.headers(EVENTS)["cookie"];

const accept = (authorization: Authorization, setCookies: readonly string[] = []): void => {
  void authorization.settle(response(200, { "set-cookie": setCookies }));
};

const release = (authorization: Authorization): void => {
  void authorization.settle();
};

/** Resolves with the authorization to send the request again with. */
const refuse = async (
  authorization: Authorization,
  refusal = response(401),
  signal?: AbortSignal,
): Promise<Authorization> => {
  const renewed = await authorization.settle(refusal, signal);
  if (renewed === undefined) throw new Error("was not renewed");
  return renewed;
};

/** The present state of a promise. */
const state = async (outcome: Promise<unknown>): Promise<"waits" | "done" | "failed"> => {
  let present: "waits" | "done" | "failed" = "waits";
  outcome.then(
    () => {
      present = "done";
    },
    () => {
      present = "failed";
    },
  );
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  return present;
};

/** Whether a fresh proof is tried: by one request, while the next one waits. */
const isTried = async (authenticator: Authenticator): Promise<boolean> => {
  const first = await authenticator.authorize();
  const second = authenticator.authorize();
  const isWaiting = (await state(second)) === "waits";
  release(first);
  await second;
  return isWaiting;
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

    const [finder, ...others] = authorizations.map((each) => refuse(each));
    const trial = await finder;
    expect(await Promise.all(others.map(state))).toEqual(["waits", "waits"]);
    expect(authorizations.map(({ isCurrent }) => isCurrent)).toEqual([false, false, false]);
    if (trial) accept(trial);

    expect((await Promise.all(others)).map(cookie)).toEqual(["s=2", "s=2"]);
    expect(logins).toEqual([1, 2]);
  });

  it("that is refused at its first use is tried again after 1 s and 3 s before another login", async () => {
    const { authenticator, logins, slept, log } = setUp();
    const used: (string | undefined)[] = [];

    let trial = await authenticator.authorize();
    const waiting = authenticator.authorize();
    for (let n = 0; n < 5; n += 1) {
      used.push(cookie(trial));
      trial = await refuse(trial);
    }
    expect(await state(waiting)).toBe("waits");
    await expect(refuse(trial)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });

    expect([...used, cookie(trial)]).toEqual(["s=1", "s=1", "s=1", "s=2", "s=2", "s=2"]);
    expect(slept).toEqual([1_000, 3_000, 1_000, 3_000]);
    expect(logins).toEqual([1, 2]);
    expect(log.text).toContain("not authenticated (session); the same request again in 3 s");
    await expect(waiting).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    await expect(authenticator.authorize()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  it("is left to the next request when the one that tries it again is aborted", async () => {
    const { authenticator, logins } = setUp(undefined, () => new Promise(() => undefined));
    const abort = new AbortController();
    const again = refuse(await authenticator.authorize(), response(401), abort.signal);
    const waiting = authenticator.authorize();

    abort.abort(new Error("stop"));

    await expect(again).rejects.toThrow("stop");
    expect(cookie(await waiting)).toBe("s=1");
    expect(logins).toEqual([1]);
  });

  it.each([429, 500, 503, 408])(
    "stays untried after an answer that says nothing of it (%i)",
    async (status) => {
      const { authenticator } = setUp();

      const settled = (await authenticator.authorize()).settle(response(status));

      expect(settled).toBeUndefined();
      expect(await isTried(authenticator)).toBe(true);
    },
  );

  it.each([200, 202, 403, 404, 410])("is accepted with the answer %i", async (status) => {
    const { authenticator } = setUp();

    void (await authenticator.authorize()).settle(response(status));

    expect(await isTried(authenticator)).toBe(false);
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

  it("that is renewed because its time is over is not renewed by a late refusal as well", async () => {
    let isExpired = false;
    const traits = {
      get isExpired() {
        return isExpired;
      },
    };
    const renewal = Promise.withResolvers<string>();
    let logins = 0;
    const { authenticator } = authenticatorOf(() => {
      logins += 1;
      return logins === 1 ? Promise.resolve("s=1") : renewal.promise;
    }, traits);
    accept(await authenticator.authorize());
    const [during, after] = await Promise.all([authenticator.authorize(), authenticator.authorize()]);
    isExpired = true;
    const next = authenticator.authorize();

    const again = refuse(during);
    isExpired = false;
    renewal.resolve("s=2");
    accept(await next);

    expect([cookie(await again), cookie(await refuse(after))]).toEqual(["s=2", "s=2"]);
    expect(logins).toBe(2);
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

const redirect = (location: string, status = 302) => response(status, { location: [location] });
const IN_OTHER_WORDS = [
  ["419", response(419)],
  ["440", response(440)],
  ["a redirect to a path", redirect("/login?next=1")],
  ["a redirect to an address of the service", redirect("https://api.example.com/login", 307)],
  ["a redirect to its http: address, before which TLS ends", redirect("http://api.example.com/login")],
  ["a redirect to another host", redirect("https://sso.example.test/")],
  ["a redirect to another host, below the same path", redirect("https://sso.example.test/v1/events/a")],
  ["a redirect to another port", redirect("https://api.example.com:8443/")],
  ["a redirect to what is no address", redirect("https://[")],
  ["a redirect to the list", redirect("/v1/events")],
] as const;

describe("a session that is ended in other words", () => {
  it.each(IN_OTHER_WORDS)("is renewed once for all if it had been accepted: %s", async (_, refusal) => {
    const { authenticator, logins, slept } = setUp();
    accept(await authenticator.authorize());
    const [finder, late] = await Promise.all([authenticator.authorize(), authenticator.authorize()]);

    accept(await refuse(finder, refusal));

    expect(cookie(await refuse(late, refusal))).toBe("s=2");
    expect([logins, slept]).toEqual([[1, 2], []]);
  });

  it.each(IN_OTHER_WORDS)("is neither renewed nor accepted if it is new: %s", async (_, refusal) => {
    const { authenticator, logins } = setUp();

    const settled = (await authenticator.authorize()).settle(refusal);

    expect(settled).toBeUndefined();
    expect(await isTried(authenticator)).toBe(true);
    expect(logins).toEqual([1]);
  });

  it.each(IN_OTHER_WORDS)("is renewed if it was stored before this run: %s", async (_, refusal) => {
    const { authenticator } = setUp({ isStored: true });

    expect(cookie(await refuse(await authenticator.authorize(), refusal))).toBe("s=2");
  });

  it.each([
    ["another status", response(418)],
    ["a redirect to nowhere", response(302)],
    ["a redirect to another event", redirect("/v1/events/2")],
    ["a redirect to another event by its http: address", redirect("http://api.example.com/v1/events/2")],
    ["a redirect that adds a slash", redirect("https://api.example.com/v1/events/")],
    ["a 403 without a name", response(403)],
    ["a 403 of another name", response(403, { "www-authenticate": ['Bearer error="insufficient_scope"'] })],
  ])("is not: %s", async (_, other) => {
    const { authenticator, logins } = setUp();
    accept(await authenticator.authorize());

    expect((await authenticator.authorize()).settle(other)).toBeUndefined();
    expect(logins).toEqual([1]);
  });
});

const json = (status: number, value: unknown) => ({
  ...response(status),
  body: { kind: "whole", bytes: Buffer.from(JSON.stringify(value)) } as const,
});

describe("a 403 that names the token", () => {
  it.each([
    ["in its challenge", response(403, { "www-authenticate": ['Bearer realm="x", error="invalid_token"'] })],
    ["without quotes", response(403, { "www-authenticate": ["Basic", "Bearer error=invalid_token, x=1"] })],
    ["as a value of its body", json(403, { error: "invalid_token" })],
    ["somewhere in its body", json(403, { errors: [{ status: 403, code: "INVALID_TOKEN" }] })],
  ])("refuses it as a 401 does, also a new one: %s", async (_, refusal) => {
    const { authenticator, slept } = setUp();

    accept(await refuse(await authenticator.authorize(), refusal));

    expect(cookie(await refuse(await authenticator.authorize(), refusal))).toBe("s=2");
    expect(slept).toEqual([1_000]);
  });

  it.each([
    ["in a sentence", json(403, { message: "no invalid_token here" })],
    ["of a 404", json(404, { error: "invalid_token" })],
    ["in a body that is too long", json(403, ["invalid_token", "x".repeat(65_536)])],
  ])("does not where it is a word %s", async (_, other) => {
    const { authenticator } = setUp();
    accept(await authenticator.authorize());

    expect((await authenticator.authorize()).settle(other)).toBeUndefined();
  });
});

describe("one URL", () => {
  const ONE = new URL("https://api.example.com/v1/events/1");
  const OTHER = new URL("https://api.example.com/v1/events/2");

  it.each(IN_OTHER_WORDS)("starts one renewal until it is answered: %s", async (_, refusal) => {
    const { authenticator, logins } = setUp();
    accept(await authenticator.authorize());
    const first = await authenticator.authorize();
    accept((await first.settle(refusal, undefined, ONE)) ?? first);

    const second = (await authenticator.authorize()).settle(refusal, undefined, ONE);
    const other = await (await authenticator.authorize()).settle(refusal, undefined, OTHER);

    expect(second).toBeUndefined();
    expect(cookie(other ?? first)).toBe("s=3");
    expect(logins).toEqual([1, 2, 3]);
  });

  it.each(IN_OTHER_WORDS)(
    "starts another renewal with 401 behind %s: the session may be over as well",
    async (_, refusal) => {
      const { authenticator, logins } = setUp();
      accept(await authenticator.authorize());
      const first = await authenticator.authorize();
      accept((await first.settle(refusal, undefined, ONE)) ?? first);

      const second = await (await authenticator.authorize()).settle(response(401), undefined, ONE);

      expect(cookie(second ?? first)).toBe("s=3");
      expect(logins).toEqual([1, 2, 3]);
    },
  );

  it("that is refused with 401 again fails alone", async () => {
    const { authenticator, logins } = setUp();
    accept(await authenticator.authorize());
    const first = await authenticator.authorize();
    accept((await first.settle(response(401), undefined, ONE)) ?? first);

    const second = (await authenticator.authorize()).settle(response(401), undefined, ONE);

    await expect(second).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
      fields: { request: "GET /v1/events/1" },
    });
    expect(cookie(await authenticator.authorize())).toBe("s=2");
    expect(logins).toEqual([1, 2]);
  });

  it("starts another renewal once it was answered", async () => {
    const { authenticator, logins } = setUp();
    accept(await authenticator.authorize());

    for (let n = 0; n < 4; n += 1) {
      const refused = await authenticator.authorize();
      const renewed = await refused.settle(response(401), undefined, ONE);
      void renewed?.settle(response(200), undefined, ONE);
    }

    expect(logins).toEqual([1, 2, 3, 4, 5]);
  });
});

it("three renewals in a row without an answered request are the last", async () => {
  const { authenticator, logins } = setUp();
  accept(await authenticator.authorize());
  const url = (n: number) => new URL(`https://api.example.com/v1/events/${n}`);
  const refused = async (n: number) =>
    (await authenticator.authorize()).settle(response(419), undefined, url(n));

  // The renewed ones are not new where the service does not refuse them with 401: each is left to the next request.
  for (let n = 0; n < 3; n += 1) {
    const renewed = await refused(n);
    void renewed?.settle(response(503));
    void (await authenticator.authorize()).settle(response(302));
  }

  expect(logins).toEqual([1, 2]);
});

describe("a proof after whose end strangers are answered", () => {
  const ending = () => {
    const ended = new Set<string>();
    const given = authenticatorOf(async () => `s=${ended.size + 1}`, {
      endsUnsaid: true,
      get isExpired() {
        return ended.has("now");
      },
    });
    return { ...given, end: () => ended.add("now"), begin: () => ended.delete("now") };
  };

  it("is not sent: the request gets another one, also where it is the first", async () => {
    const { authenticator, end } = ending();
    const first = await authenticator.authorize();

    end();

    expect(first.isCurrent).toBe(false);
  });

  it("does not count what is answered after its end, of any request", async () => {
    const { authenticator, end, begin } = ending();
    const trial = await authenticator.authorize();
    end();
    const again = trial.settle(response(200));
    begin();
    const renewed = await again;

    expect(renewed).toBeDefined();
  });

  it.each([429, 503])("leaves an answer that says nothing to its own rules (%i)", async (status) => {
    const { authenticator, end } = ending();
    accept(await authenticator.authorize());
    const request = await authenticator.authorize();

    end();

    expect(request.settle(response(status))).toBeUndefined();
  });

  it("that ends before each first request is renewed three times in a row at most", async () => {
    const { authenticator, end } = ending();
    end();

    let last: unknown;
    for (let n = 0; n < 10 && last === undefined; n += 1) {
      const outcome = await authenticator.authorize().catch((error: unknown) => ({ error }));
      if ("error" in outcome) last = [n, outcome.error];
      else release(outcome);
    }

    expect(last).toMatchObject([3, { code: "UNAUTHENTICATED" }]);
  });
});

describe("the cookies of an answer", () => {
  it.each([
    ...IN_OTHER_WORDS.map(([what, { status, headers }]) => [what, status, headers] as const),
    ["401", 401, new Map<string, readonly string[]>()] as const,
  ])("that strangers get are not kept: %s", async (_, status, headers) => {
    const { authenticator } = setUp();
    accept(await authenticator.authorize());
    const [first, second] = await Promise.all([authenticator.authorize(), authenticator.authorize()]);

    const strange = { status, headers: new Map([...headers, ["set-cookie", ["s=stranger"]]]) };
    void first.settle(strange)?.catch(() => undefined);

    expect(cookie(second)).toBe("s=1");
  });

  it("that any other request gets are kept", async () => {
    const { authenticator } = setUp();
    const first = await authenticator.authorize();

    void first.settle(response(404, { "set-cookie": ["s=next"] }));

    expect(cookie(await authenticator.authorize())).toBe("s=next");
  });
});

describe("a proof that is asked about once more after it was accepted, as with HTTP Basic", () => {
  const BASIC: Traits = { pausesMs: { accepted: [1_000] } };

  /** Accepted once, with three requests under way. */
  const inUse = async () => {
    const given = authenticatorOf(async () => ["only"].splice(used++, 1)[0], BASIC);
    let used = 0;
    accept(await given.authenticator.authorize());
    const authorize = () => given.authenticator.authorize();
    const requests = await Promise.all([authorize(), authorize(), authorize()]);
    return { ...given, requests };
  };

  it("is sent again by one request after a second, while all others wait", async () => {
    const { authenticator, requests, slept } = await inUse();

    const [finder, ...others] = requests.map((each) => refuse(each));
    const again = await finder;
    expect(await Promise.all(others.map(state))).toEqual(["waits", "waits"]);
    expect(await state(authenticator.authorize())).toBe("waits");
    if (again) accept(again);

    expect((await Promise.all(others)).map(cookie)).toEqual(["only", "only"]);
    expect(slept).toEqual([1_000]);
  });

  it("is believed after that: a late refusal of a request that was under way says nothing", async () => {
    const { requests, slept } = await inUse();
    const [finder, late] = requests;
    if (finder) accept(await refuse(finder));

    const again = late && (await refuse(late));

    expect(again && cookie(again)).toBe("only");
    expect(slept).toEqual([1_000]);
  });

  it("is asked about again when it is refused later", async () => {
    const { authenticator, slept } = await inUse();

    for (let n = 0; n < 3; n += 1) accept(await refuse(await authenticator.authorize()));

    expect(slept).toEqual([1_000, 1_000, 1_000]);
  });

  it("ends the run when it is refused again, also for the others", async () => {
    const { requests, slept } = await inUse();

    const [finder, ...others] = requests.map((each) => refuse(each));
    const again = await finder;
    const end = again && refuse(again);

    for (const each of [end, ...others])
      await expect(each).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(slept).toEqual([1_000]);
  });

  it("is not asked about if it was never accepted", async () => {
    const { authenticator, slept } = authenticatorOf(async () => (slept.length ? undefined : "only"), BASIC);
    const first = await authenticator.authorize();

    await refuse(first).catch(() => undefined);

    expect(slept).toEqual([]);
  });
});

describe("a login that fails", () => {
  const failing = (errors: unknown[]) => {
    let logins = 0;
    const { authenticator } = authenticatorOf(async () => {
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

  it("in place of a refused session is not repeated by a late refusal of that session", async () => {
    const error = new SyncError("LOGIN_REFUSED", "refused");
    const { authenticator, logins } = failing([undefined, error]);
    accept(await authenticator.authorize());
    const [finder, late] = await Promise.all([authenticator.authorize(), authenticator.authorize()]);

    await expect(refuse(finder)).rejects.toBe(error);

    await expect(refuse(late)).rejects.toBe(error);
    expect(logins()).toBe(2);
  });

  it("that its caller aborted is made by the next waiting request", async () => {
    const { authenticator, logins } = failing([new Error("stop")]);

    const [first, second] = await Promise.allSettled([authenticator.authorize(), authenticator.authorize()]);

    expect([first?.status, second?.status]).toEqual(["rejected", "fulfilled"]);
    expect(logins()).toBe(2);
  });

  it("does not hold a request that is aborted", async () => {
    const abort = new AbortController();
    const { authenticator } = authenticatorOf(() => Promise.withResolvers<string>().promise);
    void authenticator.authorize();
    const waiting = authenticator.authorize(abort.signal);

    abort.abort(new Error("stop"));

    await expect(waiting).rejects.toThrow("stop");
  });
});
