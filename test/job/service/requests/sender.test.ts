import { describe, expect, it } from "vitest";
import {
  type HttpResponse,
  NoResponse,
  type Transport,
} from "../../../../lambdas/job/service/http/transport.ts";
import type { RateLimiterOptions } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { BadStatus, type Failure } from "../../../../lambdas/job/service/requests/failure.ts";
import { Sender, type Wait, WaitReporter } from "../../../../lambdas/job/service/requests/sender.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { errorOf } from "../connection.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";
import { setUp as budget, NOW, settled } from "../rate-limit/rate-limiter-setup.ts";

const MINUTE = 60_000;
const EVENT = new URL("https://service.example/v1/events/1");
const throttled = expect.objectContaining({ code: "THROTTLED" });

const random = { next: () => 0.5, token: () => "token" };

/** A sender on a clock that stands still, and what it says of its waits. */
const sendingWith = (
  transport: Pick<Transport, "send">,
  {
    limits = {},
    ...options
  }: { limits?: Partial<RateLimiterOptions>; isClockRight?: boolean; keepTryingUntilMs?: number } = {},
) => {
  const { clock, rateLimiter } = budget(limits);
  const logger = new LogLines();
  const waits: (Wait | undefined)[] = [];
  const sender = new Sender({
    ...{ clock, rateLimiter, logger, random, headers: {}, ...options },
    transport: { ...transport, close: async () => undefined },
    onWait: (wait) => waits.push(wait),
  });
  const request = async (): Promise<HttpResponse> => {
    const permit = await sender.admit("detail", undefined);
    return sender.send(permit, { method: "GET", url: EVENT, headers: {}, bodyCapBytes: 100 }, undefined);
  };
  const end = new AbortController();
  /** Fails if the failure ends the run; else the request that had it waits. */
  const failed = (failure: Failure): Promise<void> => {
    const back = sender.backOff("GET", new URL("https://service.example/v1/events"), failure, 1, end.signal);
    end.abort(new Error("waits"));
    return back.catch((error: unknown) => {
      if (error !== end.signal.reason) throw error;
    });
  };
  return { clock, rateLimiter, logger, waits, sender, request, failed };
};

/** A budget without limits, and a sender that is told of answers. */
const sending = (windowMs = MINUTE) => {
  const { failed, ...made } = sendingWith(scriptedTransport(), { limits: { windowMs } });
  const answered = (status: number, retryAfterMs?: number): Promise<void> =>
    failed(new BadStatus(status, retryAfterMs));
  return { ...made, answered };
};

describe("the clocks of this computer and of the service", () => {
  const date = (agoMs: number): string => new Date(NOW - agoMs).toUTCString();
  const off = { date: date(11 * MINUTE) };
  const offByAnHour = { date: date(60 * MINUTE) };

  it.each<[string, boolean, readonly Record<string, string>[], readonly boolean[]]>([
    [
      "by the first Date that no cache has kept",
      false,
      [{}, { date: "today" }, { ...offByAnHour, age: "0" }, off, offByAnHour],
      [false, false, false, true, true],
    ],
    ["once, and may differ by ten minutes", false, [{ date: date(10 * MINUTE) }, off], [false, false]],
    ["not where they need not be", true, [off], [false]],
  ])("are compared %s", async (_, isClockRight, headers, warns) => {
    const transport = scriptedTransport((_name, nth) => ({ headers: headers[nth - 1] ?? {} }));
    const { sender, request, logger } = sendingWith(transport, { isClockRight });
    const warned: boolean[] = [];

    for (const _ of headers) {
      await request();
      warned.push(sender.clockWarning !== undefined);
    }

    const warning =
      "This computer's clock shows 1970-01-12T13:46:40.000Z, and the service's 1970-01-12T13:35:40.000Z. Set the one that is wrong.";
    expect(warned).toEqual(warns);
    expect(logger.lines.filter((line) => line.startsWith("warn"))).toEqual(
      warns.includes(true) ? [expect.stringContaining(warning)] : [],
    );
  });
});

