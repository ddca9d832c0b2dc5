import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BadStatus } from "../../../../lambdas/job/service/requests/failure.ts";
import {
  askedWaitMs,
  RetryDelays,
  retryAfterMs,
  retryDelayMs,
  statusClass,
  throttledDelayMs,
} from "../../../../lambdas/job/service/requests/retry.ts";
import { type Fault, type FaultRule, status } from "../../../simulator/faults.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { type Connection, connect, fetchAll } from "../connection.ts";

const NOW = Date.parse("2026-11-21T06:00:00.000Z");

describe("what to do with a status", () => {
  it.each([
    ["read", [200, 201, 204, 299]],
    ["renew", [401]],
    ["retry", [408, 425, 429, 500, 501, 502, 503, 504, 520, 599]],
    ["redirect", [300, 301, 302, 303, 304, 307, 308]],
    ["refused", [400, 402, 403, 404, 405, 406, 409, 410, 418, 422, 451, 600, 999]],
  ])("%s: %j", (expected, statuses) => {
    expect(statuses.map(statusClass)).toEqual(statuses.map(() => expected));
  });
});

describe("the delay before the next attempt", () => {
  it.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [4, 8_000],
    [5, 16_000],
    [6, 30_000],
    [1_000, 30_000],
  ])("after %i failures is anything up to %i ms", (failures, ceilingMs) => {
    const delayFor = (number: number): number =>
      retryDelayMs(failures, { next: () => number, token: () => "" });

    expect(delayFor(0)).toBe(0);
    expect(delayFor(0.5)).toBe(ceilingMs / 2);
    expect(delayFor(1 - Number.EPSILON)).toBe(ceilingMs - 1);
  });

  it("is a whole number from 0 to 30 s, whatever the failures and the dice", () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (failures, number) => {
          const delayMs = retryDelayMs(failures, { next: () => number, token: () => "" });

          return Number.isInteger(delayMs) && delayMs >= 0 && delayMs < 30_000;
        },
      ),
    );
  });
});

describe("the delay after a 429 that does not say how long to wait", () => {
  /** After 1 to 5 failures in a row. */
  const pauses = (windowMs: number, draw: number): readonly number[] =>
    [1, 2, 3, 4, 5].map((failures) =>
      throttledDelayMs(failures, windowMs, { next: () => draw, token: () => "" }),
    );

  it.each([
    { windowMs: 10_000, least: [0, 2_308, 6_924, 16_154, 34_616], half: [500, 3_308, 8_924, 20_154, 42_616] },
    { windowMs: 60_000, least: [0, 2_308, 6_924, 16_154, 34_616], half: [500, 3_308, 8_924, 20_154, 42_616] },
    {
      windowMs: 600_000,
      least: [0, 23_077, 69_231, 161_539, 346_154],
      half: [5_000, 33_077, 89_231, 201_539, 426_154],
    },
  ])("grows from a short one, with a window of $windowMs ms", ({ windowMs, least, half }) => {
    expect(pauses(windowMs, 0)).toEqual(least);
    expect(pauses(windowMs, 0.5)).toEqual(half);
  });

  it("lasts five times in a row a window at least, and up to one and a half, whatever the dice", () => {
    const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 60_000, max: 3_600_000 }),
        fc.array(draw, { minLength: 5 }),
        (windowMs, draws) => {
          const next = (): number => draws.shift() ?? 0;
          const five = [1, 2, 3, 4, 5].map((failures) =>
            throttledDelayMs(failures, windowMs, { next, token: () => "" }),
          );

          const totalMs = five.reduce((sum, ms) => sum + ms);

          expect(totalMs).toBeGreaterThanOrEqual(windowMs);
          expect(totalMs).toBeLessThanOrEqual(1.53 * windowMs);
        },
      ),
    );
  });
});

const DATE = "Sat, 21 Nov 2026 06:00:00 GMT";

