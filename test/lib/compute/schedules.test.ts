// The schedules: one for each account, in its time zone, with the input that names the run.

import { describe, expect, it } from "vitest";
import { synthesized } from "../synthesized.ts";

const template = synthesized({
  baseUrl: "https://api.example.com",
  accounts: {
    uk: { schedule: "cron(0 6 * * ? *)", timeZone: "Europe/London" },
    lab: { schedule: "rate(12 hours)", enabled: false },
  },
});
const live = template.only("AWS::Lambda::Alias");
const queue = template.only("AWS::SQS::Queue");
const group = template.only("AWS::Scheduler::ScheduleGroup");

describe("a schedule", () => {
  const [uk, lab, ...others] = template.all("AWS::Scheduler::Schedule").map(({ properties }) => properties);

  it("exists for each account, in the account's time zone, enabled or disabled", () => {
    expect(others).toEqual([]);
    expect(uk).toMatchObject({
      GroupName: `<${group.name}>`,
      ScheduleExpression: "cron(0 6 * * ? *)",
      ScheduleExpressionTimezone: "Europe/London",
      State: "ENABLED",
      FlexibleTimeWindow: { Mode: "OFF" },
    });
    expect(lab).toMatchObject({
      ScheduleExpression: "rate(12 hours)",
      ScheduleExpressionTimezone: "UTC",
      State: "DISABLED",
    });
  });

  it("calls the alias with the account and the instant that names the run, for at most an hour", () => {
    expect(uk?.["Target"]).toMatchObject({
      Arn: `<${live.name}>`,
      Input: '{"account":"uk","scheduledAt":"<aws.scheduler.scheduled-time>"}',
      RetryPolicy: { MaximumEventAgeInSeconds: 3600 },
      DeadLetterConfig: { Arn: `<${queue.name}.Arn>` },
    });
  });
});
