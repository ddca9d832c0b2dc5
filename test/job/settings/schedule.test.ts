// Which expressions the scheduler takes, and how long each stays silent at the most.

import { describe, expect, it } from "vitest";
import { parseSchedule, staleAfterHours } from "../../../lambdas/job/settings-file/schedule.ts";

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
    expect(parseSchedule(expression)).toMatchObject({ longestGapHours: hours });
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
    ["26 hours, for once a day", "cron(0 6 * * ? *)", {}, 26],
    ["74 hours, for workdays", "cron(0 6 ? * MON-FRI *)", {}, 74],
    ["49 hours, for a gap of 46 hours and a half", "cron(0/30 6-7 1/2 * ? *)", {}, 49],
    ["122 hours, for every fifth day", "rate(5 days)", {}, 122],
    ["168 hours, the most that an alarm sees", "rate(166 hours)", {}, 168],
    ["never, where an alarm cannot look back so far", "rate(167 hours)", {}, undefined],
    ["never, where the longest gap is unknown", "cron(0 6 L * ? *)", {}, undefined],
    ["what is set, whatever the schedule", "rate(7 days)", { staleAfterHours: 100 }, 100],
    ["never, where the schedule is off", "rate(1 day)", { enabled: false, staleAfterHours: 30 }, undefined],
  ])("is stale after %s", (_, schedule, over, expected) => {
    expect(staleAfterHours({ ...account, schedule, ...over })).toBe(expected);
  });
});