describe("Retry-After", () => {
  it.each([
    ["0", undefined, 0],
    ["12", undefined, 12_000],
    [" 12 ", undefined, 12_000],
    ["999999999", undefined, 999_999_999_000],
    ["9".repeat(400), undefined, Number.POSITIVE_INFINITY],
    ["Sat, 21 Nov 2026 06:00:12 GMT", undefined, 12_000],
    ["Saturday, 21-Nov-26 06:00:12 GMT", undefined, 12_000],
    ["Sat Nov 21 06:00:12 2026", undefined, 12_000],
    ["Tue Nov  3 06:00:12 2026", undefined, 0],
    ["Sat, 21 Nov 2026 05:00:00 GMT", undefined, 0],
    ["Sat, 21 Nov 2026 07:00:12 GMT", "Sat, 21 Nov 2026 07:00:00 GMT", 12_000],
    ["Sat, 21 Nov 2026 06:00:12 GMT", DATE, 12_000],
    ["Sat, 21 Nov 2026 06:00:12 GMT", "yesterday", 12_000],
    // A Unix time, in seconds and in milliseconds.
    ["1795240812", undefined, 12_000],
    ["1795240812345", undefined, 12_345],
    ["1795244412", "Sat, 21 Nov 2026 07:00:00 GMT", 12_000],
    ["1795244412345", "Sat, 21 Nov 2026 07:00:00 GMT", 12_345],
    ["1000000000", undefined, 0],
    ["1000000000000", undefined, 0],
    ["", undefined, undefined],
    ["-1", undefined, 0],
    ["1.5", undefined, 1_500],
    ["2.0", undefined, 2_000],
    ["0.0001", undefined, 1],
    ["1795240812.5", undefined, 12_500],
    ["1.", undefined, undefined],
    ["3, 3", undefined, undefined],
    ["5 s", undefined, undefined],
    ["soon", undefined, undefined],
    ["2026-11-21T06:00:12Z", undefined, undefined],
    ["Sat, 21 Nov 2026 06:00:12", undefined, undefined],
    ["Sat, 99 Nov 2026 06:00:12 GMT", undefined, undefined],
  ])("%j with Date %j asks for %s ms", (value, date, expected) => {
    const headers = new Map([
      ["retry-after", [value]],
      ...(date === undefined ? [] : [["date", [date]] as const]),
    ]);

    expect(retryAfterMs(headers, NOW)).toBe(expected);
  });

  it("asks for nothing where it is missing", () => {
    expect(retryAfterMs(new Map(), NOW)).toBeUndefined();
  });

  it.each([[["2", "30"]], [["30", "2"]], [["soon", "30"]]])(
    "that comes as %j asks for the longest",
    (values) => {
      expect(retryAfterMs(new Map([["retry-after", values]]), NOW)).toBe(30_000);
    },
  );
});

describe("the wait that a 429 asks for", () => {
  const asked = (headers: Readonly<Record<string, string | readonly string[]>>, status = 429) =>
    askedWaitMs(
      {
        status,
        headers: new Map(Object.entries(headers).map(([name, value]) => [name, [value].flat()])),
      },
      NOW,
      60_000,
    );

  it.each([
    [{ "ratelimit-reset": "30" }, 30_000],
    [{ "ratelimit-reset": " 30 " }, 30_000],
    [{ "x-ratelimit-reset": "30" }, 30_000],
    [{ "x-rate-limit-reset": "1795240830" }, 30_000],
    [{ "x-ratelimit-reset": "1795240830" }, 30_000],
    [{ "x-ratelimit-reset": "1795240830500" }, 30_500],
    [{ "x-ratelimit-reset": "1795244430", date: "Sat, 21 Nov 2026 07:00:00 GMT" }, 30_000],
    [{ "x-ratelimit-reset": "Sat, 21 Nov 2026 06:00:30 GMT" }, 30_000],
    [{ ratelimit: '"default";r=0;t=30' }, 30_000],
    [{ ratelimit: '"a, b";t=30;r=0' }, 30_000],
    [{ ratelimit: "limit=100, remaining=0, reset=30" }, 30_000],
    // Of several limits those that are used up count, and of these the last one to end.
    [{ ratelimit: '"day";r=900;t=50, "second";r=0;t=1, "minute";r=0;t=30' }, 30_000],
    [{ ratelimit: ['"day";r=900;t=50', '"minute";r=0;t=30'] }, 30_000],
    [{ "ratelimit-reset": "1", "x-ratelimit-reset": "30" }, 30_000],
    // Never beyond the window.
    [{ "ratelimit-reset": "61" }, 60_000],
    [{ "x-ratelimit-reset": "1795327200" }, 60_000],
    [{ "ratelimit-reset": "9".repeat(400) }, 60_000],
    // Retry-After says more.
    [{ "retry-after": "2", "x-ratelimit-reset": "30" }, 2_000],
    [{ "retry-after": "0", "x-ratelimit-reset": "30" }, 0],
    [{ "retry-after": "90" }, 90_000],
    // What has passed, or is no time, says nothing.
    [{ "retry-after": "soon", "x-ratelimit-reset": "30" }, 30_000],
    [{ "ratelimit-reset": "0" }, undefined],
    [{ "x-ratelimit-reset": "1795240799" }, undefined],
    [{ "x-ratelimit-reset": "soon" }, undefined],
    [{ "x-ratelimit-reset": "-30" }, undefined],
    [{ "x-ratelimit-reset": "29.5" }, 29_500],
    [{ ratelimit: "" }, undefined],
    [{ ratelimit: '"default";r=50;t=30' }, undefined],
    [{}, undefined],
  ])("in %j is %s ms", (headers, expected) => {
    expect(asked(headers)).toBe(expected);
  });

  it.each([
    [403, { "retry-after": "30" }, 30_000],
    [503, { "retry-after": "30" }, 30_000],
    [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "30" }, 30_000],
    [404, { "ratelimit-remaining": " 0 ", "ratelimit-reset": "30" }, 30_000],
    [403, { ratelimit: '"default";r=0;t=30' }, 30_000],
    [403, { ratelimit: "limit=100, remaining=0, reset=30" }, 30_000],
    // Something remains, or that is not said.
    [403, { "x-ratelimit-remaining": "5", "x-ratelimit-reset": "30" }, undefined],
    [403, { "x-ratelimit-remaining": "0", "ratelimit-reset": "30" }, undefined],
    [503, { "ratelimit-reset": "30" }, undefined],
    [403, { ratelimit: "limit=100, remaining=7, reset=30" }, undefined],
    [403, { ratelimit: '"default";t=30' }, undefined],
    // What was answered rightly holds nothing back.
    [200, { "retry-after": "soon" }, undefined],
    [200, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "30" }, undefined],
  ])("in a %i with %j, which is no 429, is %s ms", (status, headers, expected) => {
    expect(asked(headers, status)).toBe(expected);
  });

  it.each(["5 s", "3, 3", "soon", "PT3S", "2026-11-21T06:00:12Z", ["", "soon"]])(
    "is a minute where Retry-After is %j: who takes no requests asks for some time, of unknown length",
    (unread) => {
      expect(asked({ "retry-after": unread }, 429)).toBe(60_000);
      expect(asked({ "retry-after": unread }, 503)).toBe(60_000);
      expect(asked({ "retry-after": unread }, 404)).toBeUndefined();
      expect(asked({ "retry-after": unread }, 200)).toBeUndefined();
    },
  );

  it("is not said by an empty Retry-After", () => {
    expect(asked({ "retry-after": " " }, 503)).toBeUndefined();
  });
});

