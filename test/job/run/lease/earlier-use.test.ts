import { describe, expect, test } from "vitest";
import { earlierUse } from "../../../../lambdas/job/run/lease/lease-file.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const MINUTE = 60_000;
const LIMITS = { requestsPerMinute: 200, bytesPerMinute: 1_000, windowMs: 10 * MINUTE };
const USE = { atMs: NOW - 3 * MINUTE, requests: 5, bytes: 50 };

/** As a process left it that freed it, or crashed: then it expired 40 seconds ago. */
const leaseWith = (changes: object = {}) => ({
  lease: {
    run_id: null,
    holder: null,
    renewed_at: at(NOW - 100_000),
    expires_at: at(NOW - 40_000),
    use: [USE],
    use_since: at(NOW - 60 * MINUTE),
    ...changes,
  },
});
const crashed = (changes: object = {}) => leaseWith({ run_id: "run-1", holder: { token: "a" }, ...changes });
const at = (ms: number): string => new Date(ms).toISOString();

describe("what earlier holders of a lease used", () => {
  test("is what the lease says, if it was freed", () => {
    expect(earlierUse(leaseWith(), NOW, LIMITS)).toEqual([USE]);
  });

  test.each([
    { windowMs: 10_000, requests: 33, bytes: 166 },
    { windowMs: MINUTE, requests: 200, bytes: 1_000 },
    { windowMs: 10 * MINUTE, requests: 200, bytes: 1_000 },
    { windowMs: 60 * MINUTE, requests: 200, bytes: 1_000 },
  ])(
    "and a minute's budget at the crash, never more than a window of $windowMs ms has",
    ({ windowMs, ...most }) => {
      const crashedAtMs = NOW - 40_000;

      expect(earlierUse(crashed(), NOW, { ...LIMITS, windowMs })).toEqual([
        USE,
        { atMs: crashedAtMs, ...most },
      ]);
    },
  );

  test("counts what was in flight at the last renewal before a crash as late as the crash", () => {
    const crashedAtMs = NOW - 40_000;
    const before = { atMs: crashedAtMs - MINUTE - 1, requests: 16, bytes: 160 };
    const inFlight = { ...before, atMs: crashedAtMs - MINUTE };

    const use = earlierUse(crashed({ use: [before, inFlight] }), NOW, LIMITS);

    expect(use.slice(0, 2)).toEqual([before, { ...inFlight, atMs: crashedAtMs }]);
  });

  test.each([
    { what: "all of a window where nothing is known", sinceMs: NOW, requests: 2_000, bytes: 10_000 },
    { what: "four minutes where six are known", sinceMs: NOW - 6 * MINUTE, requests: 800, bytes: 4_000 },
  ])("is at most $what", ({ sinceMs, requests, bytes }) => {
    const lease = leaseWith({ use: [], use_since: at(sinceMs) });

    expect(earlierUse(lease, NOW, LIMITS)).toEqual([{ atMs: sinceMs, requests, bytes }]);
  });

  test("is all that was allowed before an earlier version wrote the lease, which does not say since when", () => {
    expect(earlierUse(leaseWith({ use_since: undefined }), NOW, LIMITS)).toEqual([
      { atMs: NOW - 100_000, requests: 1_666, bytes: 8_333 },
      USE,
    ]);
  });

  test("is known also by a clock that is behind", () => {
    const lease = leaseWith({ use_since: at(NOW - 100_000 - 10 * MINUTE) });

    expect(earlierUse(lease, NOW - 5 * MINUTE, LIMITS)).toEqual([USE]);
  });

  test("is at most what was allowed in the window of one request, where the one that is set gives none", () => {
    const limits = { ...LIMITS, requestsPerMinute: 1, windowMs: 10_000 };
    const sinceMs = NOW - MINUTE / 2;

    expect(earlierUse(leaseWith({ use: [], use_since: at(sinceMs) }), NOW, limits)).toEqual([
      { atMs: sinceMs, requests: 1, bytes: 500 },
    ]);
  });

  test("is all of a window where the file is damaged", () => {
    expect(earlierUse({ lease: undefined }, NOW, LIMITS)).toEqual([
      { atMs: NOW, requests: 2_000, bytes: 10_000 },
    ]);
  });

  test("is nothing for a new account, and nothing more where limits are not known", () => {
    const unlimited = { ...LIMITS, requestsPerMinute: "unlimited", bytesPerMinute: "unlimited" } as const;

    expect(earlierUse(undefined, NOW, LIMITS)).toEqual([]);
    expect(earlierUse(crashed(), NOW, unlimited).at(-1)).toEqual({
      atMs: NOW - 40_000,
      requests: 0,
      bytes: 0,
    });
  });
});
