// The message for each wrong value in `cdk.json` and in a settings file: the key, what was expected, what came.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSettingsFile } from "../../../bin/cli/options/read-options.ts";
import { parseSettings } from "../../../lib/settings.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";

const UK = { schedule: "cron(0 6 * * ? *)" };
const GOOD = { baseUrl: "https://api.example.com", accounts: { uk: UK } };
const account = (over: object): object => ({ ...GOOD, accounts: { uk: { ...UK, ...over } } });

const messageOf = (parse: () => unknown): string => {
  try {
    parse();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "taken";
};

const inFile = async (settings: unknown): Promise<string> => {
  const directory = await temporaryDirectory();
  writeFileSync(join(directory, "brand-events.json"), JSON.stringify(settings));
  return directory;
};

describe("settings", () => {
  it.each<[string, unknown, string]>([
    ["a list", [], "eventSync: expected an object, and got a list"],
    ["null", null, "eventSync: expected an object, and got null"],
    [
      "no accounts",
      { baseUrl: "https://api.example.com" },
      'eventSync.accounts: expected the accounts by name, such as {"uk": {"schedule": "cron(0 6 * * ? *)"}}, and got nothing',
    ],
    [
      "no account",
      { ...GOOD, accounts: {} },
      'eventSync.accounts: expected the accounts by name, such as {"uk": {"schedule": "cron(0 6 * * ? *)"}}, and got none',
    ],
    [
      "an account's name in capitals",
      { ...GOOD, accounts: { UK } },
      'eventSync.accounts.UK: expected a name of 1 to 40 characters of a-z, 0-9, _ and -, beginning with a letter or digit, and got "UK"',
    ],
    [
      "an account that is a text",
      { ...GOOD, accounts: { uk: "x" } },
      'eventSync.accounts.uk: expected an object, and got "x"',
    ],
    [
      "a misspelt key",
      { ...GOOD, acounts: {} },
      "eventSync.acounts: there is no such key; did you mean accounts?",
    ],
    [
      "a misspelt key of an account",
      account({ shedule: "x" }),
      "eventSync.accounts.uk.shedule: there is no such key; did you mean schedule?",
    ],
    [
      "a password",
      account({ password: "hunter2" }),
      "eventSync.accounts.uk.password: there is no such key; secrets belong in the credentials",
    ],
    [
      "a client's secret at the top",
      { ...GOOD, client_secret: "hunter2" },
      "eventSync.client_secret: there is no such key; secrets belong in the credentials",
    ],
    ["a schedule for all", { ...GOOD, ...UK }, "eventSync.schedule: there is no such key; is it misspelt?"],
    [
      "a wrong value for all",
      { ...GOOD, retainDays: 0 },
      "eventSync.retainDays: expected a whole number from 1 to 36500, and got 0",
    ],
    [
      "columns of an account's own",
      account({ lifted: [] }),
      "eventSync.accounts.uk.lifted: there is no such key; is it misspelt?",
    ],
    [
      "a warehouse at another cloud",
      account({ warehouse: "gs://bucket" }),
      "eventSync.accounts.uk.warehouse: expected a directory, or s3://bucket/prefix, and no other URL, and got a text that is not shown here, because it may hold a password",
    ],
    [
      "a warehouse in a bucket with a wrong name",
      { ...GOOD, warehouse: "s3://B" },
      'eventSync.warehouse: expected s3://bucket or s3://bucket/prefix, with a prefix of segments of A-Z, a-z, 0-9, ".", "_" and "-" that do not begin with "." or "-", and got "s3://B"',
    ],
    [
      "credentials themselves",
      account({ credentials: "me@example.com:hunter2" }),
      "eventSync.accounts.uk.credentials: expected a file, or secretsmanager: and the name or ARN of a secret, and got a text that is not shown here, because it may hold a password",
    ],
    [
      "an address to notify that is not https",
      { ...GOOD, notifyUrl: "http://hooks.example/hunter2" },
      "eventSync.notifyUrl: expected an https: URL, or one with http: to this computer, and got a text that is not shown here, because it may hold a password",
    ],
    [
      "another end to notify of",
      account({ notifyOn: ["skipped"] }),
      'eventSync.accounts.uk.notifyOn.0: expected some of "published", "held" and "failed", and got "skipped"',
    ],
    [
      "tokens without a place",
      account({ tokens: " " }),
      "eventSync.accounts.uk.tokens: expected a file, or secretsmanager: and the name or ARN of a secret, and got a text that is not shown here, because it may hold a password",
    ],
    [
      "an address without a scheme",
      { ...GOOD, baseUrl: "api.example.com" },
      'eventSync.baseUrl: expected an absolute URL such as https://api.example.com, and got "api.example.com"',
    ],
    [
      "an account's address over http",
      account({ baseUrl: "http://api.example.com" }),
      'eventSync.accounts.uk.baseUrl: expected https:, because http: sends the credentials in clear text and is accepted for loopback hosts only, and got "http://api.example.com"',
    ],
    [
      "a schedule that is none",
      account({ schedule: "daily" }),
      'eventSync.accounts.uk.schedule: expected cron(minutes hours day-of-month month day-of-week year) with ? for exactly one of the two days and * for the year, such as cron(0 6 * * ? *), or rate(12 hours), and got "daily"',
    ],
    [
      "a time zone that is none",
      account({ timeZone: "Mars/Olympus" }),
      'eventSync.accounts.uk.timeZone: expected UTC, GMT, or a time zone by its area and place, such as Europe/London, and got "Mars/Olympus"',
    ],
    [
      "an offset as time zone",
      account({ timeZone: "+01:00" }),
      'eventSync.accounts.uk.timeZone: expected UTC, GMT, or a time zone by its area and place, such as Europe/London, and got "+01:00"',
    ],
    [
      "enabled as a text",
      account({ enabled: "no" }),
      'eventSync.accounts.uk.enabled: expected true or false, and got "no"',
    ],
    [
      "no request a minute",
      account({ requestsPerMinute: 0 }),
      'eventSync.accounts.uk.requestsPerMinute: expected a whole number from 1 to 1000000000000, or "unlimited", and got 0',
    ],
    [
      "bytes as a text",
      account({ bytesPerMinute: "10 MB" }),
      'eventSync.accounts.uk.bytesPerMinute: expected a whole number from 1 to 1000000000000, or "unlimited", and got "10 MB"',
    ],
    [
      "a window that is too long",
      account({ limitWindowSeconds: 3_601 }),
      "eventSync.accounts.uk.limitWindowSeconds: expected a whole number from 10 to 3600, and got 3601",
    ],
    [
      "too many requests at the same time",
      account({ concurrency: 257 }),
      "eventSync.accounts.uk.concurrency: expected a whole number from 1 to 256, and got 257",
    ],
    [
      "a filter that is true and not a text",
      account({ isListed: true }),
      'eventSync.accounts.uk.isListed: expected "true", "false" or "any", and got true',
    ],
    [
      "a pointer without its slash",
      account({ listPointer: "data/events" }),
      'eventSync.accounts.uk.listPointer: expected a JSON Pointer such as /data/events, and got "data/events"',
    ],
    [
      "a pointer with a stray tilde",
      account({ detailPointer: "/a~b" }),
      'eventSync.accounts.uk.detailPointer: expected a JSON Pointer such as /data/events, and got "/a~b"',
    ],
    [
      "more than all of it",
      account({ maxDropPercent: 101 }),
      "eventSync.accounts.uk.maxDropPercent: expected a percentage from 0 to 100, and got 101",
    ],
    [
      "a percentage as a text",
      account({ maxMissingPercent: "1%" }),
      'eventSync.accounts.uk.maxMissingPercent: expected a percentage from 0 to 100, and got "1%"',
    ],
    [
      "less growth than none",
      account({ maxGrowthPercent: -1 }),
      "eventSync.accounts.uk.maxGrowthPercent: expected a percentage from 0 to 1000000, and got -1",
    ],
    [
      "a required field that is no list",
      account({ require: "/date" }),
      'eventSync.accounts.uk.require: expected the required fields as a list of JSON Pointers, such as ["/date", "/brand/name"], and got "/date"',
    ],
    [
      "a required field without its slash",
      account({ require: ["/date", "brand"] }),
      'eventSync.accounts.uk.require.1: expected a JSON Pointer to a part of the detail, such as /date, and got "brand"',
    ],
    [
      "the whole detail as a required field",
      account({ require: [""] }),
      'eventSync.accounts.uk.require.0: expected a JSON Pointer to a part of the detail, such as /date, and got ""',
    ],
    [
      "no day kept",
      account({ retainDays: 0 }),
      "eventSync.accounts.uk.retainDays: expected a whole number from 1 to 36500, and got 0",
    ],
    [
      "minutes that are not whole",
      account({ resumeWithinMinutes: 1.5 }),
      "eventSync.accounts.uk.resumeWithinMinutes: expected a whole number from 0 to 20160, and got 1.5",
    ],
    [
      "stale after more than an alarm can look back",
      account({ staleAfterHours: 169 }),
      "eventSync.accounts.uk.staleAfterHours: expected a whole number from 1 to 168, and got 169",
    ],
    [
      "an address for the name of a bucket",
      { ...GOOD, existingBucket: "s3://left" },
      'eventSync.existingBucket: expected the name of a bucket, 3 to 63 characters of a-z, 0-9, . and -, and got "s3://left"',
    ],
    [
      "less than nothing left out",
      account({ leftOutAlarmAbove: -1 }),
      "eventSync.accounts.uk.leftOutAlarmAbove: expected a whole number from 0 to 1000000000, and got -1",
    ],
    [
      "lifted columns as an object",
      { ...GOOD, lifted: { brand: "/brand" } },
      'eventSync.lifted: expected the columns of your own as a list, such as [{"name": "brand", "pointer": "/brand/name"}], and got an object',
    ],
    [
      "a lifted column without a pointer",
      { ...GOOD, lifted: [{ name: "brand" }] },
      "eventSync.lifted.0.pointer: expected a JSON Pointer, and got nothing",
    ],
    [
      "a lifted column with a name that is taken",
      { ...GOOD, lifted: [{ name: "event", pointer: "/x" }] },
      'eventSync.lifted: expected a name other than uuid, event_date, scope, event, listing, account, snapshot_id, publication, which are reserved, and got "event=/x"',
    ],
    [
      "a lifted column of a type in lower case",
      { ...GOOD, lifted: [{ name: "brand", pointer: "/x", type: "date" }] },
      'eventSync.lifted.0.type: expected BIGINT, DOUBLE, DECIMAL(p,s) with p from 1 to 38 and s from 0 to p, BOOLEAN, DATE, TIMESTAMP, VARCHAR or VARCHAR[], and got "date"',
    ],
    [
      "a lifted column with more decimals than digits",
      { ...GOOD, lifted: [{ name: "brand", pointer: "/x", type: "DECIMAL(2,3)" }] },
      'eventSync.lifted.0.type: expected BIGINT, DOUBLE, DECIMAL(p,s) with p from 1 to 38 and s from 0 to p, BOOLEAN, DATE, TIMESTAMP, VARCHAR or VARCHAR[], and got "DECIMAL(2,3)"',
    ],
    [
      "a database's name with a dash",
      { ...GOOD, database: "brand-events" },
      'eventSync.database: expected a name of 1 to 255 characters of a-z, 0-9 and _, for the Glue database, and got "brand-events"',
    ],
    [
      "a stack's name with an underscore",
      { ...GOOD, stackName: "brand_events" },
      'eventSync.stackName: expected a name of 1 to 64 characters of A-Z, a-z, 0-9 and -, beginning with a letter, and got "brand_events"',
    ],
    [
      "an e-mail address that is none",
      { ...GOOD, alarmEmail: "data team" },
      'eventSync.alarmEmail: expected an e-mail address, and got "data team"',
    ],
    [
      "a runbook's address with an anchor",
      { ...GOOD, runbookUrl: "runbook#top" },
      'eventSync.runbookUrl: expected the address of docs/runbook.md, with https: or http: and without an anchor, and got "runbook#top"',
    ],
    [
      "a runbook's address of another kind",
      { ...GOOD, runbookUrl: "javascript:alert(1)" },
      'eventSync.runbookUrl: expected the address of docs/runbook.md, with https: or http: and without an anchor, and got "javascript:alert(1)"',
    ],
    [
      "a list of tags",
      { ...GOOD, tags: [{ Key: "team", Value: "data" }] },
      'eventSync.tags: expected tags as an object of texts, such as {"cost-center": "4711"}, and got a list',
    ],
    [
      "a tag of AWS",
      { ...GOOD, tags: { "AWS:team": "data" } },
      'eventSync.tags.AWS:team: expected a tag of 1 to 128 letters, digits, spaces and _ . : / = + - @, not beginning with aws:, and got "AWS:team"',
    ],
    [
      "a tag that is a number",
      { ...GOOD, tags: { "cost-center": 4711 } },
      "eventSync.tags.cost-center: expected up to 256 letters, digits, spaces and _ . : / = + - @, and got 4711",
    ],
    [
      "a tag twice for IAM",
      { ...GOOD, tags: { team: "data", Team: "data" } },
      "eventSync.tags: expected tags whose names differ in more than capital letters, and got an object",
    ],
    [
      "more tags than a resource takes",
      { ...GOOD, tags: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`tag-${n}`, ""])) },
      "eventSync.tags: expected at most 49 tags, and got an object",
    ],
    [
      "days that CloudWatch does not offer",
      { ...GOOD, logRetentionDays: 10 },
      "eventSync.logRetentionDays: expected one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653, and got 10",
    ],
    [
      "no byte scanned",
      { ...GOOD, scanLimitGigabytes: 0 },
      "eventSync.scanLimitGigabytes: expected a whole number from 1 to 10000, and got 0",
    ],
    [
      "no concurrency",
      { ...GOOD, reservedConcurrency: 0 },
      "eventSync.reservedConcurrency: expected a whole number from 1 to 1000, and got 0",
    ],
  ])(
    "with %s are refused with the same words in cdk.json and in a settings file",
    async (_, context, expected) => {
      const directory = await inFile(context);

      const inContext = messageOf(() => parseSettings(context));
      const ofStack = messageOf(() => parseSettings("brand-events.json", { directory }));
      const ofLaptop = messageOf(() => openSettingsFile(undefined, directory));

      expect(inContext).toBe(`cdk.json → context: these settings are not usable.\n  ${expected}`);
      const ofFile = expected.replace(/^eventSync: /, "the file: ").replace(/^eventSync\./, "");
      expect(ofStack).toBe(`brand-events.json: these settings are not usable.\n  ${ofFile}`);
      expect(ofLaptop).toBe(ofStack);
    },
  );

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
