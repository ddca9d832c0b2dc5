// What raises which alarm, where its mails go, and that the runbook has a section for each and no other.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ERROR_CODES, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { METRICS } from "../../../lambdas/sync/telemetry.ts";
import { synthesized } from "../synthesized.ts";

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

const anyAlarmSchema = z.looseObject({
  AlarmName: z.string(),
  AlarmDescription: z.string(),
  AlarmActions: z.array(z.string()).default([]),
  OKActions: z.array(z.string()),
});
const alarmSchema = anyAlarmSchema.extend({
  Namespace: z.string(),
  MetricName: z.string(),
  Dimensions: z.array(z.object({ Name: z.string(), Value: z.string() })).default([]),
  Statistic: z.string(),
  Period: z.number(),
  EvaluationPeriods: z.number(),
  ComparisonOperator: z.string(),
  Threshold: z.number(),
  TreatMissingData: z.string(),
});
const all = template.all("AWS::CloudWatch::Alarm").map(({ properties }) => anyAlarmSchema.parse(properties));
/** Those that compare one metric. */
const alarms = all.filter((alarm) => "MetricName" in alarm).map((alarm) => alarmSchema.parse(alarm));
const MISSING: Readonly<Record<string, string>> = { breaching: "raises it", ignore: "keeps its state" };
const COMPARED: Readonly<Record<string, string>> = { GreaterThanThreshold: ">", LessThanThreshold: "<" };

/** `Sum(Failed of uk) > 0 in 1 x 300 s; no data keeps its state`. */
const condition = (alarm: z.output<typeof alarmSchema>): string => {
  const { Statistic, MetricName, Dimensions, ComparisonOperator, Threshold, EvaluationPeriods, Period } =
    alarm;
  const of = Dimensions.map(({ Value }) => Value).join();
  return `${Statistic}(${MetricName} of ${of}) ${COMPARED[ComparisonOperator]} ${Threshold} in ${EvaluationPeriods} x ${Period} s; no data ${MISSING[alarm.TreatMissingData]}`;
};
const conditions = new Map(alarms.map((alarm) => [alarm.AlarmName, condition(alarm)]));

