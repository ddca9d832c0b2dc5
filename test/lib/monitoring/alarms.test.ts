// What raises which alarm, where its mails go, that the runbook has a section for each and no other, which principals may publish
// to the topic, and the rules that send mails.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ERROR_CODES, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { METRICS } from "../../../lambdas/sync/telemetry.ts";
import { type Synthesized, statements, synthesized } from "../synthesized.ts";

const RUNBOOK = readFileSync(new URL("../../../docs/runbook.md", import.meta.url), "utf8");
const RUNBOOK_URL = "https://wiki.example.com/runbook";

const template = synthesized({
  baseUrl: "https://api.example.com",
  alarmEmail: "data-team@example.com",
  runbookUrl: RUNBOOK_URL,
  accounts: {
    uk: { schedule: "cron(0 6 * * ? *)", leftOutAlarmAbove: 7 },
    weekly: { schedule: "rate(7 days)" },
    off: { schedule: "rate(1 day)", enabled: false },
  },
});
const topic = template.only("AWS::SNS::Topic");

const metricSchema = z.object({
  Namespace: z.string(),
  MetricName: z.string(),
  Dimensions: z.array(z.object({ Name: z.string(), Value: z.string() })).default([]),
});
const alarmSchema = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string(),
  AlarmActions: z.array(z.string()).default([]),
  OKActions: z.array(z.string()),
  /** What it looks at: one metric, or an expression of several. */
  ...metricSchema.partial().shape,
  Statistic: z.string().optional(),
  Period: z.number().default(3_600),
  Metrics: z
    .array(
      z.object({
        Id: z.string(),
        Expression: z.string().optional(),
        MetricStat: z.object({ Metric: metricSchema, Period: z.literal(3_600), Stat: z.string() }).optional(),
      }),
    )
    .default([]),
  EvaluationPeriods: z.number(),
  DatapointsToAlarm: z.number().optional(),
  ComparisonOperator: z.enum(["GreaterThanThreshold", "LessThanThreshold"]),
  Threshold: z.number(),
  TreatMissingData: z.enum(["breaching", "ignore", "notBreaching"]),
});
type AnAlarm = z.output<typeof alarmSchema>;
const alarmsOf = (stack: Synthesized): readonly AnAlarm[] =>
  stack.all("AWS::CloudWatch::Alarm").map(({ properties }) => alarmSchema.parse(properties));
const alarms = alarmsOf(template);

const MISSING = { breaching: "raises it", ignore: "keeps its state", notBreaching: "is well" };
const COMPARED = { GreaterThanThreshold: ">", LessThanThreshold: "<" };

const shownMetric = (statistic: string | undefined, metric: Partial<z.output<typeof metricSchema>>): string =>
  `${statistic}(${[metric.Namespace, metric.MetricName, ...(metric.Dimensions ?? []).map(({ Value }) => Value)].join(" ")})`;

/** With what each letter of it stands for. */
const shownExpression = ({ Metrics }: AnAlarm): string =>
  Metrics.reduce(
    (text, { Id, MetricStat }) =>
      MetricStat === undefined
        ? text
        : text.replace(new RegExp(`\\b${Id}\\b`), shownMetric(MetricStat.Stat, MetricStat.Metric)),
    Metrics.find(({ Expression }) => Expression !== undefined)?.Expression ?? "",
  );

/** `Sum(Failed of uk) > 0 in 1 x 300 s; no data keeps its state`. */
const condition = (alarm: AnAlarm): string => {
  const { ComparisonOperator, Threshold, EvaluationPeriods, DatapointsToAlarm, Period } = alarm;
  const what = alarm.Metrics.length > 0 ? shownExpression(alarm) : shownMetric(alarm.Statistic, alarm);
  const periods = [...(DatapointsToAlarm === undefined ? [] : [DatapointsToAlarm]), EvaluationPeriods];
  return `${what} ${COMPARED[ComparisonOperator]} ${Threshold} in ${periods.join(" of ")} x ${Period} s; no data ${MISSING[alarm.TreatMissingData]}`;
};

