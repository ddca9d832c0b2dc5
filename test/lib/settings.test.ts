// The settings of `cdk.json` and of a settings file: defaults, which value beats which, examples, and the message for each
// wrong value: the key, what was expected, what came.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { App, CfnParameter, Stack, Token } from "aws-cdk-lib";
import { describe, expect, it } from "vitest";
import { openSettingsFile } from "../../bin/cli/options/read-options.ts";
import { accountSettings } from "../../lambdas/job/settings-file/settings-schema.ts";
import { EventSync } from "../../lib/event-sync.ts";
import { type EventSyncSettings, parseSettings } from "../../lib/settings.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { CONTEXT, json, newApp, templateOf } from "./synthesized.ts";

const UK = { schedule: "cron(0 6 * * ? *)" };
const GOOD = { baseUrl: "https://api.example.com", accounts: { uk: UK } };

/** With these settings of its account. */
const account = (over: object): object => ({ ...GOOD, accounts: { uk: { ...UK, ...over } } });

/** A value of an account, and the problem with it. */
const OF_ACCOUNT: readonly (readonly [object, string])[] = [
  [{ shedule: "x" }, "shedule: there is no such key; did you mean schedule?"],
  [{ password: "hunter2" }, "password: there is no such key; secrets belong in the credentials"],
  [{ lifted: [] }, "lifted: there is no such key; is it misspelt?"],
  [
    { warehouse: "gs://bucket" },
    "warehouse: expected a directory, or s3://bucket/prefix, and no other URL, and got a text that is not shown here, because it may hold a password",
  ],
  [
    { credentials: "me@example.com:hunter2" },
    "credentials: expected a file, or secretsmanager: and the name or ARN of a secret, and got a text that is not shown here, because it may hold a password",
  ],
  [
    { notifyOn: ["skipped"] },
    'notifyOn.0: expected some of "published", "held" and "failed", and got "skipped"',
  ],
  [
    { tokens: " " },
    "tokens: expected a file, or secretsmanager: and the name or ARN of a secret, and got a text that is not shown here, because it may hold a password",
  ],
  [
    { baseUrl: "http://api.example.com" },
    'baseUrl: expected https:, because http: sends the credentials in clear text and is accepted for loopback hosts only, and got "http://api.example.com"',
  ],
  [
    { schedule: "daily" },
    'schedule: expected cron(minutes hours day-of-month month day-of-week year) with ? for exactly one of the two days and * for the year, such as cron(0 6 * * ? *), or rate(12 hours), and got "daily"',
  ],
  [
    { timeZone: "Mars/Olympus" },
    'timeZone: expected UTC, GMT, or a time zone by its area and place, such as Europe/London, and got "Mars/Olympus"',
  ],
  [{ enabled: "no" }, 'enabled: expected true or false, and got "no"'],
  [
    { requestsPerMinute: 0 },
    'requestsPerMinute: expected a whole number from 1 to 1000000000000, or "unlimited", and got 0',
  ],
  [
    { bytesPerMinute: "10 MB" },
    'bytesPerMinute: expected a whole number from 1 to 1000000000000, or "unlimited", and got "10 MB"',
  ],
  [
    { limitWindowSeconds: 3_601 },
    "limitWindowSeconds: expected a whole number from 10 to 3600, and got 3601",
  ],
  [{ concurrency: 257 }, "concurrency: expected a whole number from 1 to 256, and got 257"],
  [{ isListed: true }, 'isListed: expected "true", "false" or "any", and got true'],
  [
    { listPointer: "data/events" },
    'listPointer: expected a JSON Pointer such as /data/events, and got "data/events"',
  ],
  [{ detailPointer: "/a~b" }, 'detailPointer: expected a JSON Pointer such as /data/events, and got "/a~b"'],
  [{ maxDropPercent: 101 }, "maxDropPercent: expected a percentage from 0 to 100, and got 101"],
  [{ maxMissingPercent: "1%" }, 'maxMissingPercent: expected a percentage from 0 to 100, and got "1%"'],
  [{ maxGrowthPercent: -1 }, "maxGrowthPercent: expected a percentage from 0 to 1000000, and got -1"],
  [
    { require: "/date" },
    'require: expected the required fields as a list of JSON Pointers, such as ["/date", "/brand/name"], and got "/date"',
  ],
  [
    { require: ["/date", "brand"] },
    'require.1: expected a JSON Pointer to a part of the detail, such as /date, and got "brand"',
  ],
  [
    { require: [""] },
    'require.0: expected a JSON Pointer to a part of the detail, such as /date, and got ""',
  ],
  [{ retainDays: 0 }, "retainDays: expected a whole number from 1 to 36500, and got 0"],
  [{ resumeWithinMinutes: 1.5 }, "resumeWithinMinutes: expected a whole number from 0 to 20160, and got 1.5"],
  [{ staleAfterHours: 169 }, "staleAfterHours: expected a whole number from 1 to 168, and got 169"],
  [{ leftOutAlarmAbove: -1 }, "leftOutAlarmAbove: expected a whole number from 0 to 1000000000, and got -1"],
];

