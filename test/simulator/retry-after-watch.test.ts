import { expect, test } from "vitest";
import { RetryAfterWatch } from "./retry-after-watch.ts";

const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");

test.each([
  { value: "7", lasts: [NOON_MS, NOON_MS + 6_999], over: NOON_MS + 7_000 },
  { value: "Sat, 21 Nov 2026 12:00:09 GMT", lasts: [NOON_MS, NOON_MS + 8_999], over: NOON_MS + 9_000 },
  { value: "1795262409", lasts: [NOON_MS, NOON_MS + 8_999], over: NOON_MS + 9_000 },
  { value: "1795262409001", lasts: [NOON_MS, NOON_MS + 9_000], over: NOON_MS + 9_001 },
])("Retry-After: $value binds from when it was sent until its end", async ({ value, lasts, over }) => {
  const watch = new RetryAfterWatch();

  await watch.sent({ "retry-after": value }, NOON_MS);

  expect(lasts.map((atMs) => watch.lasts(atMs))).toEqual([true, true]);
  expect(watch.lasts(over)).toBe(false);
});

test("the longest of several binds, whichever was sent last", async () => {
  const watch = new RetryAfterWatch();

  await watch.sent({ "retry-after": "10" }, NOON_MS);
  await watch.sent({ "retry-after": "2" }, NOON_MS);

  expect(watch.lasts(NOON_MS + 9_999)).toBe(true);
});

test.each([{}, { "retry-after": "soon" }])("%j binds no client", async (headers) => {
  const watch = new RetryAfterWatch();

  await watch.sent(headers, NOON_MS);

  expect(watch.lasts(NOON_MS)).toBe(false);
});