/** Of each account, whether its schedule is on or not. */
const ofAccount = (account: string, leftOut: number): Readonly<Record<string, string>> => {
  const raisedBy = (metric: string): string =>
    `${metric} ${account}) > 0 in 1 x 300 s; no data keeps its state`;
  return {
    [`${account}-failed`]: raisedBy("Sum(BrandEventsSync Failed"),
    [`${account}-held`]: raisedBy("Sum(BrandEventsSync Held"),
    [`${account}-throttled`]: raisedBy("Maximum(BrandEventsSync Throttled").replace("> 0", "> 20"),
    [`${account}-left-out`]: raisedBy("Maximum(BrandEventsSync LeftOut").replace("> 0", `> ${leftOut}`),
    [`${account}-login-refused`]: raisedBy("Sum(BrandEventsSync LoginRefused"),
    [`${account}-catalog-behind`]: raisedBy("Sum(BrandEventsSync CatalogBehind"),
  };
};

describe("an alarm", () => {
  it("is raised by these, for stale data only where a schedule is on, and not too rare for CloudWatch", () => {
    const stateMachine = "arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:stateMachine:Stack";
    const queue = `<${template.only("AWS::SQS::Queue").name}.QueueName>`;

    const conditions = alarms.map((alarm) => [alarm.AlarmName.replace(/^Stack-/, ""), condition(alarm)]);
    expect(Object.fromEntries(conditions)).toEqual({
      ...ofAccount("uk", 7),
      "uk-stale": "Sum(BrandEventsSync Published uk) < 1 in 26 x 3600 s; no data raises it",
      ...ofAccount("weekly", 0),
      ...ofAccount("off", 0),
      "failure-queue": `Maximum(AWS/SQS ApproximateNumberOfMessagesVisible ${queue}) > 0 in 1 x 300 s; no data keeps its state`,
      execution: `${["Failed", "TimedOut", "Aborted"].map((end) => `FILL(Sum(AWS/States Executions${end} ${stateMachine}), 0)`).join(" + ")} > 0 in 1 of 24 x 3600 s; no data is well`,
      "not-told": "Sum(BrandEventsSync EventsNotSent) > 0 in 1 of 24 x 3600 s; no data is well",
    });
  });

  it("looks back 7 days at most, as CloudWatch allows for periods of an hour", () => {
    const rare = { schedule: "rate(1 day)", staleAfterHours: 168 };
    const longest = synthesized({ baseUrl: "https://api.example.com", accounts: { uk: rare } });

    const seconds = alarmsOf(longest).map(({ Period, EvaluationPeriods }) => Period * EvaluationPeriods);

    expect(Math.max(...seconds)).toBe(604_800);
  });

  it("counts what the function writes: metrics of an account, and events in the log that were not sent", () => {
    const ours = alarms.filter(
      ({ Namespace, Dimensions = [] }) => Namespace === "BrandEventsSync" && Dimensions[0],
    );

    expect(ours).toHaveLength(alarms.length - 3);
    for (const { MetricName, Dimensions } of ours) {
      expect(Object.keys(METRICS)).toContain(MetricName);
      expect(Dimensions?.map(({ Name }) => Name)).toEqual(["account"]);
    }
    expect(template.only("AWS::Logs::MetricFilter").properties).toMatchObject({
      FilterPattern: "{ $.EventNotSent = 1 }",
      LogGroupName: `<${template.only("AWS::Logs::LogGroup").name}>`,
      MetricTransformations: [
        { MetricNamespace: "BrandEventsSync", MetricName: "EventsNotSent", MetricValue: "1" },
      ],
    });
    expect(Object.keys(METRICS)).toContain("EventNotSent");
  });

  it("sends a mail when it is over, and when it is raised unless a mail of its own says why; to the address of the settings", () => {
    for (const { AlarmName, AlarmActions, OKActions } of alarms) {
      const isTold = /-(failed|held|login-refused)$/.test(AlarmName);
      expect(AlarmActions).toEqual(isTold ? [] : [`<${topic.name}>`]);
      expect(OKActions).toEqual([`<${topic.name}>`]);
    }
    expect(template.only("AWS::SNS::Subscription").properties).toEqual({
      Protocol: "email",
      Endpoint: "data-team@example.com",
      TopicArn: `<${topic.name}>`,
    });
  });
});

