import { expect, test } from "vitest";
import { timeLimit } from "../../lambdas/sync/time-limit.ts";

const context = (leftMs: number) => ({ getRemainingTimeInMillis: () => leftMs });

test("the signal aborts as INTERRUPTED ten seconds before the end", async () => {
  using limit = timeLimit(context(10_020));

  expect(limit.signal.aborted).toBe(false);
  await new Promise((resolve) => limit.signal.addEventListener("abort", resolve));

  expect(limit.signal.reason).toMatchObject({ code: "INTERRUPTED", isRetryable: true });
});

test("an invocation that starts within the last ten seconds is aborted at once", async () => {
  using limit = timeLimit(context(9_000));

  await new Promise((resolve) => setTimeout(resolve, 5));

  expect(limit.signal.aborted).toBe(true);
});

test("the time left is Lambda's, and an invocation that has ended is not aborted later", async () => {
  const limit = timeLimit(context(10_010));

  expect(limit.timeLeftMs()).toBe(10_010);
  limit[Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve, 30));

  expect(limit.signal.aborted).toBe(false);
});
