import { describe, expect, test } from "vitest";
import { type ErrorCode, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Check } from "../../../lambdas/job/run/check.ts";
import type { Outcome, RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { alarmMetrics, checkMetrics } from "../../../lambdas/sync/telemetry/alarm-metrics.ts";
import { FAILED, PUBLISHED } from "../rows.ts";

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
    { code: "CREDENTIALS_INVALID", metrics: { Failed: 1 } },
    { code: "STORE_CORRUPT", metrics: { Failed: 1 } },
    { code: "INTERRUPTED", metrics: {} },
    { code: "SERVICE_UNAVAILABLE", metrics: {} },
    { code: "CATALOG_FAILED", metrics: { CatalogBehind: 1 } },
  ] as const)("that fails with $code changes the alarms by $metrics: one at most", ({ code, metrics }) => {
    expect(alarmMetrics({ row: FAILED, error: new SyncError(code, "…") })).toEqual(metrics);
  });
});

describe("an execution that ended without its run", () => {
  test.each([
    { code: "SERVICE_UNAVAILABLE", metrics: { Failed: 1 } },
    { code: "INTERRUPTED", metrics: { Failed: 1 } },
    { code: "CATALOG_FAILED", metrics: { Failed: 1, CatalogBehind: 1 } },
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