/** A value for all accounts, and the problem with it. */
const OF_ALL: readonly (readonly [object, string])[] = [
  [
    { accounts: {} },
    'accounts: expected the accounts by name, such as {"uk": {"schedule": "cron(0 6 * * ? *)"}}, and got none',
  ],
  [
    { accounts: { UK } },
    'accounts.UK: expected a name of 1 to 40 characters of a-z, 0-9, _ and -, beginning with a letter or digit, and got "UK"',
  ],
  [{ accounts: { uk: "x" } }, 'accounts.uk: expected an object, and got "x"'],
  [{ acounts: {} }, "acounts: there is no such key; did you mean accounts?"],
  [{ client_secret: "hunter2" }, "client_secret: there is no such key; secrets belong in the credentials"],
  [{ ...UK }, "schedule: there is no such key; is it misspelt?"],
  [{ retainDays: 0 }, "retainDays: expected a whole number from 1 to 36500, and got 0"],
  [
    { warehouse: "s3://B" },
    'warehouse: expected s3://bucket or s3://bucket/prefix, with a prefix of segments of A-Z, a-z, 0-9, ".", "_" and "-" that do not begin with "." or "-", and got "s3://B"',
  ],
  [
    { notifyUrl: "http://hooks.example/hunter2" },
    "notifyUrl: expected an https: URL, or one with http: to this computer, and got a text that is not shown here, because it may hold a password",
  ],
  [
    { baseUrl: "api.example.com" },
    'baseUrl: expected an absolute URL such as https://api.example.com, and got "api.example.com"',
  ],
  [
    { existingBucket: "s3://left" },
    'existingBucket: expected the name of a bucket, 3 to 63 characters of a-z, 0-9, . and -, and got "s3://left"',
  ],
  [
    { lifted: { brand: "/brand" } },
    'lifted: expected the columns of your own as a list, such as [{"name": "brand", "pointer": "/brand/name"}], and got an object',
  ],
  [{ lifted: [{ name: "brand" }] }, "lifted.0.pointer: expected a JSON Pointer, and got nothing"],
  [
    { lifted: [{ name: "event", pointer: "/x" }] },
    'lifted: expected a name other than uuid, event_date, scope, event, listing, account, snapshot_id, publication, which are reserved, and got "event=/x"',
  ],
  [
    { lifted: [{ name: "brand", pointer: "/x", type: "date" }] },
    'lifted.0.type: expected BIGINT, DOUBLE, DECIMAL(p,s) with p from 1 to 38 and s from 0 to p, BOOLEAN, DATE, TIMESTAMP, VARCHAR or VARCHAR[], and got "date"',
  ],
  [
    { lifted: [{ name: "brand", pointer: "/x", type: "DECIMAL(2,3)" }] },
    'lifted.0.type: expected BIGINT, DOUBLE, DECIMAL(p,s) with p from 1 to 38 and s from 0 to p, BOOLEAN, DATE, TIMESTAMP, VARCHAR or VARCHAR[], and got "DECIMAL(2,3)"',
  ],
  [
    { database: "brand-events" },
    'database: expected a name of 1 to 255 characters of a-z, 0-9 and _, for the Glue database, and got "brand-events"',
  ],
  [
    { stackName: "brand_events" },
    'stackName: expected a name of 1 to 64 characters of A-Z, a-z, 0-9 and -, beginning with a letter, and got "brand_events"',
  ],
  [{ alarmEmail: "data team" }, 'alarmEmail: expected an e-mail address, and got "data team"'],
  [
    { runbookUrl: "runbook#top" },
    'runbookUrl: expected the address of docs/runbook.md, with https: or http: and without an anchor, and got "runbook#top"',
  ],
  [
    { runbookUrl: "javascript:alert(1)" },
    'runbookUrl: expected the address of docs/runbook.md, with https: or http: and without an anchor, and got "javascript:alert(1)"',
  ],
  [
    { tags: [{ Key: "team", Value: "data" }] },
    'tags: expected tags as an object of texts, such as {"cost-center": "4711"}, and got a list',
  ],
  [
    { tags: { "AWS:team": "data" } },
    'tags.AWS:team: expected a tag of 1 to 128 letters, digits, spaces and _ . : / = + - @, not beginning with aws:, and got "AWS:team"',
  ],
  [
    { tags: { "cost-center": 4711 } },
    "tags.cost-center: expected up to 256 letters, digits, spaces and _ . : / = + - @, and got 4711",
  ],
  [
    { tags: { team: "data", Team: "data" } },
    "tags: expected tags whose names differ in more than capital letters, and got an object",
  ],
  [
    { tags: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`tag-${n}`, ""])) },
    "tags: expected at most 49 tags, and got an object",
  ],
  [
    { logRetentionDays: 10 },
    "logRetentionDays: expected one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653, and got 10",
  ],
  [{ scanLimitGigabytes: 0 }, "scanLimitGigabytes: expected a whole number from 1 to 10000, and got 0"],
  [{ reservedConcurrency: 0 }, "reservedConcurrency: expected a whole number from 1 to 1000, and got 0"],
];

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

