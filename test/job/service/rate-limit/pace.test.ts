// A service that answers some requests with 503, because they come too fast, and others rightly.

import { describe, expect, test } from "vitest";
import { settled, setUp } from "./rate-limiter-setup.ts";

/** So many requests, one every `everyMs`, each with an answer at once; the last one with a 503. */
function slowedAfter(requests: number, everyMs: number): ReturnType<typeof setUp> {
  const limited = setUp();
  const { clock, rateLimiter } = limited;
  for (let n = 1; n <= requests; n += 1) {
    rateLimiter.tryAcquire("detail")?.settle(1);
    clock.advance(everyMs);
    rateLimiter.noteStatus(n === requests ? 503 : 200, clock.monotonicMs());
  }
  return limited;
}

describe("a 503 beside answers", () => {
  test("is none beside errors of 400 and more", () => {
    const { clock, rateLimiter } = setUp();
    for (const status of [400, 404, 503]) {
      rateLimiter.tryAcquire("detail")?.settle(1);
      clock.advance(10);
      rateLimiter.noteStatus(status, clock.monotonicMs());
    }

    expect(rateLimiter.waitMs(1)).toBe(0);
  });

  test("halves the rate at once", () => {
    const { clock, rateLimiter } = slowedAfter(20, 10);

    expect(rateLimiter.waitMs(1)).toBe(20);
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
    clock.advance(20);
    rateLimiter.tryAcquire("detail")?.cancel();
    expect(rateLimiter.waitMs(1)).toBe(20);
  });

  test("lets requests through in order, one after each pause", async () => {
    const { clock, rateLimiter } = slowedAfter(20, 10);
    const order: number[] = [];
    for (const n of [1, 2]) void rateLimiter.acquire("detail").then(() => order.push(n));

    clock.advance(19);
    await settled();
    expect(order).toEqual([]);
    clock.advance(1);
    await settled();
    expect(order).toEqual([1]);
    clock.advance(20);
    await settled();
    expect(order).toEqual([1, 2]);
  });

  test("halves it again where it comes after an answer to what was sent since", () => {
    const { clock, rateLimiter } = slowedAfter(20, 10);
    clock.advance(30);
    rateLimiter.noteStatus(200, clock.monotonicMs());
    rateLimiter.noteStatus(503, clock.monotonicMs());

    expect(rateLimiter.waitMs(1)).toBeCloseTo(2 * (20 / 1.05), 0);
  });

  test.each([
    ["of a request that was sent before", -5, true],
    ["where none was answered since, because the service is down", 5, false],
  ])("does not halve it again %s", (_, sentMs, isAnswered) => {
    const { clock, rateLimiter } = slowedAfter(20, 10);
    const sentAtMs = clock.monotonicMs() + sentMs;
    clock.advance(30);
    if (isAnswered) rateLimiter.noteStatus(200, clock.monotonicMs());

    rateLimiter.noteStatus(503, sentAtMs);

    expect(rateLimiter.waitMs(1)).toBe(0);
  });

  test.each([
    ["that is the first response", 1],
    ["of a service that answers with other errors only", 500],
  ])("says nothing of the rate if it is one %s", (_, status) => {
    const { clock, rateLimiter } = setUp();
    if (status === 500) rateLimiter.noteStatus(status, clock.monotonicMs());

    rateLimiter.noteStatus(503, clock.monotonicMs());

    expect(rateLimiter.waitMs(1)).toBe(0);
  });

  test("is forgotten after so many answers that the rate is a thousand a second again", () => {
    const { clock, rateLimiter } = slowedAfter(20, 10);
    let answers = 0;
    for (; answers < 1_000; answers += 1) {
      clock.advance(20);
      rateLimiter.tryAcquire("detail")?.settle(1);
      if (rateLimiter.waitMs(1) === 0) break;
      rateLimiter.noteStatus(200, clock.monotonicMs());
    }

    expect(answers).toBe(62);
  });
});
