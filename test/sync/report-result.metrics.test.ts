import { describe, expect, test } from "vitest";
import type { Check } from "../../lambdas/job/commands/check.ts";
import { type ErrorCode, SyncError } from "../../lambdas/job/errors/sync-error.ts";
import type { Outcome, RunLogEntry } from "../../lambdas/job/run/record/run-log.ts";
import { checkMetrics } from "../../lambdas/sync/actions.ts";
import { alarmMetrics, attemptMetrics } from "../../lambdas/sync/report-result.ts";
import { FAILED, HELD, PUBLISHED, SKIPPED } from "./rows.ts";

const ended = (outcome: Outcome): RunLogEntry => ({ ...PUBLISHED, outcome });

describe("a run", () => {
  test.each([
    { outcome: "PUBLISHED", metrics: { Held: 0, Failed: 0, LoginRefused: 0, CatalogBehind: 0 } },
    { outcome: "HELD", metrics: { Held: 1, Failed: 0, LoginRefused: 0, CatalogBehind: 0 } },
    { outcome: "DRY_RUN", metrics: { LoginRefused: 0 } },
    { outcome: "SKIPPED", metrics: {} },
    { outcome: "SUPERSEDED", metrics: {} },
    { outcome: "HANDED_OVER", metrics: {} },
  ] as const)("that ends as $outcome changes the alarms by $metrics", ({ outcome, metrics }) => {
    expect(alarmMetrics({ row: ended(outcome) })).toEqual(metrics);
  });

  test.each([
    { code: "LOGIN_REFUSED", metrics: { LoginRefused: 1 } },
    { code: "ACCOUNT_DISABLED", metrics: { LoginRefused: 1 } },
    { code: "UNAUTHENTICATED", metrics: { LoginRefused: 1 } },
    { code: "AUTHORIZATION_EXPIRED", metrics: { LoginRefused: 1 } },
    { code: "CREDENTIALS_INVALID", metrics: { Failed: 1 } },
    { code: "STORE_CORRUPT", metrics: { Failed: 1 } },
    { code: "INTERRUPTED", metrics: {} },
    { code: "SERVICE_UNAVAILABLE", metrics: {} },
    { code: "CATALOG_FAILED", metrics: {} },
  ] as const)("that fails with $code changes the alarms by $metrics: one at most", ({ code, metrics }) => {
    expect(alarmMetrics({ row: FAILED, error: new SyncError(code, "…") })).toEqual(metrics);
  });

  test("that another version of the program has planned counts as failed: no later start can finish it", () => {
    expect(alarmMetrics({ row: { ...SKIPPED, reason: "OTHER_VERSION" } })).toEqual({ Failed: 1 });
  });
});

describe("a catalog that stays behind", () => {
  test.each([
    { what: "the first attempt", attempt: 1, metrics: {} },
    { what: "Lambda's first retry", attempt: 2, metrics: {} },
    { what: "Lambda's last retry", attempt: 3, metrics: { CatalogBehind: 1 } },
    { what: "a turn of an execution", attempt: 3, isTurn: true as const, metrics: {} },
    {
      what: "an execution that gave up",
      attempt: 2,
      isAbandoned: true as const,
      metrics: { CatalogBehind: 1, Failed: 1 },
    },
  ])(
    "after $what changes the alarms by $metrics: none where a retry follows",
    ({ attempt, metrics, ...by }) => {
      const error = new SyncError("CATALOG_FAILED", "…");

      expect(alarmMetrics({ row: { ...FAILED, attempt }, error, ...by })).toEqual(metrics);
    },
  );
});

describe("an execution that ended without its run", () => {
  test.each([
    { code: "SERVICE_UNAVAILABLE", metrics: { Failed: 1 } },
    { code: "INTERRUPTED", metrics: { Failed: 1 } },
    { code: "LOGIN_REFUSED", metrics: { LoginRefused: 1 } },
  ] as const)(
    "with $code changes the alarms by $metrics: nothing retries it any more",
    ({ code, metrics }) => {
      const error = new SyncError(code, "…");

      expect(alarmMetrics({ row: FAILED, error, isAbandoned: true })).toEqual(metrics);
    },
  );
});

describe("a person's decision", () => {
  test("to accept clears what was held", () => {
    expect(alarmMetrics({ row: { ...PUBLISHED, trigger: "accept" } })).toEqual({ Held: 0, CatalogBehind: 0 });
  });

  test("to roll back leaves held what is held", () => {
    expect(alarmMetrics({ row: { ...PUBLISHED, trigger: "rollback" } })).toEqual({ CatalogBehind: 0 });
  });

  test.each([
    { code: "SNAPSHOT_NOT_FOUND", metrics: {} },
    { code: "CATALOG_FAILED", metrics: { CatalogBehind: 1 } },
  ] as const)("that fails with $code changes the alarms by $metrics", ({ code, metrics }) => {
    const row = { ...FAILED, trigger: "accept" } as const;

    expect(alarmMetrics({ row, error: new SyncError(code, "…") })).toEqual(metrics);
  });
});