describe("the runbook", () => {
  const sections = [...RUNBOOK.matchAll(/^## (.+)$/gm)].map(([, title = ""]) =>
    title.toLowerCase().replaceAll(" ", "-"),
  );
  const bodyOf = (title: string): string => RUNBOOK.split(`## ${title}\n`)[1]?.split("\n## ")[0] ?? "";

  it("has a section for every alarm, and no section without one", () => {
    const named = alarms.map(({ AlarmDescription }) => AlarmDescription.split("#")[1]);

    expect(new Set(named)).toEqual(new Set(sections));
  });

  it("is what every alarm's text leads to, at the section that ends the alarm's name", () => {
    for (const { AlarmName, AlarmDescription } of alarms) {
      const [, address, section] = /What to do: (.+)#(.+)$/.exec(AlarmDescription) ?? [];
      expect(address).toBe(RUNBOOK_URL);
      expect(AlarmName.endsWith(`-${section}`)).toBe(true);
    }
  });

  it("says in every section what it means, how to look and what to do", () => {
    for (const [, title = ""] of RUNBOOK.matchAll(/^## (.+)$/gm)) {
      expect(bodyOf(title)).toMatch(/^\*\*Means\*\*[\s\S]*^\*\*Look\*\*[\s\S]*^\*\*Do\*\*/m);
    }
  });

  it("says of every error what to do: under Failed if it ends the run, else under Failure queue", () => {
    const ofRuns = ERROR_CODES.filter((code) => code !== "QUERY_FAILED"); // the laptop's own
    const retryable = ofRuns.filter((code) => new SyncError(code, "").isRetryable);
    const missing = (title: string, codes: readonly string[]): readonly string[] =>
      codes.filter((code) => !bodyOf(title).includes(`\`${code}\``));

    expect(missing("Failure queue", retryable)).toEqual([]);
    expect(
      missing(
        "Failed",
        ofRuns.filter((code) => !retryable.includes(code)),
      ),
    ).toEqual([]);
  });

  it("uses outputs that the stack has", () => {
    const used = [...RUNBOOK.matchAll(/output (\w+)\)/g)].map(([, name]) => name);

    expect(used.length).toBeGreaterThan(0);
    for (const name of used) expect([...template.outputs.keys()]).toContain(name);
  });
});

describe("the topic", () => {
  it("accepts messages from the alarms of this AWS account and from EventBridge only, and only over TLS", () => {
    expect(statements(template.only("AWS::SNS::TopicPolicy"))).toEqual([
      {
        Effect: "Deny",
        Action: ["sns:Publish"],
        Principal: "*",
        Resource: [`<${topic.name}>`],
        Condition: { Bool: { "aws:SecureTransport": "false" } },
      },
      {
        Effect: "Allow",
        Action: ["sns:Publish"],
        Principal: { Service: "cloudwatch.amazonaws.com" },
        Resource: [`<${topic.name}>`],
        Condition: {
          StringEquals: { "aws:SourceAccount": "<AWS::AccountId>" },
          ArnLike: {
            "aws:SourceArn": "arn:<AWS::Partition>:cloudwatch:<AWS::Region>:<AWS::AccountId>:alarm:*",
          },
        },
      },
      {
        Effect: "Allow",
        Action: ["sns:Publish"],
        Principal: { Service: "events.amazonaws.com" },
        Resource: [`<${topic.name}>`],
      },
    ]);
  });

  it("is encrypted with a key, with rotation, that alarms and mails may use: mails without a condition, with which each would be dropped", () => {
    const key = template.only("AWS::KMS::Key");
    const use = { Effect: "Allow", Action: ["kms:Decrypt", "kms:GenerateDataKey*"], Resource: ["*"] };

    expect(topic.properties["KmsMasterKeyId"]).toBe(`<${key.name}.Arn>`);
    expect(key.properties["EnableKeyRotation"]).toBe(true);
    expect(statements(key, "KeyPolicy").slice(1)).toEqual([
      {
        ...use,
        Principal: { Service: "cloudwatch.amazonaws.com" },
        Condition: { StringEquals: { "aws:SourceAccount": "<AWS::AccountId>" } },
      },
      { ...use, Principal: { Service: "events.amazonaws.com" } },
    ]);
  });
});

it("the rules of mails send to the topic, and leave in the failure queue what it did not take within an hour", () => {
  const rules = template.all("AWS::Events::Rule").filter(({ name }) => name.startsWith("Mails"));

  expect(rules).toHaveLength(2);
  for (const { properties } of rules) {
    expect(properties["Targets"]).toEqual([
      expect.objectContaining({
        Arn: `<${topic.name}>`,
        DeadLetterConfig: { Arn: `<${template.only("AWS::SQS::Queue").name}.Arn>` },
        RetryPolicy: { MaximumEventAgeInSeconds: 3600 },
      }),
    ]);
    // Events of the function arrive on the default bus only.
    expect(properties).not.toHaveProperty("EventBusName");
  }
});