describe("permission to send a request", () => {
  it("is not given once the signal has aborted", async () => {
    const { sender, rateLimiter } = sending();

    await expect(sender.admit("detail", AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
    expect(rateLimiter.usage()).toEqual([]);
  });

  it("is waited for, which says what for and until when", async () => {
    const { clock, rateLimiter, sender, waits } = sending();
    rateLimiter.pause(5_000, true);

    const waiting = sender.admit("detail", undefined);
    clock.advance(5_000);
    await waiting;

    expect(waits).toEqual([{ kind: "retry-after", untilMs: NOW + 5_000 }, undefined]);
  });

  it("is given back where the answer that makes room asks for a pause", async () => {
    const limits = { requestsPerMinute: 1, share: 1 };
    const { clock, rateLimiter, sender } = sendingWith(scriptedTransport(), { limits });
    const first = await sender.admit("detail", undefined);
    let isGiven = false;
    const second = sender.admit("detail", undefined).then(() => {
      isGiven = true;
    });

    first.cancel();
    sender.holdBack(MINUTE, 503, true);
    await settled();

    expect([isGiven, rateLimiter.usage()]).toEqual([false, []]);
    clock.advance(MINUTE);
    await second;
  });
});

describe("a request", () => {
  const body = (decodedBytes: number, kind: "whole" | "broken" = "whole", status = 200): HttpResponse => ({
    ...{ status, headers: new Map(), decodedBytes },
    body: kind === "whole" ? { kind, bytes: new Uint8Array() } : { kind, cause: "CUT" },
  });

  it("counts with its bytes: of a body that broke off at least as many as were expected", async () => {
    const answers = [body(20), body(5, "broken"), body(30, "broken"), body(5), body(3, "whole", 429)];
    const { sender, request } = sendingWith({ send: async () => answers.shift() ?? body(0) });

    for (let n = 0; n < 5; n += 1) await request();

    expect({ ...sender.counts }).toEqual({
      ...{ requests: 5, retries: 0, throttled: 1, logins: 0 },
      bytes: 20 + 20 + 30 + 5 + 3,
    });
  });

  it("says that nothing was answered yet, until the first answer", async () => {
    const { request, waits } = sendingWith(scriptedTransport());

    await request();
    await request();

    const { origin } = EVENT;
    expect(waits).toEqual([{ kind: "silent", untilMs: Number.POSITIVE_INFINITY, origin }, undefined]);
  });

  it.each([
    [{ status: 503 }, 2],
    [{ status: 503, headers: { "retry-after": "0" } }, 0],
  ])(
    "that is answered with %j, after others, slows all down unless that says when to go on",
    async (answer, ms) => {
      const { rateLimiter, request } = sendingWith(
        scriptedTransport((_, nth) => (nth === 1 ? undefined : answer)),
      );

      await request();
      await request();

      expect(rateLimiter.waitMs(1)).toBe(ms);
    },
  );

  it.each<[string, Failure, Partial<Wait>, number]>([
    ["status 500", new BadStatus(500), { kind: "retry", untilMs: NOW + 50 }, 0],
    [
      "status 500 that asks to wait",
      new BadStatus(500, 3_000),
      { kind: "retry-after", untilMs: NOW + 3_000 },
      3_000,
    ],
    ["status 429", new BadStatus(429), { kind: "throttled", untilMs: NOW + 500 }, 500],
    ["a wait of 0", new BadStatus(429, 0), { kind: "throttled", untilMs: NOW + 500 }, 500],
    ["no response", new NoResponse("ECONNRESET"), { kind: "retry", untilMs: NOW + 50 }, 0],
  ])(
    "that failed with %s waits, and others only where the service has no room",
    async (_, failure, wait, ms) => {
      const { rateLimiter, failed, waits } = sendingWith(scriptedTransport());

      await failed(failure);

      expect(waits[0]).toEqual(wait);
      expect(rateLimiter.pausedMs).toBe(ms);
    },
  );

  it("that failed alone waits for moments, however many failed long ago", async () => {
    const { sender, answered, waits } = sending();

    for (let n = 0; n < 9; n += 1) await answered(500);
    for (let n = 0; n < 50; n += 1) sender.succeeded();
    await answered(500);

    expect(waits.at(-2)).toEqual({ kind: "retry", untilMs: NOW + 50 });
  });

  it.each([
    [new BadStatus(503, 5_000), "retry-after", 5_000],
    [new BadStatus(503), "budget", 0],
  ] as const)(
    "that is not repeated holds the others back where the service asks for it %#",
    async (failure, by, ms) => {
      const { sender, rateLimiter } = sendingWith(scriptedTransport(), { keepTryingUntilMs: NOW + MINUTE });

      const error = await errorOf(sender.backOff("GET", EVENT, failure, 1, undefined, true));

      expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE", fields: { attempts: 1 } });
      expect([rateLimiter.heldBackBy, rateLimiter.pausedMs]).toEqual([by, ms]);
    },
  );
});

describe("a wait that the service asks for", () => {
  it("of 15 minutes is a pause; a longer one ends the run, for all later requests too", async () => {
    const { clock, rateLimiter, sender, answered } = sending();

    await answered(429, 15 * MINUTE);
    expect(rateLimiter.pausedMs).toBe(15 * MINUTE);
    await expect(answered(429, 15 * MINUTE + 1)).rejects.toMatchObject({
      code: "THROTTLED",
      message: expect.stringContaining("(status 429) longer than the 15 minutes"),
      fields: { status: 429, seconds: 901 },
    });
    expect(rateLimiter.pausedMs).toBe(15 * MINUTE);
    clock.advance(60 * MINUTE);

    await expect(sender.admit("detail", undefined)).rejects.toEqual(throttled);
  });

  it("ends the run for a request, too, that waits for a pause before it", async () => {
    const { clock, rateLimiter, sender, answered } = sending();
    await answered(429, MINUTE);
    const waiting = sender.admit("detail", undefined);

    await expect(answered(503, 16 * MINUTE)).rejects.toEqual(throttled);
    clock.advance(MINUTE);

    await expect(waiting).rejects.toEqual(throttled);
    expect(rateLimiter.usage()).toEqual([]);
  });

  it("may be as long as the window of the limits, if that is longer than 15 minutes", async () => {
    await sending(60 * MINUTE).answered(429, 60 * MINUTE);

    await expect(sending(60 * MINUTE).answered(429, 60 * MINUTE + 1)).rejects.toThrow(
      "longer than the 60 minutes",
    );
  });

  it("without end ends the run", async () => {
    await expect(sending().answered(503, Number.POSITIVE_INFINITY)).rejects.toEqual(throttled);
  });

  it("adds up while nothing succeeds, counting overlaps once", async () => {
    const { clock, answered } = sending();

    for (let n = 0; n < 64; n += 1) await answered(429, 8 * MINUTE);
    clock.advance(8 * MINUTE);
    await answered(429, 7 * MINUTE);
    clock.advance(7 * MINUTE);

    await expect(answered(429, 1)).rejects.toEqual(throttled);
  });

  it("adds up no pause that is not asked for", async () => {
    const { clock, rateLimiter, answered } = sending(60 * MINUTE);

    for (let n = 0; n < 100; n += 1) {
      await answered(429);
      expect(rateLimiter.heldBackBy).toBe("throttled");
      clock.advance(rateLimiter.pausedMs);
    }
    await answered(429, 60 * MINUTE);

    expect(rateLimiter.heldBackBy).toBe("retry-after");
    clock.advance(60 * MINUTE);
    await expect(answered(429, 1)).rejects.toEqual(throttled);
  });

  it("restarts its total after a success", async () => {
    const { clock, sender, answered } = sending();

    for (let n = 0; n < 10; n += 1) {
      await answered(429, 8 * MINUTE);
      clock.advance(8 * MINUTE);
      sender.succeeded();
    }

    expect(sender.successes).toBe(10);
    await expect(sender.admit("detail", undefined)).resolves.toBeDefined();
  });
});

const SERVICE = "https://service.example";

const setUp = () => {
  const shown: (Wait | undefined)[] = [];
  return { waits: new WaitReporter((wait) => shown.push(wait)), shown };
};

describe("the reason for waiting", () => {
  it("is shown when a wait begins, and removed when none is left", async () => {
    const { waits, shown } = setUp();

    await waits.during({ kind: "budget", untilMs: 5_000 }, async () => undefined);

    expect(shown).toEqual([{ kind: "budget", untilMs: 5_000 }, undefined]);
  });

  it("is nothing while a request is under way", async () => {
    const { waits, shown } = setUp();

    waits.answered();
    waits.requestBegins(SERVICE);
    await waits.during({ kind: "retry", untilMs: 5_000 }, async () => undefined);
    waits.requestEnds();

    expect(shown).toEqual([]);
  });

  it("is the server that has answered nothing, until it does", async () => {
    const { waits, shown } = setUp();
    const silent = { kind: "silent", untilMs: Number.POSITIVE_INFINITY, origin: SERVICE };

    waits.requestBegins(SERVICE);
    waits.requestEnds();
    await waits.during({ kind: "retry", untilMs: 5_000 }, async () => undefined);
    waits.requestBegins(SERVICE);
    waits.requestBegins(SERVICE);
    waits.answered();
    waits.requestEnds();
    waits.requestBegins(SERVICE);

    expect(shown).toEqual([
      silent,
      undefined,
      { kind: "retry", untilMs: 5_000 },
      undefined,
      silent,
      undefined,
    ]);
  });

  it("is shown when the last request that was under way is answered", async () => {
    const { waits, shown } = setUp();
    const waited = Promise.withResolvers<void>();

    waits.answered();
    waits.requestBegins(SERVICE);
    const wait = waits.during({ kind: "budget", untilMs: 5_000 }, () => waited.promise);
    expect(shown).toEqual([]);
    waits.requestEnds();
    expect(shown).toEqual([{ kind: "budget", untilMs: 5_000 }]);
    waited.resolve();
    await wait;

    expect(shown).toEqual([{ kind: "budget", untilMs: 5_000 }, undefined]);
  });

  it("is the service's request before the budget before a retry, and of one kind the first to end", async () => {
    const { waits, shown } = setUp();
    const nested = (): Promise<void> =>
      waits.during({ kind: "retry", untilMs: 1 }, () =>
        waits.during({ kind: "budget", untilMs: 2 }, () =>
          waits.during({ kind: "retry-after", untilMs: 9 }, () =>
            waits.during({ kind: "retry-after", untilMs: 8 }, async () => undefined),
          ),
        ),
      );

    await nested();

    expect(shown).toEqual([
      { kind: "retry", untilMs: 1 },
      { kind: "budget", untilMs: 2 },
      { kind: "retry-after", untilMs: 9 },
      { kind: "retry-after", untilMs: 8 },
      { kind: "retry-after", untilMs: 9 },
      { kind: "budget", untilMs: 2 },
      { kind: "retry", untilMs: 1 },
      undefined,
    ]);
  });

  it("may change while the wait lasts", async () => {
    const { waits, shown } = setUp();
    const wait = { kind: "retry-after" as Wait["kind"], untilMs: 5 };

    await waits.during(wait, async () => {
      for (const change of [{ kind: "budget" }, { untilMs: 7 }]) {
        Object.assign(wait, change);
        await waits.during({ kind: "retry", untilMs: 1 }, async () => undefined);
      }
    });

    expect(shown).toEqual([
      { kind: "retry-after", untilMs: 5 },
      { kind: "budget", untilMs: 5 },
      { kind: "budget", untilMs: 7 },
      undefined,
    ]);
  });

  it("is taken back when the wait fails", async () => {
    const { waits, shown } = setUp();

    await expect(
      waits.during({ kind: "retry", untilMs: 1 }, () => Promise.reject(new Error("stop"))),
    ).rejects.toThrow("stop");

    expect(shown).toEqual([{ kind: "retry", untilMs: 1 }, undefined]);
  });
});
