// The message for each wrong value in `cdk.json` and in a settings file: the key, what was expected, what came.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSettingsFile } from "../../../bin/cli/options/read-options.ts";
import { parseSettings } from "../../../lib/settings.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { account, GOOD, messageOf, UK } from "./a-deployment.ts";

const inFile = async (settings: unknown): Promise<string> => {
  const directory = await temporaryDirectory();
  writeFileSync(join(directory, "brand-events.json"), JSON.stringify(settings));
  return directory;
};

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
    const ofStack = messageOf(() => parseSettings("brand-events.json", { directory }));
    const ofLaptop = messageOf(() => openSettingsFile(undefined, directory));

    expect(inContext).toBe(`cdk.json → context: these settings are not usable.\n  ${expected}`);
    const ofFile = expected.replace(/^eventSync: /, "the file: ").replace(/^eventSync\./, "");
    expect(ofStack).toBe(`brand-events.json: these settings are not usable.\n  ${ofFile}`);
    expect(ofLaptop).toBe(ofStack);
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
    expect(parseSettings("brand-events.json", { directory })).toEqual(parseSettings(context));
    expect(openSettingsFile(undefined, directory)?.accounts).toEqual(["uk"]);
  });
});