describe("an alarm", () => {
  it.each([
    ["uk-failed", "Sum(Failed of uk) > 0 in 1 x 300 s; no data keeps its state"],
    ["uk-held", "Sum(Held of uk) > 0 in 1 x 300 s; no data keeps its state"],
    ["uk-throttled", "Maximum(Throttled of uk) > 20 in 1 x 300 s; no data keeps its state"],
    ["uk-left-out", "Maximum(LeftOut of uk) > 7 in 1 x 300 s; no data keeps its state"],
    ["uk-login-refused", "Sum(LoginRefused of uk) > 0 in 1 x 300 s; no data keeps its state"],
    ["uk-stale", "Sum(Published of uk) < 1 in 26 x 3600 s; no data raises it"],
    ["uk-catalog-behind", "Sum(CatalogBehind of uk) > 0 in 1 x 300 s; no data keeps its state"],
    ["weekly-failed", "Sum(Failed of weekly) > 0 in 1 x 300 s; no data keeps its state"],
    ["weekly-left-out", "Maximum(LeftOut of weekly) > 0 in 1 x 300 s; no data keeps its state"],
  ])("%s is raised by %s", (name, raisedBy) => {
    expect(conditions.get(`Stack-${name}`)).toBe(raisedBy);
  });

  it("is raised by anything in the failure queue", () => {
    const alarm = alarms.find(({ AlarmName }) => AlarmName === "Stack-failure-queue");

    expect(alarm).toMatchObject({
      Namespace: "AWS/SQS",
      MetricName: "ApproximateNumberOfMessagesVisible",
      Threshold: 0,
      ComparisonOperator: "GreaterThanThreshold",
      TreatMissingData: "ignore",
    });
  });

  it("is raised for a day by any execution that failed, timed out or was aborted", () => {
    const alarm = all.find(({ AlarmName }) => AlarmName === "Stack-execution");

    expect(alarm).toMatchObject({
      Threshold: 0,
      ComparisonOperator: "GreaterThanThreshold",
      EvaluationPeriods: 24,
      DatapointsToAlarm: 1,
      TreatMissingData: "notBreaching",
    });
    const metrics = z
      .array(
        z.object({
          Id: z.string(),
          Expression: z.string().optional(),
          MetricStat: z
            .object({
              Metric: z.object({
                Namespace: z.literal("AWS/States"),
                MetricName: z.string(),
                Dimensions: z.unknown(),
              }),
              Period: z.literal(3600),
              Stat: z.literal("Sum"),
            })
            .optional(),
        }),
      )
      .parse(alarm?.["Metrics"]);
    expect(metrics.find(({ Expression }) => Expression !== undefined)?.Expression).toBe(
      "FILL(failed, 0) + FILL(timedOut, 0) + FILL(aborted, 0)",
    );
    const stateMachine = {
      Name: "StateMachineArn",
      Value: "arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:stateMachine:Stack",
    };
    expect(
      metrics.flatMap(({ Id, MetricStat }) =>
        MetricStat === undefined ? [] : [[Id, MetricStat.Metric.MetricName, MetricStat.Metric.Dimensions]],
      ),
    ).toEqual([
      ["failed", "ExecutionsFailed", [stateMachine]],
      ["timedOut", "ExecutionsTimedOut", [stateMachine]],
      ["aborted", "ExecutionsAborted", [stateMachine]],
    ]);
  });

  it("is raised for a day by any event that the function could not send, whatever the account", () => {
    const alarm = alarms.find(({ AlarmName }) => AlarmName === "Stack-not-told");

    expect(alarm).toMatchObject({
      Namespace: "BrandEventsSync",
      MetricName: "EventsNotSent",
      Dimensions: [],
      Statistic: "Sum",
      Period: 3600,
      Threshold: 0,
      ComparisonOperator: "GreaterThanThreshold",
      EvaluationPeriods: 24,
      DatapointsToAlarm: 1,
      TreatMissingData: "notBreaching",
    });
    expect(template.only("AWS::Logs::MetricFilter").properties).toMatchObject({
      FilterPattern: "{ $.EventNotSent = 1 }",
      LogGroupName: `<${template.only("AWS::Logs::LogGroup").name}>`,
      MetricTransformations: [
        { MetricNamespace: "BrandEventsSync", MetricName: "EventsNotSent", MetricValue: "1" },
      ],
    });
    expect(Object.keys(METRICS)).toContain("EventNotSent");
  });

  it("for stale data exists only where a schedule is on, and not too rare for CloudWatch", () => {
    expect([...conditions.keys()].filter((name) => name.endsWith("-stale"))).toEqual(["Stack-uk-stale"]);
  });

  it("looks back 7 days at most, as CloudWatch allows for periods of an hour", () => {
    const rare = { schedule: "rate(1 day)", staleAfterHours: 168 };
    const longest = synthesized({ baseUrl: "https://api.example.com", accounts: { uk: rare } });

    const seconds = longest
      .all("AWS::CloudWatch::Alarm")
      .filter(({ properties }) => "Period" in properties)
      .map(({ properties }) => alarmSchema.parse(properties))
      .map(({ Period, EvaluationPeriods }) => Period * EvaluationPeriods);

    expect(Math.max(...seconds)).toBe(604_800);
  });

  it("counts what the function writes", () => {
    const ours = alarms.filter(
      ({ Namespace, Dimensions }) => Namespace === "BrandEventsSync" && Dimensions.length > 0,
    );

    expect(ours).toHaveLength(alarms.length - 2);
    for (const { MetricName, Dimensions } of ours) {
      expect(Object.keys(METRICS)).toContain(MetricName);
      expect(Dimensions.map(({ Name }) => Name)).toEqual(["account"]);
    }
  });

  it("sends a mail when it is over, and when it is raised unless a mail of its own says why; to the address of the settings", () => {
    for (const { AlarmName, AlarmActions, OKActions } of all) {
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
    const named = all.map(({ AlarmDescription }) => AlarmDescription.split("#")[1]);

    expect(new Set(named)).toEqual(new Set(sections));
  });

  it("is what every alarm's text leads to, at the section that ends the alarm's name", () => {
    for (const { AlarmName, AlarmDescription } of all) {
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
