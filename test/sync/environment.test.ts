import { describe, expect, test } from "vitest";
import { environmentOf, type FunctionSettings, readEnvironment } from "../../lambdas/sync/environment.ts";

const SETTINGS: FunctionSettings = {
  bucket: "warehouse",
  bucketOwner: "123456789012",
  database: "brand_events",
  workgroup: "analysis",
  accounts: { uk: { secretId: "secret-of-uk", baseUrl: "https://service.example" } },
};

test("a setting that the stack leaves out has the default of the command line", () => {
  const environment = readEnvironment(environmentOf(SETTINGS));

  expect(environment).toEqual({
    bucket: "warehouse",
    bucketOwner: "123456789012",
    prefix: "",
    database: "brand_events",
    workgroup: "analysis",
    eventBus: "default",
    region: "us-east-1",
    lifted: [],
    accounts: {
      uk: {
        secretId: "secret-of-uk",
        baseUrl: "https://service.example/",
        requestsPerMinute: 200,
        bytesPerMinute: 10_485_760,
        concurrency: 16,
        isListed: "true",
        maxDropPercent: 20,
        maxMissingPercent: 1,
        resumeWithinMinutes: 60,
      },
    },
  });
});

test("all settings of the stack arrive unchanged", () => {
  const uk = {
    secretId: "s",
    baseUrl: "https://service.example/",
    requestsPerMinute: "unlimited",
    bytesPerMinute: 1,
    concurrency: 1,
    isListed: "any",
    listPointer: "/a",
    detailPointer: "/b",
    maxDropPercent: 0,
    maxMissingPercent: 0.5,
    retainDays: 30,
    resumeWithinMinutes: 0,
  } as const;
  const settings = {
    ...SETTINGS,
    prefix: "a/b/",
    eventBus: "other",
    accounts: { uk, de: uk },
    lifted: [{ name: "brand", pointer: "/brand" }],
  };

  const environment = readEnvironment({ ...environmentOf(settings), AWS_REGION: "eu-west-1" });

  expect(environment).toEqual({ ...settings, region: "eu-west-1" });
});

describe("an environment that the stack does not make", () => {
  const good = environmentOf(SETTINGS);
  const accounts = (changes: object): string =>
    JSON.stringify({ uk: { secretId: "s", baseUrl: "https://service.example", ...changes } });

  test.each([
    { variables: { BRAND_EVENTS_BUCKET: undefined }, names: "BRAND_EVENTS_BUCKET" },
    { variables: { BRAND_EVENTS_BUCKET: "" }, names: "BRAND_EVENTS_BUCKET" },
    { variables: { BRAND_EVENTS_BUCKET_OWNER: "" }, names: "BRAND_EVENTS_BUCKET_OWNER" },
    { variables: { BRAND_EVENTS_PREFIX: "a" }, names: "BRAND_EVENTS_PREFIX" },
    { variables: { BRAND_EVENTS_ACCOUNTS: "{" }, names: "BRAND_EVENTS_ACCOUNTS: expected JSON" },
    { variables: { BRAND_EVENTS_ACCOUNTS: "{}" }, names: "BRAND_EVENTS_ACCOUNTS: expected at least one" },
    { variables: { BRAND_EVENTS_ACCOUNTS: '{"U K":{}}' }, names: "BRAND_EVENTS_ACCOUNTS.U K" },
    {
      variables: { BRAND_EVENTS_ACCOUNTS: accounts({ concurrency: 0 }) },
      names: "BRAND_EVENTS_ACCOUNTS.uk.concurrency",
    },
    {
      variables: { BRAND_EVENTS_ACCOUNTS: accounts({ listPointer: "a" }) },
      names: "BRAND_EVENTS_ACCOUNTS.uk.listPointer",
    },
    {
      variables: { BRAND_EVENTS_ACCOUNTS: accounts({ password: "p" }) },
      names: "BRAND_EVENTS_ACCOUNTS.uk",
    },
    { variables: { BRAND_EVENTS_LIFTED: '[{"name":"brand"}]' }, names: "BRAND_EVENTS_LIFTED.0.pointer" },
    {
      variables: { BRAND_EVENTS_LIFTED: '[{"name":"uuid","pointer":"/a"}]' },
      names: "expected a name other than uuid",
    },
  ])("is CONFIG_INVALID: $names", ({ variables, names }) => {
    const read = (): unknown => readEnvironment({ ...good, ...variables });

    expect(read).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(read).toThrow(names);
  });
});

test.each([
  [
    { baseUrl: "api.example.com" },
    "baseUrl: expected an absolute URL such as https://api.example.com, and got",
  ],
  [
    { requestsPerMinute: "fast" },
    'expected a whole number from 1 to 1000000000000, or "unlimited", and got "fast"',
  ],
  [{ concurrency: "16" }, 'concurrency: expected a whole number from 1 to 256, and got "16"'],
  [{ isListed: true }, 'isListed: expected "true", "false" or "any", and got true'],
  [{ maxDropPercent: null }, "maxDropPercent: expected a percentage from 0 to 100, and got null"],
  [{ password: "hunter2" }, "uk.password: expected no such key, and got one; is it misspelt?"],
  [{ secretId: undefined }, "uk.secretId: expected the id of the account's secret, and got nothing"],
])("%j is named by its key, with what was expected and what came", (changes, says) => {
  const uk = { secretId: "s", baseUrl: "https://service.example", ...changes };
  const variables = { ...environmentOf(SETTINGS), BRAND_EVENTS_ACCOUNTS: JSON.stringify({ uk }) };

  const read = (): unknown => readEnvironment(variables);

  expect(read).toThrow(says);
  expect(read).not.toThrow(/--base-url|Invalid|hunter2/);
});

test("a setting that equals its default is left out", () => {
  const defaults = {
    requestsPerMinute: 200,
    bytesPerMinute: 10_485_760,
    isListed: "true",
    maxDropPercent: 20,
  } as const;
  const given = environmentOf({
    ...SETTINGS,
    accounts: { uk: { secretId: "s", baseUrl: "https://service.example", ...defaults } },
  });

  expect(given["BRAND_EVENTS_ACCOUNTS"]).toBe('{"uk":{"secretId":"s","baseUrl":"https://service.example"}}');
});
