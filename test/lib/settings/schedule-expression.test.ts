// Which expressions the scheduler takes, and how long each stays silent at the most.

import { describe, expect, it } from "vitest";
import { parseSchedule } from "../../../lib/settings/schedule-expression.ts";
import { staleAfterHours } from "../../../lib/settings/stale-after.ts";

const DAY = 24;

describe("a schedule", () => {
  it.each<[string, number | undefined]>([
    ["rate(1 day)", DAY],
    ["rate(2 days)", 2 * DAY],
    ["rate(1 hour)", 1],
    ["rate(12 hours)", 12],
    ["rate(90 minutes)", 1.5],
    ["cron(0 6 * * ? *)", DAY],
    ["cron(0 6 ? * * *)", DAY],
    ["cron(0 6,18 * * ? *)", 12],
    ["cron(0 6-8 * * ? *)", 22],
    ["cron(0/15 * * * ? *)", 0.25],
    ["cron(30 */4 * * ? *)", 4],
    ["cron(0 6 ? * MON-FRI *)", 3 * DAY],
    ["cron(0 6 ? * 2-6 *)", 3 * DAY],
    ["cron(0 6 ? * mon *)", 7 * DAY],
    ["cron(0 6 1 * ? *)", 31 * DAY],
    ["cron(0 6 1 JAN,JUL ? *)", 184 * DAY],
    ["cron(0 6 29 2 ? *)", 1461 * DAY],
    ["cron(0 6 L * ? *)", undefined],
    ["cron(0 6 15W * ? *)", undefined],
    ["cron(0 6 ? * 6L *)", undefined],
    ["cron(0 6 ? * MON#1 *)", undefined],
  ])("%s is silent for %s hours at the most", (expression, hours) => {
    expect(parseSchedule(expression)).toEqual({ longestGapHours: hours });
  });

  it.each([
    "daily",
    "",
    "rate(0 days)",
    "rate(1 days)",
    "rate(2 day)",
    "rate(1.5 hours)",
    "rate(1 week)",
    "cron(0 6 * * *)",
    "cron(0 6 * * * *)",
    "cron(0 6 ? * ? *)",
    "cron(60 6 * * ? *)",
    "cron(0 24 * * ? *)",
    "cron(0 6 0 * ? *)",
    "cron(0 6 32 * ? *)",
    "cron(0 6 31 2 ? *)",
    "cron(0 6 * 13 ? *)",
    "cron(0 6 ? * 8 *)",
    "cron(0 6 ? * MOON *)",
    "cron(0 8-6 * * ? *)",
    "cron(0/0 6 * * ? *)",
    "cron(0 6 * * ? 2026)",
    " cron(0 6 * * ? *)",
    "cron(0 6 * * ? *))",
    "at(2026-11-21T06:00:00)",
  ])("%j is none", (expression) => {
    expect(parseSchedule(expression)).toBeUndefined();
  });
});

describe("data", () => {
  const account = { timeZone: "UTC", enabled: true, leftOutAlarmAbove: 0, baseUrl: "https://x.example" };

  it.each<[string, string, object, number | undefined]>([
    ["26 hours, for a schedule of every hour", "rate(1 hour)", {}, 26],
    ["26 hours, for twice a day", "rate(12 hours)", {}, 26],
    ["two days, for every day", "rate(1 day)", {}, 48],
    ["six days, for workdays", "cron(0 6 ? * MON-FRI *)", {}, 144],
    ["all that an alarm sees, where twice is too long", "rate(5 days)", {}, 168],
    ["never, where even once is too long", "rate(7 days)", {}, undefined],
    ["never, where nobody knows the days", "cron(0 6 L * ? *)", {}, undefined],
    ["what is set, whatever the schedule", "rate(7 days)", { staleAfterHours: 100 }, 100],
    ["never, where the schedule is off", "rate(1 day)", { enabled: false, staleAfterHours: 30 }, undefined],
  ])("is stale after %s", (_, schedule, over, expected) => {
    expect(staleAfterHours({ ...account, schedule, ...over })).toBe(expected);
  });
});
