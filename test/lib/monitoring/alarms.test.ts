// What raises which alarm, who is told, and that the runbook has a section for each and no other.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ERROR_CODES, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { HOLD_REASONS } from "../../../lambdas/job/run/publish/guard.ts";
import { METRICS } from "../../../lambdas/sync/telemetry/metrics.ts";
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

const alarmSchema = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string(),
  AlarmActions: z.array(z.string()),
  Namespace: z.string(),
  MetricName: z.string(),
  Dimensions: z.array(z.object({ Name: z.string(), Value: z.string() })),
  Statistic: z.string(),
  Period: z.number(),
  EvaluationPeriods: z.number(),
  ComparisonOperator: z.string(),
  Threshold: z.number(),
  TreatMissingData: z.string(),
});
const alarms = template.all("AWS::CloudWatch::Alarm").map(({ properties }) => alarmSchema.parse(properties));
const COMPARED: Readonly<Record<string, string>> = { GreaterThanThreshold: ">", LessThanThreshold: "<" };

/** `Sum(Failed of uk) > 0, in 1 x 300 s, without data fine`. */
const condition = (alarm: z.output<typeof alarmSchema>): string => {
  const { Statistic, MetricName, Dimensions, ComparisonOperator, Threshold, EvaluationPeriods, Period } =
    alarm;
  const of = Dimensions.map(({ Value }) => Value).join();
  const missing = alarm.TreatMissingData === "breaching" ? "raises it" : "is fine";
  return `${Statistic}(${MetricName} of ${of}) ${COMPARED[ComparisonOperator]} ${Threshold} in ${EvaluationPeriods} x ${Period} s; no data ${missing}`;
};
const conditions = new Map(alarms.map((alarm) => [alarm.AlarmName, condition(alarm)]));

describe("an alarm", () => {
  it.each([
    ["uk-failed", "Sum(Failed of uk) > 0 in 1 x 300 s; no data is fine"],
    ["uk-held", "Sum(Held of uk) > 0 in 1 x 300 s; no data is fine"],
    ["uk-throttled", "Maximum(Throttled of uk) > 20 in 1 x 300 s; no data is fine"],
    ["uk-left-out", "Maximum(LeftOut of uk) > 7 in 1 x 300 s; no data is fine"],
    ["uk-login-refused", "Sum(LoginRefused of uk) > 0 in 1 x 300 s; no data is fine"],
    ["uk-stale", "Sum(Published of uk) < 1 in 48 x 3600 s; no data raises it"],
    ["weekly-failed", "Sum(Failed of weekly) > 0 in 1 x 300 s; no data is fine"],
    ["weekly-left-out", "Maximum(LeftOut of weekly) > 0 in 1 x 300 s; no data is fine"],
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
    });
  });

  it("says that data is stale neither where CloudWatch cannot look back so far nor where the schedule is off", () => {
    expect([...conditions.keys()].filter((name) => name.endsWith("-stale"))).toEqual(["Stack-uk-stale"]);
  });

  it("counts what the function writes", () => {
    const ours = alarms.filter(({ Namespace }) => Namespace === "BrandEventsSync");

    expect(ours).toHaveLength(alarms.length - 1);
    for (const { MetricName, Dimensions } of ours) {
      expect(Object.keys(METRICS)).toContain(MetricName);
      expect(Dimensions.map(({ Name }) => Name)).toEqual(["account"]);
    }
  });

  it("tells the topic, and the topic the address of the settings", () => {
    for (const { AlarmActions } of alarms) expect(AlarmActions).toEqual([`<${topic.name}>`]);
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
    const mended = ofRuns.filter((code) => new SyncError(code, "").isRetryable);
    const missing = (title: string, codes: readonly string[]): readonly string[] =>
      codes.filter((code) => !bodyOf(title).includes(`\`${code}\``));

    expect(missing("Failure queue", mended)).toEqual([]);
    expect(
      missing(
        "Failed",
        ofRuns.filter((code) => !mended.includes(code)),
      ),
    ).toEqual([]);
  });

  it("says of every reason to hold a snapshot what it means", () => {
    for (const reason of HOLD_REASONS) expect(bodyOf("Held")).toContain(`\`${reason}\``);
  });

  it("uses outputs that the stack has", () => {
    const used = [...RUNBOOK.matchAll(/output (\w+)\)/g)].map(([, name]) => name);

    expect(used.length).toBeGreaterThan(0);
    for (const name of used) expect([...template.outputs.keys()]).toContain(name);
  });
});
