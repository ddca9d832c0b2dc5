import { Annotations, Match } from "aws-cdk-lib/assertions";
import { describe, expect, it, test } from "vitest";
import { leftOutStart } from "../../../lib/compute/daylight-saving.ts";
import { CONTEXT, newApp, stackIn, templateOf } from "../synthesized.ts";

const FROM = new Date("2026-11-27T12:00:00Z");

describe("a start that daylight saving time leaves out", () => {
  it.each([
    ["cron(30 2 * * ? *)", "Europe/Berlin", "2027-03-28 02:30"],
    ["cron(30 1 * * ? *)", "Europe/London", "2027-03-28 01:30"],
    ["cron(0 2 * * ? *)", "America/New_York", "2027-03-14 02:00"],
    ["cron(15 2 ? * SUN *)", "Europe/Paris", "2027-03-28 02:15"],
    ["cron(15 2 ? * 1L *)", "Europe/Paris", "2027-03-28 02:15"],
    // By half an hour.
    ["cron(15 2 * * ? *)", "Australia/Lord_Howe", "2027-10-03 02:15"],
    // In the night to Sunday, at 24:00.
    ["cron(30 0 * * ? *)", "Africa/Cairo", "2027-04-30 00:30"],
    ["cron(0 2/6 * * ? *)", "Europe/Berlin", "2027-03-28 02:00"],
  ])("is found: %s in %s on %s", (schedule, timeZone, start) => {
    expect(leftOutStart({ schedule, timeZone }, FROM)).toBe(start);
  });

  it.each([
    ["another hour", "cron(30 3 * * ? *)", "Europe/Berlin"],
    ["UTC", "cron(30 2 * * ? *)", "UTC"],
    ["a time zone whose clocks are not moved", "cron(30 2 * * ? *)", "Asia/Tokyo"],
    ["another day of the week", "cron(30 2 ? * MON-FRI *)", "Europe/Berlin"],
    ["each hour, because the next start follows soon", "cron(30 * * * ? *)", "Europe/Berlin"],
    ["a rate", "rate(1 day)", "Europe/Berlin"],
  ])("is not there with %s", (_, schedule, timeZone) => {
    expect(leftOutStart({ schedule, timeZone }, FROM)).toBeUndefined();
  });
});

describe("a deployment", () => {
  const warningsWith = (over: object) => {
    const settings = Object(CONTEXT["eventSync"]);
    const stack = stackIn(newApp(), {
      ...settings,
      baseUrl: "https://brand.example.net",
      accounts: { uk: { ...settings.accounts.uk, nextPage: "all", ...over } },
    });
    const warnings = Annotations.fromStack(stack).findWarning("*", Match.anyValue());
    const alarms = templateOf(stack)
      .all("AWS::CloudWatch::Alarm")
      .map(({ properties }) => properties);
    const stale = alarms.find(({ AlarmName }) => String(AlarmName).endsWith("-uk-stale"));
    return {
      warnings: warnings.map(({ entry }) => String(entry.data)),
      stale: String(stale?.["AlarmDescription"]),
    };
  };

  test("warns of it with the date and the two cures, and the text of the alarm stale knows it", () => {
    const { warnings, stale } = warningsWith({ schedule: "cron(30 1 * * ? *)" });

    expect(warnings).toEqual([
      expect.stringMatching(
        /^eventSync\.accounts\.uk\.schedule: at 20\d\d-03-\d\d 01:30 the clocks of Europe\/London go forward and leave out this start, so a day has no run\. Choose another hour, or the timeZone UTC\./,
      ),
    ]);
    expect(stale).toContain(
      "It is also raised on the day the clocks go forward, whose start they leave out.",
    );
  });

  test("says nothing of it at another hour", () => {
    const { warnings, stale } = warningsWith({ schedule: "cron(30 3 * * ? *)" });

    expect(warnings).toEqual([]);
    expect(stale).not.toContain("clocks");
  });
});
