import { describe, expect, test } from "vitest";
import { type ErrorCode, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { RunResult } from "../../../lambdas/job/run/record/run-result.ts";
import { metricsOf } from "../../../lambdas/sync/telemetry/metrics.ts";
import { FAILED, HELD, PUBLISHED, SKIPPED } from "../rows.ts";

const failed = (code: ErrorCode): RunResult => ({ row: FAILED, error: new SyncError(code, "…") });
const NO_OUTCOME = { Published: 0, Held: 0, Failed: 0, Skipped: 0, Superseded: 0 };

test("a publication counts its events, what changed, what was left out and what it cost", () => {
  expect(metricsOf({ row: PUBLISHED }, 200)).toEqual({
    ...NO_OUTCOME,
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
    LoginRefused: 0,
  });
});

test("what is held counts what was left out, and no events: readers do not see them", () => {
  const metrics = metricsOf({ row: HELD }, "unlimited");

  expect(metrics).toMatchObject({ ...NO_OUTCOME, Held: 1, LeftOut: 7 });
  expect(Object.keys(metrics)).not.toContain("Events");
  expect(Object.keys(metrics)).not.toContain("BudgetShare");
});

describe("a failed attempt", () => {
  test.each([
    { code: "LOGIN_REFUSED", Failed: 1, LoginRefused: 1 },
    { code: "ACCOUNT_DISABLED", Failed: 1, LoginRefused: 1 },
    { code: "UNAUTHENTICATED", Failed: 1, LoginRefused: 1 },
    { code: "CREDENTIALS_INVALID", Failed: 1, LoginRefused: 0 },
    { code: "STORE_CORRUPT", Failed: 1, LoginRefused: 0 },
    { code: "INTERRUPTED", Failed: 0, LoginRefused: 0 },
    { code: "SERVICE_UNAVAILABLE", Failed: 0, LoginRefused: 0 },
    { code: "CATALOG_FAILED", Failed: 0, LoginRefused: 0 },
  ] as const)("with $code is a failure: $Failed; a refused login: $LoginRefused", ({ code, ...expected }) => {
    expect(metricsOf(failed(code), 200)).toMatchObject({ Published: 0, ...expected });
  });

  test("of an accept is none of a run", () => {
    const row = { ...FAILED, trigger: "accept" } as const;
    const error = new SyncError("SNAPSHOT_NOT_FOUND", "…");

    expect(metricsOf({ row, error }, 200)).toMatchObject({ Failed: 0 });
  });
});

test("a start that met another run has an outcome and no requests", () => {
  expect(metricsOf({ row: SKIPPED }, 200)).toEqual({
    ...NO_OUTCOME,
    Skipped: 1,
    DurationSeconds: 299.5,
    LoginRefused: 0,
  });
});

test("a dry run has no outcome, but what it cost", () => {
  const metrics = metricsOf({ row: { ...PUBLISHED, outcome: "DRY_RUN" } }, 200);

  expect(metrics).toEqual({ Requests: 900, Retries: 6, Throttled: 5, BudgetShare: 100, LoginRefused: 0 });
});

test("a run that was finished before counts for nothing", () => {
  expect(metricsOf({ row: PUBLISHED, isRepeat: true }, 200)).toEqual({});
});

test.each([
  { seconds: 1, requests: 90, share: 50 },
  { seconds: 59, requests: 180, share: 100 },
  { seconds: 61, requests: 360, share: 100 },
  { seconds: 840, requests: 2_700, share: 100 },
  { seconds: 300, requests: 1, share: 0.1 },
])("$requests requests in $seconds s are $share % of 90 % of 200 a minute", ({ share, ...used }) => {
  expect(metricsOf({ row: { ...PUBLISHED, ...used } }, 200)).toMatchObject({ BudgetShare: share });
});
