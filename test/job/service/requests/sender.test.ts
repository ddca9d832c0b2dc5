import { describe, expect, it } from "vitest";
import { BadStatus } from "../../../../lambdas/job/service/requests/failure.ts";
import { Sender, type Wait, WaitReporter } from "../../../../lambdas/job/service/requests/sender.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";
import { setUp as budget, NOW } from "../rate-limit/rate-limiter-setup.ts";

const MINUTE = 60_000;
const EVENT = new URL("https://service.example/v1/events/1");
const throttled = expect.objectContaining({ code: "THROTTLED" });

/** A budget without limits, and a sender that is told of answers. */
const sending = (windowMs = MINUTE) => {
  const { clock, rateLimiter } = budget({ windowMs });
  const transport = scriptedTransport(() => undefined);
  const random = { next: () => 0.5, token: () => "token" };
  const sender = new Sender({ transport, rateLimiter, headers: {}, clock, random, logger: new LogLines() });
  const end = new AbortController();
  /** Fails if the answer ends the run; else the request that had it waits. */
  const answered = (status: number, retryAfterMs?: number): Promise<void> => {
    const failure = new BadStatus(status, retryAfterMs);
    const waits = sender.backOff("GET", new URL("https://service.example/v1/events"), failure, 1, end.signal);
    end.abort(new Error("waits"));
    return waits.catch((error: unknown) => {
      if (error !== end.signal.reason) throw error;
    });
  };
  return { clock, rateLimiter, sender, answered };
};

it("compares this computer's clock with the first Date that no cache has kept, once", async () => {
  const { clock, rateLimiter } = budget();
  const date = (agoMs: number): string => new Date(NOW - agoMs).toUTCString();
  const headers = [{}, { date: "today" }, { date: date(60 * MINUTE), age: "0" }, { date: date(11 * MINUTE) }];
  const transport = scriptedTransport((_, nth) => ({ headers: headers[nth - 1] ?? { date: date(0) } }));
  const logger = new LogLines();
  const sender = new Sender({
    ...{ transport, headers: {}, clock, logger, rateLimiter },
    random: { next: () => 0.5, token: () => "token" },
  });
  const warns: boolean[] = [];

  for (let n = 0; n < 5; n += 1) {
    const permit = await sender.admit("detail", undefined);
    await sender.send(permit, { method: "GET", url: EVENT, headers: {}, bodyCapBytes: 100 }, undefined);
    warns.push(sender.clockWarning !== undefined);
  }

  expect(warns).toEqual([false, false, false, true, true]);
  expect(JSON.stringify(logger.lines).match(/and the service's/g)).toHaveLength(1);
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
      Object.assign(wait, { kind: "budget", untilMs: 7 });
      await waits.during({ kind: "retry", untilMs: 1 }, async () => undefined);
    });

    expect(shown).toEqual([{ kind: "retry-after", untilMs: 5 }, { kind: "budget", untilMs: 7 }, undefined]);
  });

  it("is taken back when the wait fails", async () => {
    const { waits, shown } = setUp();

    await expect(
      waits.during({ kind: "retry", untilMs: 1 }, () => Promise.reject(new Error("stop"))),
    ).rejects.toThrow("stop");

    expect(shown).toEqual([{ kind: "retry", untilMs: 1 }, undefined]);
  });
});
