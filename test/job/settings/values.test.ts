import { describe, expect, test } from "vitest";
import { allowance, timeZone } from "../../../lambdas/job/settings/values.ts";

describe("a time zone", () => {
  test.each([
    "UTC",
    "GMT",
    "Europe/London",
    "Etc/UTC",
    "Etc/GMT+5",
    "US/Eastern",
    "Australia/NSW",
    "America/Port_of_Spain",
    "America/Port-au-Prince",
    "Africa/Dar_es_Salaam",
    "Antarctica/DumontDUrville",
    "America/Argentina/ComodRivadavia",
    // Names that ICU knows, and has no list of.
    "Asia/Kolkata",
    "Asia/Ho_Chi_Minh",
    "Europe/Kyiv",
  ])("%s is taken", (zone) => {
    expect(timeZone.safeParse(zone).success).toBe(true);
  });

  test.each([
    ["an abbreviation", "PST"],
    ["an abbreviation", "CET"],
    ["a country", "GB-Eire"],
    ["an offset", "+01:00"],
    ["an offset", "GMT+5"],
    ["of System V", "SystemV/PST8PDT"],
    ["not known", "Mars/Olympus"],
    ["with other capitals", "utc"],
    ["with other capitals", "europe/london"],
    ["with other capitals", "Europe/london"],
    ["with other capitals", "EUROPE/LONDON"],
    ["with other capitals", "America/Port_Of_Spain"],
    ["with other capitals", "asia/kolkata"],
    ["with other capitals", "ASIA/KOLKATA"],
    ["with other capitals", "ETC/UTC"],
    ["with a space", " Europe/London"],
    ["nothing", ""],
  ])("that is %s is refused: %j", (_, zone) => {
    expect(timeZone.safeParse(zone).success).toBe(false);
  });
});

test.each([
  [200, 180],
  [199, 179],
  [2, 1],
  [1, 1],
  ["unlimited", Number.POSITIVE_INFINITY],
] as const)("of a limit of %s, %s are used", (limit, used) => {
  expect(allowance(limit)).toBe(used);
});

test("another share of a limit leaves at least one too", () => {
  expect([allowance(1_000, 60_000, 0.5), allowance(1, 60_000, 0.1)]).toEqual([500, 1]);
});
