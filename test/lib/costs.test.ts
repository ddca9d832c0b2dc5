// The costs in docs/aws.md: what the template has, at the prices of AWS, and the runs.

import { expect, test } from "vitest";
import { rangeCut } from "../../lambdas/job/run/collect/collect.ts";
import { RENEWAL_MS } from "../../lambdas/job/run/lease/lease.ts";
import { allowance } from "../../lambdas/job/settings/values.ts";
import { attemptMetrics } from "../../lambdas/sync/report-result.ts";
import { sectionOf, tableBelow } from "../docs/markdown.ts";
import { PUBLISHED } from "../sync/rows.ts";
import { CONTEXT, type Synthesized, synthesized } from "./synthesized.ts";

/** In US dollars, in the region us-east-1. By the month where no other unit is in the name. */
const PRICES = {
  secret: 0.4,
  key: 1,
  alarmMetric: 0.1,
  dashboard: 3,
  metric: 0.3,
  lambdaGbSecond: 0.0000133334,
  s3Put: 0.005 / 1_000,
  s3Get: 0.0004 / 1_000,
  s3Gb: 0.023,
  logsGb: 0.5,
  athenaTb: 5,
} as const;

/** What is assumed, and not measured in AWS; the page says it, but for requests of S3 and the log. */
const ASSUMED = {
  bytesPerEvent: 1_500,
  storedDays: 365,
  queries: 1_000,
  leastBytesOfQuery: 10_000_000,
  startSeconds: 10,
  publishSecondsPerEvent: 0.2 / 1_000,
  putsPerRun: 20,
  putsPerRange: 4,
  getsPerRun: 40,
  getsPerRange: 2,
  logBytesPerRun: 20_000,
} as const;

interface Deployment {
  readonly accounts: number;
  readonly events: number;
  readonly requestsPerMinute: number;
  readonly runsPerDay: number;
}

const DEPLOYMENTS: readonly Deployment[] = [
  { accounts: 1, events: 1_000, requestsPerMinute: 200, runsPerDay: 1 },
  { accounts: 1, events: 50_000, requestsPerMinute: 2_000, runsPerDay: 1 },
  { accounts: 1, events: 2_000, requestsPerMinute: 200, runsPerDay: 24 },
  { accounts: 48, events: 2_000, requestsPerMinute: 200, runsPerDay: 24 },
];

const [ONE, TWO] = [1, 2].map((accounts) => {
  const names = Array.from({ length: accounts }, (_, n) => [`a${n}`, { schedule: "rate(1 hour)" }]);
  const settings = { ...Object(CONTEXT["eventSync"]), alarmEmail: "team@example.com" };
  return synthesized({ ...settings, accounts: Object.fromEntries(names) });
});

/** An alarm costs as much for each metric that it looks at. */
const alarmMetricsIn = ({ all }: Synthesized): number =>
  all("AWS::CloudWatch::Alarm")
    .map(({ properties: { Metrics } }) =>
      Array.isArray(Metrics) ? Metrics.filter((each) => "MetricStat" in Object(each)).length : 1,
    )
    .reduce((sum, count) => sum + count, 0);

/** The metrics that an ordinary run writes. */
const ORDINARY = Object.keys(
  attemptMetrics({ row: PUBLISHED }, { requestsPerMinute: 200, windowMs: 60_000 }),
).length;

/** What there is each month without any run but those that write metrics: of the first account, and of each further one. */
function fixed({ accounts, runsPerDay }: Pick<Deployment, "accounts" | "runsPerDay">) {
  const total = (countIn: (template: Synthesized) => number): number => {
    const [one = 0, two = 0] = [ONE, TWO].map((template) => (template === undefined ? 0 : countIn(template)));
    return one + (accounts - 1) * (two - one);
  };
  const count = (type: string) => total(({ types, all }) => (types.has(type) ? all(type).length : 0));
  return {
    secrets: count("AWS::SecretsManager::Secret") * PRICES.secret,
    keys: count("AWS::KMS::Key") * PRICES.key,
    // A metric is paid for the hours in which it is written.
    watching:
      total(alarmMetricsIn) * PRICES.alarmMetric +
      count("AWS::CloudWatch::Dashboard") * PRICES.dashboard +
      (accounts * ORDINARY * PRICES.metric * runsPerDay) / 24,
  };
}

function runs({ accounts, events, requestsPerMinute, runsPerDay }: Deployment) {
  const aMonth = accounts * runsPerDay * 30;
  const sending = ((events + 2) / allowance(requestsPerMinute)) * 60;
  const seconds = sending + ASSUMED.startSeconds + events * ASSUMED.publishSecondsPerEvent;
  const cut = rangeCut(events, sending * 1_000);
  const ranges = Math.ceil(events / Math.min(cut.events, ((events / sending) * cut.ms) / 1_000));
  const puts = ASSUMED.putsPerRun + ASSUMED.putsPerRange * ranges + (seconds * 1_000) / RENEWAL_MS;
  const gets = ASSUMED.getsPerRun + ASSUMED.getsPerRange * ranges;
  const storedGb = (accounts * events * ASSUMED.bytesPerEvent * ASSUMED.storedDays * runsPerDay) / 1e9;
  return {
    seconds,
    lambda: aMonth * seconds * (1_769 / 1_024) * PRICES.lambdaGbSecond,
    s3: aMonth * (puts * PRICES.s3Put + gets * PRICES.s3Get) + storedGb * PRICES.s3Gb,
    logs: ((aMonth * ASSUMED.logBytesPerRun) / 1e9) * PRICES.logsGb,
    athena:
      (accounts *
        ASSUMED.queries *
        Math.max(ASSUMED.leastBytesOfQuery, events * ASSUMED.bytesPerEvent) *
        PRICES.athenaTb) /
      1e12,
  };
}

const dollars = (amount: number): string => amount.toFixed(2);

test("the table of costs is what the template and the runs cost", () => {
  const columns = DEPLOYMENTS.map((each) => {
    const { secrets, keys, watching } = fixed(each);
    const { lambda, s3, logs, athena } = runs(each);
    const parts = [lambda, s3, secrets, keys, watching + logs, athena];
    return [...parts, parts.reduce((sum, part) => sum + part, 0)].map(dollars);
  });

  const { rows } = tableBelow("aws.md", "## Costs");
  expect(rows.map(([, ...amounts]) => amounts.map((each) => each.replaceAll("**", "")))).toEqual(
    (columns[0] ?? []).map((_, row) => columns.map((column) => column[row])),
  );
});

test("a further account costs what the page says, beside its runs", () => {
  const further = (runsPerDay: number): string => {
    const [one = 0, two = 0] = [1, 2].map((accounts) =>
      Object.values(fixed({ accounts, runsPerDay })).reduce((sum, part) => sum + part, 0),
    );
    return dollars(two - one);
  };

  expect([further(1), further(24)]).toEqual(["1.26", "5.00"]);
  expect(sectionOf("aws.md", "## Costs")).toContain(
    "A further account adds $1.26 with daily runs and $5.00 with hourly ones (a secret, seven alarms, 13 metrics), and its runs",
  );
});