describe("wrong settings", () => {
  it.each<readonly [string, unknown]>([
    ["eventSync: expected an object, and got a list", []],
    ["eventSync: expected an object, and got null", null],
    [
      'eventSync.accounts: expected the accounts by name, such as {"uk": {"schedule": "cron(0 6 * * ? *)"}}, and got nothing',
      { baseUrl: "https://api.example.com" },
    ],
    ...OF_ALL.map(([over, problem]) => [`eventSync.${problem}`, { ...GOOD, ...over }] as const),
    ...OF_ACCOUNT.map(([over, problem]) => [`eventSync.accounts.uk.${problem}`, account(over)] as const),
  ])("are refused with the same words in cdk.json and in a settings file: %s", async (expected, context) => {
    const directory = await inFile(context);

    const inContext = messageOf(() => parseSettings(context));
    const file = join(directory, "brand-events.json");
    const ofStack = messageOf(() => parseSettings(file));
    const ofLaptop = messageOf(() => openSettingsFile(undefined, directory));

    expect(inContext).toBe(`cdk.json → context: these settings are not usable.\n  ${expected}`);
    const ofFile = expected.replace(/^eventSync: /, "the file: ").replace(/^eventSync\./, "");
    expect(ofLaptop).toBe(`brand-events.json: these settings are not usable.\n  ${ofFile}`);
    expect(ofStack).toBe(ofLaptop.replace("brand-events.json", file));
  });

  it.each<[string, unknown, string]>([
    ["nothing at all", undefined, "eventSync: expected an object, and got nothing"],
    [
      "the path of no file",
      "uk.json",
      'eventSync: expected an object, or the path of a settings file, and got "uk.json", where no file is',
    ],
    [
      "no address",
      { accounts: { uk: UK, us: { ...UK, baseUrl: "https://us.example.com" }, lab: UK } },
      "eventSync.baseUrl: expected the address of the service such as https://api.example.com, here or for the account uk and lab, and got nothing",
    ],
    [
      "no schedule",
      { ...GOOD, accounts: { uk: {} } },
      "eventSync.accounts.uk.schedule: expected cron(minutes hours day-of-month month day-of-week year) with ? for exactly one of the two days and * for the year, such as cron(0 6 * * ? *), or rate(12 hours), and got nothing",
    ],
  ])("of a deployment with %s are refused", (_, context, expected) => {
    expect(messageOf(() => parseSettings(context))).toBe(
      `cdk.json → context: these settings are not usable.\n  ${expected}`,
    );
  });

  it.each<[string, object]>([
    ["of a laptop alone", { accounts: { uk: { warehouse: "a", credentials: "b", tokens: "c" } } }],
    ["of a deployment alone", { ...GOOD, stackName: "Other", alarmEmail: "a@b.example" }],
    ["for all accounts", { ...GOOD, timeZone: "Europe/London", concurrency: 1, warehouse: "s3://bucket/a" }],
    [
      "of each kind",
      { ...GOOD, lifted: [{ name: "brand", pointer: "/brand:DATE", type: "DATE" }], database: "d" },
    ],
    ["for an editor", { ...GOOD, $schema: "./brand-events.schema.json" }],
  ])("with keys %s are taken in cdk.json and in a settings file", async (_, over) => {
    const settings = { ...GOOD, ...over };
    const accounts = Object.entries(settings.accounts).map(([name, own]) => [name, { ...UK, ...own }]);
    const context = { ...settings, accounts: Object.fromEntries(accounts) };
    const directory = await inFile(context);

    expect(messageOf(() => parseSettings(context))).toBe("taken");
    expect(parseSettings(join(directory, "brand-events.json"))).toEqual(parseSettings(context));
    expect(openSettingsFile(undefined, directory)?.accounts).toEqual(["uk"]);
  });
});

