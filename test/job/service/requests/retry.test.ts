import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BadStatus } from "../../../../lambdas/job/service/requests/failure.ts";
import {
  RetryDelays,
  retryAfterMs,
  retryDelayMs,
  statusClass,
  throttledDelayMs,
} from "../../../../lambdas/job/service/requests/retry.ts";

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
  const ceilings = (windowMs: number): readonly number[] =>
    [1, 2, 3, 4, 5].map(
      (failures) => 1 + throttledDelayMs(failures, windowMs, { next: () => 1 - 1e-12, token: () => "" }),
    );

  it.each([
    { windowMs: 10_000, expected: [1_000, 2_000, 4_000, 8_000, 16_000] },
    { windowMs: 60_000, expected: [1_000, 2_000, 4_000, 8_000, 16_000] },
    { windowMs: 600_000, expected: [19_000, 38_000, 76_000, 152_000, 304_000] },
    { windowMs: 3_600_000, expected: [28_000, 56_000, 112_000, 224_000, 448_000] },
  ])("grows with a window of $windowMs ms", ({ windowMs, expected }) => {
    expect(ceilings(windowMs)).toEqual(expected);
  });

  it("lasts about a window in all, and never more than 15 minutes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 60_000, max: 3_600_000 }), (windowMs) => {
        const most = ceilings(windowMs).reduce((sum, ms) => sum + ms);

        expect(most).toBeLessThanOrEqual(15 * 60_000);
        expect(most).toBeGreaterThanOrEqual(Math.min(windowMs, 14 * 60_000) * 0.5);
      }),
    );
  });
});

describe("Retry-After", () => {
  const DATE = "Sat, 21 Nov 2026 06:00:00 GMT";
  it.each([
    ["0", undefined, 0],
    ["12", undefined, 12_000],
    [" 12 ", undefined, 12_000],
    ["9".repeat(400), undefined, Number.POSITIVE_INFINITY],
    ["Sat, 21 Nov 2026 06:00:12 GMT", undefined, 12_000],
    ["Saturday, 21-Nov-26 06:00:12 GMT", undefined, 12_000],
    ["Sat Nov 21 06:00:12 2026", undefined, 12_000],
    ["Tue Nov  3 06:00:12 2026", undefined, 0],
    ["Sat, 21 Nov 2026 05:00:00 GMT", undefined, 0],
    ["Sat, 21 Nov 2026 07:00:12 GMT", "Sat, 21 Nov 2026 07:00:00 GMT", 12_000],
    ["Sat, 21 Nov 2026 06:00:12 GMT", DATE, 12_000],
    ["Sat, 21 Nov 2026 06:00:12 GMT", "yesterday", 12_000],
    ["", undefined, undefined],
    ["-1", undefined, undefined],
    ["1.5", undefined, undefined],
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
