import { expect, test } from "vitest";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { attemptMetrics } from "../../../lambdas/sync/telemetry/alarm-metrics.ts";
import { FAILED, HELD, PUBLISHED, SKIPPED } from "../rows.ts";

const BUDGET = { requestsPerMinute: 200, windowMs: 60_000 };
const UNLIMITED = { requestsPerMinute: "unlimited", windowMs: 60_000 } as const;
const NO_OUTCOME = { Published: 0, Skipped: 0, Superseded: 0 };
const MADE = { Held: 0, Failed: 0, LoginRefused: 0, CatalogBehind: 0 };

test("a publication counts its events, changes, left-out events and cost", () => {
  expect(attemptMetrics({ row: PUBLISHED }, BUDGET)).toEqual({
    ...NO_OUTCOME,
    ...MADE,
    Published: 1,
    DurationSeconds: 299.5,
    Events: 1_000,
    Added: 3,
    Changed: 2,
    Removed: 1,
    LeftOut: 7,
    Requests: 900,
    Retries: 6,
    Throttled: 5,
    BudgetShare: 100,
  });
});

test("a held snapshot counts its left-out events, but not its events: readers do not see them", () => {
  const metrics = attemptMetrics({ row: HELD }, UNLIMITED);

  expect(metrics).toMatchObject({ ...NO_OUTCOME, ...MADE, Held: 1, LeftOut: 7 });
  expect(Object.keys(metrics)).not.toContain("Events");
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
    ...NO_OUTCOME,
    Failed: 1,
    DurationSeconds: 299.5,
    Requests: 900,
    Retries: 6,
    Throttled: 5,
  });
});

test("a skipped start has an outcome, and no requests", () => {
  expect(attemptMetrics({ row: SKIPPED }, BUDGET)).toEqual({
    ...NO_OUTCOME,
    Skipped: 1,
    DurationSeconds: 299.5,
  });
});

test("a dry run has a cost, and no outcome", () => {
  const metrics = attemptMetrics({ row: { ...PUBLISHED, outcome: "DRY_RUN" } }, BUDGET);

  expect(metrics).toEqual({ Requests: 900, Retries: 6, Throttled: 5, BudgetShare: 100, LoginRefused: 0 });
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
