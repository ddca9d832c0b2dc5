// The settings of `cdk.json`: defaults, which value beats which, and examples.

import { describe, expect, it } from "vitest";
import { openSettingsFile } from "../../../bin/cli/options/read-options.ts";
import { accountSettings } from "../../../lambdas/job/settings-file/settings-schema.ts";
import { parseSettings } from "../../../lib/settings.ts";
import { CONTEXT, json } from "../synthesized.ts";
import { account, GOOD, messageOf, UK } from "./a-deployment.ts";

describe("settings", () => {
  it("have a default for all but the address and the schedules", () => {
    expect(parseSettings(GOOD)).toEqual({
      accounts: {
        uk: {
          ...accountSettings.parse({ baseUrl: "https://api.example.com/" }),
          schedule: "cron(0 6 * * ? *)",
          timeZone: "UTC",
          enabled: true,
          leftOutAlarmAbove: 0,
        },
      },
      database: "brand_events",
      stackName: "BrandEventsSync",
      lifted: [],
      logRetentionDays: 90,
      runbookUrl: "docs/runbook.md",
      scanLimitGigabytes: 10,
      tags: {},
    });
  });

  it.each([
    ["the fewest", GOOD],
    ["an example's", exampleOfThree()],
    ["those of cdk.json", CONTEXT["eventSync"]],
  ])("stay as they are when they are parsed again: %s", (_, settings) => {
    const parsed = parseSettings(settings);

    expect(parseSettings(parsed, { database: "another" })).toEqual(parsed);
  });

  it("have the database that the caller names, unless they have one", () => {
    const { database, ...without } = parseSettings({ ...GOOD, database: "lake" });

    expect(parseSettings(without, { database: "platform_events" }).database).toBe("platform_events");
    expect(parseSettings({ ...GOOD, database: "lake" }, { database: "platform_events" }).database).toBe(
      "lake",
    );
  });

  it.each([
    ["cdk.json", CONTEXT["eventSync"], ["uk"]],
    ["the example of three accounts", exampleOfThree(), ["uk", "us", "lab"]],
    ["the example of a settings file", "examples/brand-events.json", ["uk", "us", "lab"]],
  ])("of %s are taken", (_, eventSync, names) => {
    expect(Object.keys(parseSettings(eventSync).accounts)).toEqual(names);
  });

  it("of the example of a settings file are taken by the command line", () => {
    expect(openSettingsFile("examples/brand-events.json", ".")?.accounts).toEqual(["uk", "us", "lab"]);
  });

  it("of an account beat those for all, which beat the defaults", () => {
    const { accounts } = parseSettings({
      ...GOOD,
      timeZone: "Europe/London",
      retainDays: 400,
      maxDropPercent: 10,
      warehouse: "ignored",
      accounts: {
        uk: UK,
        us: { ...UK, baseUrl: "https://us.example.com", timeZone: "America/New_York", maxDropPercent: 5 },
      },
    });

    expect(accounts["uk"]).toMatchObject({
      baseUrl: "https://api.example.com/",
      timeZone: "Europe/London",
      retainDays: 400,
      maxDropPercent: 10,
    });
    expect(accounts["us"]).toMatchObject({
      baseUrl: "https://us.example.com/",
      timeZone: "America/New_York",
      maxDropPercent: 5,
      concurrency: 16,
    });
    expect(accounts["us"]).not.toHaveProperty("warehouse");
  });

  it("that are wrong in several places are all named at once", () => {
    const wrong = { ...account({ enabled: 1, retainDays: "x" }), database: "" };

    const problems = messageOf(() => parseSettings(wrong));

    expect(problems.split("\n").slice(1)).toEqual([
      "  eventSync.accounts.uk.enabled: expected true or false, and got 1",
      '  eventSync.accounts.uk.retainDays: expected a whole number from 1 to 36500, and got "x"',
      '  eventSync.database: expected a name of 1 to 255 characters of a-z, 0-9 and _, for the Glue database, and got ""',
    ]);
  });
});

function exampleOfThree(): unknown {
  const example = json("../../examples/three-accounts.json");
  return typeof example === "object" && example !== null && "eventSync" in example
    ? example.eventSync
    : undefined;
}
