// The arithmetic of docs/aws.md, "Scale": how long a daily run takes, and what it costs in AWS.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rangeCut } from "../../lambdas/job/run/collect/collect.ts";
import { RENEWAL_MS } from "../../lambdas/job/run/lease/lease.ts";
import { LIST_CAPS } from "../../lambdas/job/service/events/list/fetch-list.ts";
import { MAX_ENTRIES } from "../../lambdas/job/service/events/list/list-page.ts";
import { allowance } from "../../lambdas/job/settings/values.ts";
import { attemptMetrics } from "../../lambdas/sync/report-result.ts";
import { PUBLISHED } from "../sync/rows.ts";
import { sectionOf, tableBelow } from "./markdown.ts";

/** In US dollars, in the region us-east-1. */
const PRICES = {
  lambdaGbSecond: 0.0000133334,
  lambdaRequest: 0.2 / 1_000_000,
  stateTransition: 0.025 / 1_000,
  s3Put: 0.005 / 1_000,
  s3Get: 0.0004 / 1_000,
  s3GbMonth: 0.023,
  logsGb: 0.5,
} as const;

/** What is assumed, and not measured in AWS. */
const ASSUMED = {
  /** With 16 connections and 80 ms a response. */
  requestsPerSecond: 200,
  /** Start of the function, credentials, login, reading the log of publications. */
  startSeconds: 10,
  /** Of each invocation: reading the plan. */
  planSecondsPerEvent: 10 / 1_000_000,
  /** Verifying, copying, comparing, compressing. */
  publishSecondsPerEvent: 0.2 / 1_000,
  /** Of each invocation, beside its ranges and the renewals of the lease. */
  putsPerInvocation: 20,
  getsPerInvocation: 40,
  logBytesPerInvocation: 20_000,
  storedBytesPerEvent: 1_500,
  /** Snapshots that are kept, and staged files, which expire after two weeks. */
  storedDays: 30 + 14,
} as const;

const MEMORY_MB = 1_769;
/** Without the last ones, in which no request is sent. */
const INVOCATION_SECONDS = 900 - 30;
/** Rows, record, lease, part. */
const PUTS_PER_RANGE = 4;
/** To verify the rows, and to copy them. */
const GETS_PER_RANGE = 2;
const MONTH_SECONDS = 30 * 86_400;
/** Continue, Done? and Wait. */
const TRANSITIONS_PER_TURN = 3;

interface Scale {
  readonly events: number;
  readonly windowSeconds: number | "unlimited";
}

interface ScaleCost {
  /** From the start to the publication. */
  readonly seconds: number;
  /** At most one a day. */
  readonly runsPerMonth: number;
  readonly invocations: number;
  /** Of the function, a run. */
  readonly paidSeconds: number;
  /** US dollars a month. */
  readonly lambda: number;
  readonly states: number;
  readonly s3: number;
  readonly logs: number;
  readonly total: number;
}

function scaleCost({ events, windowSeconds }: Scale): ScaleCost {
  const publish = events * ASSUMED.publishSecondsPerEvent;
  const perInvocation = ASSUMED.startSeconds + events * ASSUMED.planSecondsPerEvent;
  const requests = events + 2;
  const sending = requests / ASSUMED.requestsPerSecond;
  const isLimited = windowSeconds !== "unlimited";
  // Where a window is an invocation, one request is its login.
  const inWindow = windowSeconds === 600 ? allowance(200, 600_000) - 1 : allowance(200);
  const windows = isLimited ? Math.ceil(events / inWindow) : 1;
  const waiting = isLimited ? (windows - 1) * windowSeconds : 0;
  // A wait of a minute or more is not paid.
  const isPaid = !isLimited || windowSeconds <= 60;
  const working = publish + (isPaid ? Math.max(waiting, sending) : sending);
  const invocations = Math.max(
    isPaid ? 1 : windows,
    Math.ceil(working / (INVOCATION_SECONDS - perInvocation)),
  );
  const paidSeconds = working + invocations * perInvocation;
  const seconds = Math.max(waiting, sending) + publish + perInvocation;

  const runsPerMonth = Math.min(30, MONTH_SECONDS / seconds);
  const perSecond = isPaid && isLimited ? inWindow / windowSeconds : ASSUMED.requestsPerSecond;
  const ranges = rangesOf(events, invocations, perSecond, waiting);
  const puts =
    PUTS_PER_RANGE * ranges + (paidSeconds * 1_000) / RENEWAL_MS + invocations * ASSUMED.putsPerInvocation;
  // Each invocation reads the records of those before it.
  const gets =
    GETS_PER_RANGE * ranges + (ranges * (invocations - 1)) / 2 + invocations * ASSUMED.getsPerInvocation;
  const storedGb = (events * ASSUMED.storedBytesPerEvent * ASSUMED.storedDays * (runsPerMonth / 30)) / 1e9;
  const lambda =
    runsPerMonth *
    (paidSeconds * (MEMORY_MB / 1_024) * PRICES.lambdaGbSecond + invocations * PRICES.lambdaRequest);
  const states = runsPerMonth * (invocations - 1) * TRANSITIONS_PER_TURN * PRICES.stateTransition;
  const s3 = runsPerMonth * (puts * PRICES.s3Put + gets * PRICES.s3Get) + storedGb * PRICES.s3GbMonth;
  const logs = ((runsPerMonth * invocations * ASSUMED.logBytesPerInvocation) / 1e9) * PRICES.logsGb;
  const total = lambda + states + s3 + logs;
  return { seconds, runsPerMonth, invocations, paidSeconds, lambda, states, s3, logs, total };
}