describe("a check", () => {
  const ok = (name: Check["name"]): Check => ({ name, ok: true, code: null, remedy: null });
  const failed = (name: Check["name"], code: ErrorCode): Check => ({ name, ok: false, code, remedy: "…" });

  test.each([
    {
      what: "everything works",
      checks: [ok("login"), ok("list"), ok("catalog")],
      clears: ["LoginRefused", "CatalogBehind"],
    },
    { what: "the login is refused", checks: [failed("login", "LOGIN_REFUSED")], clears: [] },
    { what: "the list is refused", checks: [ok("login"), failed("list", "UNAUTHENTICATED")], clears: [] },
    {
      what: "the catalog fails",
      checks: [ok("list"), failed("catalog", "CATALOG_FAILED")],
      clears: ["LoginRefused"],
    },
  ])("raises no alarm and clears $clears where $what", ({ checks, clears }) => {
    expect(checkMetrics(checks)).toEqual(Object.fromEntries(clears.map((name) => [name, 0])));
  });
});

const BUDGET = { requestsPerMinute: 200, windowMs: 60_000 };
const UNLIMITED = { requestsPerMinute: "unlimited", windowMs: 60_000 } as const;
const MADE = { Held: 0, Failed: 0, LoginRefused: 0, CatalogBehind: 0 };

test("a publication counts its events, changes, left-out events and cost", () => {
  expect(attemptMetrics({ row: PUBLISHED }, BUDGET)).toEqual({
    ...MADE,
    Published: 1,
    DurationSeconds: 299.5,
    Events: 1_000,
    Added: 3,
    Changed: 2,
    Removed: 1,
    LeftOut: 7,
    Throttled: 5,
    BudgetShare: 100,
  });
});

test("a held snapshot counts its left-out events, but not its events: readers do not see them", () => {
  const metrics = attemptMetrics({ row: HELD }, UNLIMITED);

  expect(metrics).toMatchObject({ ...MADE, Held: 1, LeftOut: 7 });
  expect(Object.keys(metrics)).not.toContain("Events");
  expect(Object.keys(metrics)).not.toContain("Published");
  expect(Object.keys(metrics)).not.toContain("BudgetShare");
});

test("an abandoned run counts as failed, and nothing else: its attempts were counted", () => {
  const error = new SyncError("SERVICE_UNAVAILABLE", "…");
  const row = { ...SKIPPED, outcome: "FAILED" } as const;

  expect(attemptMetrics({ row, error, isAbandoned: true }, BUDGET)).toEqual({ Failed: 1 });
});

test("a failed attempt counts what it cost, and has no data", () => {
  const metrics = attemptMetrics({ row: FAILED, error: new SyncError("CONFIG_INVALID", "…") }, UNLIMITED);

  expect(metrics).toEqual({
    Failed: 1,
    DurationSeconds: 299.5,
    Throttled: 5,
  });
});

test("a skipped start has an outcome, and no requests", () => {
  expect(attemptMetrics({ row: SKIPPED }, BUDGET)).toEqual({ Skipped: 1, DurationSeconds: 299.5 });
});

test("a dry run has a cost, and no outcome", () => {
  const metrics = attemptMetrics({ row: { ...PUBLISHED, outcome: "DRY_RUN" } }, BUDGET);

  expect(metrics).toEqual({ Throttled: 5, BudgetShare: 100, LoginRefused: 0 });
});

test("a run that was finished before is not counted again", () => {
  expect(attemptMetrics({ row: PUBLISHED, isRepeat: true }, BUDGET)).toEqual({});
});

test.each([
  { seconds: 1, requests: 90, share: 50 },
  { seconds: 59, requests: 180, share: 100 },
  { seconds: 61, requests: 360, share: 100 },
  { seconds: 840, requests: 2_700, share: 100 },
  { seconds: 300, requests: 1, share: 0.1 },
])("$requests requests in $seconds s are $share % of 90 % of 200 a minute", ({ share, ...used }) => {
  expect(attemptMetrics({ row: { ...PUBLISHED, ...used } }, BUDGET)).toMatchObject({ BudgetShare: share });
});

test("the budget of a longer window is used at once, without being exceeded", () => {
  const row = { ...PUBLISHED, seconds: 12, requests: 900 };

  expect(attemptMetrics({ row }, { ...BUDGET, windowMs: 600_000 })).toMatchObject({ BudgetShare: 50 });
});