/** Each character is an attempt: "." succeeded, "x" failed. How long the last one waits at most. */
function waitAfter(attempts: string): number {
  const delays = new RetryDelays({ next: () => 1 - Number.EPSILON, token: () => "" }, 60_000);
  let delayMs = 0;
  for (const attempt of attempts) {
    if (attempt === "x") delayMs = delays.after(new BadStatus(500), 1);
    else delays.succeeded();
  }
  return delayMs;
}

describe("the first retry of a request of a service", () => {
  it.each([
    ["whose first request fails", "x", 74],
    ["whose first requests fail", "x".repeat(9), 74],
    ["that answers nothing", "x".repeat(10), 999],
    ["of which 3 % of the requests fail", `${`x${".".repeat(32)}`.repeat(30)}x`, 74],
    ["of which every sixth request fails", `${"x.....".repeat(50)}x`, 74],
    ["of which every fourth request fails", `${"x...".repeat(50)}x`, 999],
    ["that has failed fifty requests ago", `${"x".repeat(40) + ".".repeat(41)}x`, 74],
    ["that began to fail just now", ".".repeat(1_000) + "x".repeat(10), 999],
  ])("%s waits long only where many fail %#", (_, attempts, mostMs) => {
    expect(waitAfter(attempts)).toBe(mostMs);
  });
});

/** The delays before the retries, in order. */
function delaysMs({ log }: Connection): readonly number[] {
  return [...log.text.matchAll(/"delayMs":(\d+)/g)].map(([, delayMs]) => Number(delayMs));
}

async function fetchWith(faults: readonly FaultRule[]): Promise<readonly number[]> {
  await using connection = await connect({ events: makeEvents(20), faults });
  await fetchAll(connection.service, 1);
  return delaysMs(connection);
}

describe("a request that failed alone", () => {
  it.each<readonly [string, Fault]>([
    ["status 500", status(500)],
    ["status 503 without Retry-After", status(503)],
    ["a connection that is reset", { kind: "reset" }],
    ["a body that breaks off", { kind: "reset-mid-body" }],
    ["a page that is no JSON", { kind: "html" }],
  ])("is sent again within 25 to 75 ms: %s", async (_, fault) => {
    const delays = await fetchWith([{ match: { path: "detail", nth: 7 }, fault }]);

    expect(delays).toHaveLength(1);
    expect(delays[0]).toBeGreaterThanOrEqual(25);
    expect(delays[0]).toBeLessThan(75);
  });

  it("is sent again more slowly when it fails again", async () => {
    const delays = await fetchWith([{ match: { path: "list", times: 4 }, fault: status(500) }]);

    expect(delays).toHaveLength(4);
    expect(delays[0]).toBeLessThan(75);
    // Full jitter from 0 to 2, 4 and 8 s.
    expect(Math.max(...delays.slice(1))).toBeGreaterThan(1_000);
  });

  it.each<readonly [string, Fault]>([
    ["status 429", status(429)],
    ["status 429 with Retry-After", status(429, { "retry-after": "3" })],
    ["status 503 with Retry-After", status(503, { "retry-after": "3" })],
  ])("waits as the service asks, and no less: %s", async (_, fault) => {
    const delays = await fetchWith(
      [1, 5, 9].map((nth) => ({ match: { path: "detail", nth, times: 1 }, fault })),
    );

    expect(delays).toHaveLength(3);
    const isAsked = fault.kind === "status" && fault.headers?.["retry-after"] !== undefined;
    expect(Math.max(...delays)).toBeGreaterThan(75);
    if (isAsked) expect(Math.min(...delays)).toBeGreaterThanOrEqual(3_000);
  });
});