/** Each invocation cuts what it fetches by the time that the rest takes then. */
function rangesOf(events: number, invocations: number, perSecond: number, waiting: number): number {
  const each = events / invocations;
  let ranges = 0;
  for (let left = invocations; left > 0; left -= 1) {
    const cut = rangeCut(events, (waiting * 1_000 * left) / invocations);
    ranges += Math.ceil(each / Math.min(cut.events, (perSecond * cut.ms) / 1_000));
  }
  return ranges;
}

/** The row of the table. */
function scaleRow(scale: Scale): readonly string[] {
  const { windowSeconds, events } = scale;
  const cost = scaleCost(scale);
  return [
    events.toLocaleString("en"),
    windowSeconds === "unlimited" ? "no limit" : `${windowSeconds} s`,
    duration(cost.seconds),
    String(cost.invocations),
    cost.total.toFixed(2),
  ];
}

function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}

const ROOT = join(import.meta.dirname, "..", "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const SCALES: readonly Scale[] = [
  { events: 50_000, windowSeconds: 60 },
  { events: 50_000, windowSeconds: 600 },
  { events: 1_000_000, windowSeconds: 60 },
  { events: 1_000_000, windowSeconds: 600 },
  { events: 1_000_000, windowSeconds: "unlimited" },
];

test("the table of times and costs is what the arithmetic gives", () => {
  expect(tableBelow("aws.md", "## Scale").rows).toEqual(SCALES.map(scaleRow));
});

test("the memory that the costs are reckoned with is that of the function", () => {
  expect(read("lib/compute/sync-function.ts")).toContain("memorySize: 1_769,");
  expect(MEMORY_MB).toBe(1_769);
  expect(sectionOf("aws.md", "## Scale")).toContain("1,769 MB");
});

test("the costs of AWS count the metrics of an ordinary run", () => {
  const metrics = attemptMetrics({ row: PUBLISHED }, { requestsPerMinute: 200, windowMs: 60_000 });

  const counted = [...sectionOf("aws.md", "## Costs").matchAll(/\b(\d+) metrics(?! of alarms)/g)];
  expect(counted.map(([, n]) => Number(n))).toEqual([13, 13]);
  expect(Object.keys(metrics)).toHaveLength(13);
});

test("the pages name the limits of the source", () => {
  const limits = sectionOf("../README.md", "## What it does not do");
  expect(limits).toContain(`${MAX_ENTRIES.toLocaleString("en")} entries`);
  expect(limits).toContain(`${LIST_CAPS.page / 1_048_576} MiB a page`);
  expect(limits).toContain(`${LIST_CAPS.list / 1_048_576} MiB in all`);
  const arithmetic = sectionOf("aws.md", "## Scale");
  expect(arithmetic).toContain(`${allowance(200)} requests`);
  expect(arithmetic).toContain(`${allowance(200, 600_000).toLocaleString("en")} requests`);
  expect(read("lambdas/sync/environment.ts")).toContain('.default("1000")');
  expect(arithmetic).toContain("after 1,000 turns");
});
