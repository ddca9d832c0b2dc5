import { expect, test } from "vitest";
import { timeKept, timeLimit } from "../../lambdas/sync/handle-request.ts";

const context = (leftMs: number) => ({ getRemainingTimeInMillis: () => leftMs });

test("the signal aborts as INTERRUPTED before the end", async () => {
  using limit = timeLimit(context(40));

  expect(limit.signal.aborted).toBe(false);
  await new Promise((resolve) => limit.signal.addEventListener("abort", resolve));

  expect(limit.signal.reason).toMatchObject({ code: "INTERRUPTED", isRetryable: true });
});

test.each([
  { limitMs: 900_000, reserveMs: 30_000, closingMs: 10_000 },
  { limitMs: 20_000, reserveMs: 10_000, closingMs: 5_000 },
])("of $limitMs ms no unit begins in the last $reserveMs, and none works in the last $closingMs", (one) => {
  const { limitMs, ...kept } = one;

  expect(timeKept(limitMs)).toEqual(kept);
});

test("the time left is Lambda's, and an invocation that has ended is not aborted later", async () => {
  const limit = timeLimit(context(20));

  expect(limit.timeLeftMs()).toBe(20);
  limit[Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve, 30));

  expect(limit.signal.aborted).toBe(false);
});
