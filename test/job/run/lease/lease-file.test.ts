// What a lease says, as it is written and as it is read: who has it, and until when.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  earlierUse,
  encodeLease,
  executionOf,
  expiryMs,
  heldLease,
  type LeaseFile,
  laterBy,
  readLease,
} from "../../../../lambdas/job/run/lease/lease-file.ts";
import type { Usage } from "../../../../lambdas/job/service/rate-limit/usage-window.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { uk } from "../../storage/publications.ts";
import { KEY } from "./lease-world.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const USE = [{ atMs: NOW_MS, requests: 7, bytes: 70 }];
/** As it is written at an instant. */
function useOf(use: readonly Usage[], windowMs: number, nowMs: number): readonly Usage[] {
  const bytes = encodeLease({ run_id: null, holder: null, use, windowMs }, nowMs);
  return JSON.parse(new TextDecoder().decode(bytes)).use;
}

function total(use: readonly Usage[]): Omit<Usage, "atMs"> {
  const sum = (part: "requests" | "bytes"): number => use.reduce((all, each) => all + each[part], 0);
  return { requests: sum("requests"), bytes: sum("bytes") };
}

const ARN = "arn:aws:states:eu-west-1:123456789012:execution:sync:one";

/** Held by a process until a minute from now. */
const aLease = (over: Partial<LeaseFile> = {}): LeaseFile => ({
  run_id: "run-1",
  holder: { token: "a" },
  renewed_at: "2026-01-01T00:00:00.000Z",
  expires_at: "2026-01-01T00:01:00.000Z",
  use: [],
  use_since: "2025-12-31T23:00:00.000Z",
  ...over,
});

describe("a lease is written", () => {
  const dates = { renewed_at: "2026-01-01T00:00:00.000Z", use: USE, use_since: "2025-12-31T23:59:00.000Z" };

  test.each([
    [
      "for a process, for a minute",
      { run_id: "run-1", holder: { token: "a" } },
      { expires_at: "2026-01-01T00:01:00.000Z" },
    ],
    ["as free, from now on", { run_id: null, holder: null }, { expires_at: "2026-01-01T00:00:00.000Z" }],
    [
      "for an execution, without an end and with the number of its hand-over",
      { run_id: "run-1", holder: null, execution: ARN, handed_over: { run_id: "run-1", n: 2 } },
      { expires_at: null },
    ],
    [
      "with the last start by hand",
      { run_id: "run-2", holder: { token: "a" }, started: { request_id: "request-1", run_id: "run-1" } },
      { expires_at: "2026-01-01T00:01:00.000Z" },
    ],
  ])("%s", async (_, facts, end) => {
    const lease: unknown = JSON.parse(
      new TextDecoder().decode(encodeLease({ ...facts, use: USE, windowMs: 60_000 }, NOW_MS)),
    );

    expect(lease).toStrictEqual({ ...facts, ...dates, ...end });
  });

  test("as one line, and is read back", async () => {
    const store = new MemoryStore();
    const facts = { run_id: "run-1", holder: { token: "a" }, use: [], windowMs: 3_600_000 };
    const version = await store.create(KEY, encodeLease(facts, NOW_MS));

    expect(store.text(KEY)).toBe(
      '{"run_id":"run-1","holder":{"token":"a"},"renewed_at":"2026-01-01T00:00:00.000Z","expires_at":"2026-01-01T00:01:00.000Z","use":[],"use_since":"2025-12-31T23:00:00.000Z"}\n',
    );
    expect(await readLease(uk(store))).toEqual({ version, lease: aLease() });
  });
});