// A token stands for a value that is known only at deployment: no setting can be one.
describe("a token of the CDK", () => {
  it.each<[string, (token: string) => EventSyncSettings | string, string]>([
    ["in place of the base URL", (token) => ({ ...GOOD, baseUrl: token }), "settings.baseUrl"],
    ["within the base URL", (token) => ({ ...GOOD, baseUrl: `https://${token}/x` }), "settings.baseUrl"],
    [
      "in place of the base URL of an account",
      (token) => ({ accounts: { uk: { ...UK, baseUrl: token } } }),
      "settings.accounts.uk.baseUrl",
    ],
    ["in place of the identity provider", (token) => ({ ...GOOD, authUrl: token }), "settings.authUrl"],
    [
      "in place of a number",
      () => ({ ...GOOD, retainDays: Token.asNumber({ Ref: "Days" }) }),
      "settings.retainDays",
    ],
    ["in place of all settings", (token) => token, "settings"],
  ])("%s is refused with the reason", (_, settings, key) => {
    const message = messageOfEventSync(settings);

    expect(message).toContain(`  ${key}: expected a value that is known at synthesis`);
    expect(message).toContain("known only at deployment");
    expect(message).not.toContain("TOKEN");
  });
});

it("a token in place of the address for mails is taken: it is no part of the function's code", () => {
  const stack = new Stack(newApp(), "Stack");
  const { valueAsString: alarmEmail } = new CfnParameter(stack, "Address");
  new EventSync(stack, "Events", { settings: { ...GOOD, alarmEmail } });

  expect(templateOf(stack).only("AWS::SNS::Subscription").properties).toMatchObject({
    Endpoint: "<Address>",
  });
});

it("settings that contain themselves are refused as any other wrong ones", () => {
  const circular: Record<string, unknown> = { ...GOOD };
  circular["self"] = circular;

  expect(messageOfEventSync(() => circular as EventSyncSettings)).toContain(
    "settings.self: there is no such key",
  );
});

/** What is thrown, or `taken`. */
function messageOf(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "taken";
}

const inFile = async (settings: unknown): Promise<string> => {
  const directory = await temporaryDirectory();
  writeFileSync(join(directory, "brand-events.json"), JSON.stringify(settings));
  return directory;
};

/** @param settings with a token of the stack */
function messageOfEventSync(settings: (token: string) => EventSyncSettings | string): string {
  const stack = new Stack(new App(), "Stack");
  const { valueAsString } = new CfnParameter(stack, "Address");
  return messageOf(() => new EventSync(stack, "Events", { settings: settings(valueAsString) }));
}

function exampleOfThree(): unknown {
  const example = json("../../examples/three-accounts.json");
  return typeof example === "object" && example !== null && "eventSync" in example
    ? example.eventSync
    : undefined;
}
