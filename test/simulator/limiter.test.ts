import { describe, expect, test } from "vitest";
import { averaged, Limiter, type Limits, SlidingSum } from "./limiter.ts";

const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");

const retryAfter = (limiter: Limiter, atMs: number, limits: Limits): unknown =>
  limiter.refuse(NOON_MS + atMs, limits)?.headers["retry-after"];

describe("the limit on requests", () => {
  const limits: Limits = { requestsPerWindow: 2, windowMs: 10_000 };

  test("lets in as many as it says in any window, and the next one when the oldest is a window old", () => {
    const limiter = new Limiter();

    const refused = [0, 4_000, 5_000, 9_999, 10_000, 10_001, 13_999, 14_000].filter(
      (atMs) => limiter.refuse(NOON_MS + atMs, limits) !== undefined,
    );

    expect(refused).toEqual([5_000, 9_999, 10_001, 13_999]);
  });

  test.each([
    { atMs: 5_000, seconds: "5" },
    { atMs: 5_001, seconds: "5" },
    { atMs: 9_000, seconds: "1" },
    { atMs: 9_999, seconds: "1" },
  ])("tells at $atMs ms to come back in $seconds s, rounded up", ({ atMs, seconds }) => {
    const limiter = new Limiter();
    limiter.refuse(NOON_MS, limits);
    limiter.refuse(NOON_MS + 4_000, limits);

    expect(retryAfter(limiter, atMs, limits)).toBe(seconds);
  });

  test.each([
    ["http-date", { "retry-after": "Sat, 21 Nov 2026 12:00:11 GMT" }],
    ["unix", { "retry-after": "1795262411" }],
    ["unix-ms", { "retry-after": "1795262410001" }],
    ["ratelimit", { ratelimit: '"default";r=0;t=6' }],
    ["ratelimit-reset", { "ratelimit-reset": "6" }],
    ["x-ratelimit-reset", { "x-ratelimit-reset": "1795262411" }],
  ] as const)("tells it in other ways too, never too early: %s", (how, expected) => {
    const limiter = new Limiter();
    const told: Limits = { ...limits, retryAfter: how };
    limiter.refuse(NOON_MS + 1, told);
    limiter.refuse(NOON_MS + 2, told);

    expect(limiter.refuse(NOON_MS + 5_000, told)?.headers).toMatchObject(expected);
  });

  test("can keep silent about it", () => {
    const limiter = new Limiter();
    const silent: Limits = { requestsPerWindow: 1, retryAfter: "none" };
    limiter.refuse(NOON_MS, silent);

    expect(limiter.refuse(NOON_MS, silent)?.status).toBe(429);
    expect(retryAfter(limiter, 0, silent)).toBeUndefined();
  });

  test("stays true to its word however many are refused in between", () => {
    const limiter = new Limiter();
    limiter.refuse(NOON_MS, limits);
    limiter.refuse(NOON_MS, limits);
    for (let atMs = 1; atMs < 10_000; atMs += 100) limiter.refuse(NOON_MS + atMs, limits);

    expect(limiter.refuse(NOON_MS + 10_000, limits)).toBeUndefined();
  });
});

describe("the limit on bytes", () => {
  const limits: Limits = { bytesPerWindow: 1_000, windowMs: 10_000 };

  test("refuses from the moment on at which they are used up, until enough of them are a window old", () => {
    const limiter = new Limiter();
    limiter.charge(NOON_MS, 300);
    limiter.charge(NOON_MS + 2_000, 699);
    expect(limiter.refuse(NOON_MS + 2_000, limits)).toBeUndefined();

    limiter.charge(NOON_MS + 3_000, 700);

    expect(retryAfter(limiter, 3_000, limits)).toBe("9");
    expect(limiter.refuse(NOON_MS + 11_999, limits)?.status).toBe(429);
    expect(limiter.refuse(NOON_MS + 12_000, limits)).toBeUndefined();
  });
});

describe("limits per minute that are averaged over a window", () => {
  test.each([
    { windowMs: 10_000, requestsPerWindow: 33, bytesPerWindow: 166 },
    { windowMs: 60_000, requestsPerWindow: 200, bytesPerWindow: 1_000 },
    { windowMs: 600_000, requestsPerWindow: 2_000, bytesPerWindow: 10_000 },
  ])("let in $requestsPerWindow requests in any $windowMs ms, at once too", ({ windowMs, ...expected }) => {
    const limits = averaged(windowMs, { requests: 200, bytes: 1_000 });
    const limiter = new Limiter();

    const letIn = Array.from({ length: 3_000 }, () => limiter.refuse(NOON_MS, limits)).filter(
      (refusal) => refusal === undefined,
    );

    expect(limits).toEqual({ ...expected, windowMs, retryAfter: "seconds" });
    expect(letIn).toHaveLength(expected.requestsPerWindow);
    expect(retryAfter(limiter, 4_000, limits)).toBe(String(windowMs / 1_000 - 4));
    expect(limiter.refuse(NOON_MS + windowMs - 1, limits)?.status).toBe(429);
    expect(limiter.refuse(NOON_MS + windowMs, limits)).toBeUndefined();
  });

  test("can refuse for minutes without saying for how long", () => {
    const limits = averaged(600_000, { requests: 1 }, "none");
    const limiter = new Limiter();
    for (let n = 0; n < 10; n += 1) limiter.refuse(NOON_MS, limits);

    expect(retryAfter(limiter, 1, limits)).toBeUndefined();
    expect(limiter.refuse(NOON_MS + 599_999, limits)?.status).toBe(429);
  });
});

test("without limits everything is let in", () => {
  const limiter = new Limiter();
  limiter.charge(NOON_MS, 1e12);

  expect(limiter.refuse(NOON_MS, {})).toBeUndefined();
});

describe("a sliding sum", () => {
  test("holds what is less than a window old, over thousands of amounts too", () => {
    const sum = new SlidingSum();
    for (let atMs = 0; atMs < 10_000; atMs += 1) {
      sum.add(atMs, 2);
      sum.at(atMs, 50);
    }

    expect(sum.at(9_999, 50)).toBe(100);
    expect(sum.below(41, 9_999, 50)).toBe(10_029);
    expect(sum.at(10_048, 50)).toBe(2);
    expect(sum.at(10_049, 50)).toBe(0);
  });

  test("says so when a limit can never be met", () => {
    expect(() => new SlidingSum().below(0, 0, 50)).toThrow("lets nothing in, ever");
  });
});
