// What the function says of how a run ended: metrics, and the response.

import { describe, expect, test } from "vitest";
import type { Check } from "../../lambdas/job/commands/check-service.ts";
import { type ErrorCode, SyncError } from "../../lambdas/job/errors/sync-error.ts";
import type { Outcome, RunLogEntry } from "../../lambdas/job/run/record/run-log.ts";
import { checkMetrics } from "../../lambdas/sync/actions.ts";
import { alarmMetrics, attemptMetrics } from "../../lambdas/sync/report-result.ts";
import { responseOf } from "../../lambdas/sync/response.ts";
import { styleInAws } from "../../lambdas/sync/style-in-aws.ts";
import { FAILED, HELD, PREVIEW, PUBLISHED, SKIPPED } from "./rows.ts";

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
  const failed = (name: Check["name"], code: ErrorCode): Check => ({ name, ok: false, code, remedy: ["…"] });

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

const RUN = "2026-11-21T06-00-00.000Z";
const environment = {
  region: "eu-west-1",
  functionName: "sync",
  workgroup: "events",
  database: "brand_events",
  ...{ accounts: {}, program: "sync" },
};
const context = { logGroupName: "/aws/lambda/sync", logStreamName: "2026/11/21/[1]0af" };
const style = styleInAws(environment, "uk");
const facts = { account: "uk", environment, style, context, publication: undefined };
/** The link to the log, whose group and stream are in the console's encoding. */
const LOG =
  "https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logsV2:log-groups/log-group/$252Faws$252Flambda$252Fsync/log-events/2026$252F11$252F21$252F$255B1$255D0af";
const ATHENA =
  "https://eu-west-1.console.aws.amazon.com/athena/home?region=eu-west-1#/workgroups/details/events";

test("a publication has a summary, queries to try and links", () => {
  expect(responseOf({ row: PUBLISHED }, { ...facts, publication: "0000000007" })).toEqual({
    outcome: "PUBLISHED",
    summary: "1,000 events; 3 added, 2 changed, 1 removed; 7 left out",
    account: "uk",
    run_id: RUN,
    snapshot_id: RUN,
    publication: "0000000007",
    counts: {
      listed: 1_007,
      events: 1_000,
      added: 3,
      changed: 2,
      removed: 1,
      gone: 4,
      forbidden: 2,
      rejected: 1,
      repeated: 0,
    },
    requests: 900,
    seconds: 299.5,
    sql: [
      `SELECT * FROM "brand_events"."events" WHERE account = 'uk' LIMIT 10`,
      `SELECT * FROM "brand_events"."event_changes" WHERE account = 'uk' AND publication = '0000000007'`,
    ],
    links: { athena: ATHENA, log: LOG },
  });
});

test("a held snapshot has its reason, what publishing it would do, and how to decide", () => {
  expect(responseOf({ row: HELD, explanation: "too few", preview: PREVIEW }, facts)).toMatchObject({
    outcome: "HELD",
    reason: "DROPPED",
    explanation: "too few",
    preview: PREVIEW,
    diff_event: { action: "diff", account: "uk", snapshotId: RUN },
    accept_event: { action: "accept", account: "uk", snapshotId: RUN },
    accept_command: `aws lambda invoke --region eu-west-1 --function-name sync:live --cli-read-timeout 900 --cli-binary-format raw-in-base64-out --payload '{"action":"accept","account":"uk","snapshotId":"${RUN}"}' /dev/stdout`,
    wait: "The next run makes and judges another one.",
  });
  expect(responseOf({ row: HELD }, facts)).not.toHaveProperty("preview");
});

test("a publication says how many entries of the list were repeated", () => {
  expect(responseOf({ row: { ...PUBLISHED, repeated: 7_956 } }, facts)).toMatchObject({
    summary: "1,000 events; 3 added, 2 changed, 1 removed; 7,956 repeated in the list; 7 left out",
    counts: { repeated: 7_956 },
  });
});

test("a start of a finished run says that it did nothing", () => {
  const skipped = responseOf({ row: SKIPPED }, facts);
  const repeated = responseOf({ row: PUBLISHED, isRepeat: true }, facts);

  expect(skipped).toMatchObject({ outcome: "SKIPPED", summary: "no snapshot was made" });
  expect(repeated).toMatchObject({ note: "This run was finished before; this start did nothing." });
});

test("a run that was handed over has a link to its execution", () => {
  const execution = "arn:aws:states:eu-west-1:123456789012:execution:Stack:uk-20261121T060000000Z-1";
  const handedOver = { execution, waitMs: 0 };

  expect(responseOf({ row: { ...SKIPPED, outcome: "HANDED_OVER" }, handedOver }, facts)).toMatchObject({
    links: {
      execution: `https://eu-west-1.console.aws.amazon.com/states/home?region=eu-west-1#/v2/executions/details/${execution}`,
    },
  });
});

test.each([
  { region: "cn-north-1", host: "https://cn-north-1.console.amazonaws.cn/" },
  { region: "us-gov-west-1", host: "https://us-gov-west-1.console.amazonaws-us-gov.com/" },
])("the console of $region is at $host", ({ region, host }) => {
  const response = responseOf({ row: PUBLISHED }, { ...facts, environment: { ...environment, region } });

  const starts = expect.stringMatching(new RegExp(`^${host}`));
  expect(response).toMatchObject({ links: { log: starts, athena: starts } });
});