describe("the use of the budget in a lease", () => {
  const LENGTHS = [10_000, 60_000, 600_000, 3_600_000];
  const anyUse = fc.record({
    windowMs: fc.constantFrom(...LENGTHS),
    nowMs: fc.integer({ min: NOW_MS, max: NOW_MS + 3_600_000 }),
    parts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 200 }),
  });

  test("is what was used in the window, and no more", () => {
    const use = [-60_001, -60_000, -1].map((ms) => ({ atMs: NOW_MS + ms, requests: 1, bytes: 9 }));

    expect(useOf(use, 60_000, NOW_MS)).toEqual(use.slice(1));
  });

  test("is in six entries at most, each at most a fifth of the window too late, and none too early", () => {
    fc.assert(
      fc.property(anyUse, ({ windowMs, nowMs, parts }) => {
        const use = parts.map((part) => ({
          atMs: nowMs - Math.floor(part * windowMs),
          requests: 1,
          bytes: Math.floor(part * 100),
        }));
        const entries = useOf(use, windowMs, nowMs);

        const since = (all: readonly Usage[], ms: number): readonly Usage[] =>
          all.filter(({ atMs }) => atMs >= ms);
        expect(entries.length).toBeLessThanOrEqual(6);
        expect(total(entries)).toEqual(total(use));
        for (const { atMs } of [...use, ...entries]) {
          expect(total(since(entries, atMs)).requests).toBeGreaterThanOrEqual(
            total(since(use, atMs)).requests,
          );
          const earlier = since(use, atMs - windowMs / 5 - 1);
          expect(total(since(entries, atMs)).requests).toBeLessThanOrEqual(total(earlier).requests);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("is handed on as it is by any number of starts, until it is older than the window", () => {
    fc.assert(
      fc.property(anyUse, fc.nat(5_000), ({ windowMs, nowMs, parts }, laterMs) => {
        const use = parts.map((part) => ({
          atMs: nowMs - Math.floor(part * windowMs),
          requests: 1,
          bytes: 1,
        }));
        const entries = useOf(use, windowMs, nowMs);

        const handedOn = useOf(entries, windowMs, nowMs + laterMs);

        expect(handedOn).toEqual(entries.filter(({ atMs }) => atMs >= nowMs + laterMs - windowMs));
      }),
      { numRuns: 60 },
    );
  });
});

describe("a lease that is read", () => {
  test("is none where there is no file", async () => {
    expect(await readLease(accountStore(new MemoryStore(), "uk"))).toBeUndefined();
  });

  test("says nothing where its file is damaged, but can be replaced", async () => {
    const store = new MemoryStore();
    store.put(KEY, "damaged");
    const version = (await store.read(KEY))?.version;

    expect(await readLease(uk(store))).toEqual({ version, lease: undefined });
  });

  test.each([
    ["has it without an end", { expires_at: null, execution: ARN }, ARN],
    ["does not have it where it has an end", { execution: ARN }, undefined],
    ["does not have it where it is free", { run_id: null, expires_at: null, execution: ARN }, undefined],
    ["is none where none is named", { expires_at: null }, undefined],
  ])("names an execution, which %s", (_, over, execution) => {
    expect(executionOf(aLease(over))).toBe(execution);
  });

  test.each([
    ["when it says", {}, NOW_MS, NOW_MS + 60_000],
    [
      "when it says, though that is soon",
      { expires_at: "2026-01-01T00:00:10.000Z" },
      NOW_MS,
      NOW_MS + 10_000,
    ],
    [
      "a minute after it was renewed, at most",
      { expires_at: "9999-12-31T23:59:59.000Z" },
      NOW_MS + 5_000,
      NOW_MS + 60_000,
    ],
    [
      "a minute from now, where it was renewed in a time to come",
      { renewed_at: "9999-12-31T23:58:59.000Z", expires_at: "9999-12-31T23:59:59.000Z" },
      NOW_MS,
      NOW_MS + 60_000,
    ],
    ["a minute after it was renewed, without a date", { expires_at: null }, NOW_MS + 5_000, NOW_MS + 60_000],
  ])("expires %s", (_, over, nowMs, endMs) => {
    expect(expiryMs(aLease(over), nowMs)).toBe(endMs);
  });

  test.each([
    ["held until its end", {}, NOW_MS + 59_999, { expires_at: "2026-01-01T00:01:00.000Z" }],
    ["free from its end on", {}, NOW_MS + 60_000, undefined],
    ["free where it names no run", { run_id: null }, NOW_MS, undefined],
    [
      "held for an execution, however late it is",
      { expires_at: null, execution: ARN },
      NOW_MS + 1e9,
      { expires_at: null, execution: ARN },
    ],
  ])("is %s", (_, over, nowMs, held) => {
    expect(heldLease(aLease(over), nowMs)).toEqual(held && { run_id: "run-1", ...held });
  });
});

const NOW = Date.UTC(2026, 0, 1, 12);
const MINUTE = 60_000;
const LIMITS = { requestsPerMinute: 200, bytesPerMinute: 1_000, windowMs: 10 * MINUTE };
const EARLIER = { atMs: NOW - 3 * MINUTE, requests: 5, bytes: 50 };

/** As a process left it that freed it, or crashed: then it expired 40 seconds ago. */
const leaseWith = (changes: object = {}) => ({
  lease: {
    run_id: null,
    holder: null,
    renewed_at: at(NOW - 100_000),
    expires_at: at(NOW - 40_000),
    use: [EARLIER],
    use_since: at(NOW - 60 * MINUTE),
    ...changes,
  },
});
const crashed = (changes: object = {}) => leaseWith({ run_id: "run-1", holder: { token: "a" }, ...changes });
const at = (ms: number): string => new Date(ms).toISOString();

describe("what earlier holders of a lease used", () => {
  test("is what the lease says, if it was freed", () => {
    expect(earlierUse(leaseWith(), NOW, LIMITS)).toEqual([EARLIER]);
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
        EARLIER,
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
      EARLIER,
    ]);
  });

  test("is known also by a clock that is behind", () => {
    const lease = leaseWith({ use_since: at(NOW - 100_000 - 10 * MINUTE) });

    expect(earlierUse(lease, NOW - 5 * MINUTE, LIMITS)).toEqual([EARLIER]);
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

describe("a lease of a computer whose clock is behind", () => {
  const use = [{ atMs: NOW_MS, requests: 7, bytes: 70 }];

  test("is read with each instant so much later", () => {
    const lease = { ...aLease(), use, use_since: "2025-12-31T23:00:00.000Z" };

    expect(laterBy(lease, 90_000)).toEqual({
      ...lease,
      renewed_at: "2026-01-01T00:01:30.000Z",
      expires_at: "2026-01-01T00:02:30.000Z",
      use: [{ atMs: NOW_MS + 90_000, requests: 7, bytes: 70 }],
      use_since: "2025-12-31T23:01:30.000Z",
    });
  });

  test("has no instant more than before", () => {
    const { use_since: _, ...lease } = aLease({ expires_at: null });

    const { expires_at, use_since } = laterBy(lease, 90_000);

    expect([expires_at, use_since]).toEqual([null, undefined]);
  });
});
