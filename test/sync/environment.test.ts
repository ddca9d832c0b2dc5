import { describe, expect, test } from "vitest";
import { accountSettings } from "../../lambdas/job/settings-file/settings-schema.ts";
import {
  accountRunSettings,
  environmentOf,
  type FunctionFile,
  type FunctionSettings,
  functionFileText,
  readEnvironment,
} from "../../lambdas/sync/environment.ts";

const SETTINGS: FunctionSettings = {
  bucket: "warehouse",
  bucketOwner: "123456789012",
  database: "brand_events",
  workgroup: "analysis",
  metricNamespace: "Mine",
  secretName: "Stack/{account}-5f0c",
  program: "npm run sync --",
  stateMachineArn: "arn:aws:states:eu-west-1:123456789012:stateMachine:Stack",
};
const { secretName: _, ...AS_GIVEN } = SETTINGS;
const FILE: FunctionFile = { accounts: { uk: { baseUrl: "https://service.example" } } };

test("the defaults of the function are those of the command line", () => {
  const environment = readEnvironment(environmentOf(SETTINGS), functionFileText(FILE));

  expect(environment).toEqual({
    ...AS_GIVEN,
    maxTurns: 1_000,
    region: "us-east-1",
    functionName: "brand-events-sync",
    lifted: [],
    accounts: {
      uk: {
        secretId: "Stack/uk-5f0c",
        ...accountSettings.parse({ baseUrl: "https://service.example/" }),
      },
    },
  });
});

test("the function reads every setting as the stack writes it", () => {
  const uk = accountSettings.parse({
    baseUrl: "https://service.example/",
    requestsPerMinute: "unlimited",
    bytesPerMinute: 1,
    limitWindowSeconds: 3_600,
    concurrency: 1,
    isListed: "any",
    listPointer: "/a",
    detailPointer: "/b",
    maxDropPercent: 0,
    maxGrowthPercent: 250,
    maxMissingPercent: 0.5,
    require: ["/date"],
    retainDays: 30,
    resumeWithinMinutes: 0,
  });
  const lifted = [{ name: "brand", pointer: "/brand" }];
  const variables = environmentOf({ ...SETTINGS, maxTurns: "3" });

  const environment = readEnvironment(
    { ...variables, AWS_REGION: "eu-west-1", AWS_LAMBDA_FUNCTION_NAME: "Stack-Sync" },
    functionFileText({ accounts: { uk, "a-b_c": uk }, lifted }),
  );

  expect(environment).toEqual({
    ...AS_GIVEN,
    maxTurns: 3,
    region: "eu-west-1",
    functionName: "Stack-Sync",
    accounts: {
      uk: { ...uk, secretId: "Stack/uk-5f0c" },
      "a-b_c": { ...uk, secretId: "Stack/a-b_c-5f0c" },
    },
    lifted,
  });
});

describe("variables that the stack does not make", () => {
  test.each([
    ["BRAND_EVENTS_BUCKET", undefined],
    ["BRAND_EVENTS_BUCKET", ""],
    ["BRAND_EVENTS_BUCKET_OWNER", ""],
    ["BRAND_EVENTS_SECRET_NAME", undefined],
    ["BRAND_EVENTS_SECRET_NAME", "one-for-all"],
    ["STATE_MACHINE_ARN", ""],
    ["STATE_MACHINE_ARN", "arn:aws:states:eu-west-1:1:execution:a:b"],
    ["MAX_TURNS", "0"],
  ])("are CONFIG_INVALID: %s is %j", (name, value) => {
    const read = (): unknown =>
      readEnvironment({ ...environmentOf(SETTINGS), [name]: value }, functionFileText(FILE));

    expect(read).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(read).toThrow(name);
  });
});

describe("a settings file that the stack does not make", () => {
  const accounts = (changes: object): object => ({
    accounts: { uk: { baseUrl: "https://service.example", ...changes } },
  });

  test.each<[unknown, string]>([
    [{ accounts: {} }, "accounts: expected at least one account"],
    [{ accounts: { "U K": {} } }, "accounts.U K"],
    [accounts({ listPointer: "a" }), "accounts.uk.listPointer"],
    [
      accounts({ baseUrl: "api.example.com" }),
      "baseUrl: expected an absolute URL such as https://api.example.com, and got",
    ],
    [
      accounts({ password: "hunter2" }),
      "uk.password: there is no such key; secrets belong in the credentials",
    ],
    [{ ...FILE, lifted: [{ name: "brand" }] }, "lifted.0.pointer"],
    [{ ...FILE, lifted: [{ name: "uuid", pointer: "/a" }] }, "expected a name other than uuid"],
  ])("is CONFIG_INVALID: %j is named by its key, with what was expected and what came", (content, says) => {
    const read = (): unknown => readEnvironment(environmentOf(SETTINGS), JSON.stringify(content));

    expect(read).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(read).toThrow(says);
    expect(read).not.toThrow(/--base-url|Invalid|hunter2/);
  });

  test("is CONFIG_INVALID if it is not JSON", () => {
    const read = (): unknown => readEnvironment(environmentOf(SETTINGS), "{");

    expect(read).toThrow("The function's settings.json is not usable (expected JSON)");
  });
});

function settingsOf(account: object) {
  const environment = readEnvironment(
    environmentOf(SETTINGS),
    functionFileText({
      accounts: { uk: { baseUrl: "https://service.example", ...account } },
      lifted: [{ name: "brand", pointer: "/brand" }],
    }),
  );
  const uk = environment.accounts["uk"];
  if (uk === undefined) throw new Error("there is no such account");
  return accountRunSettings(uk, environment);
}

test("a run gets the settings of its account, without the name of the secret", () => {
  const given = { retainDays: 30, resumeWithinMinutes: 5 };
  const { limitWindowSeconds: _, ...account } = accountSettings.parse({
    baseUrl: "https://service.example/",
    ...given,
  });

  expect(settingsOf(given)).toEqual({
    ...account,
    lifted: [{ name: "brand", pointer: "/brand" }],
    windowMs: 60_000,
  });
});

test("the limits are averaged over the account's own window", () => {
  expect(settingsOf({ limitWindowSeconds: 600 }).windowMs).toBe(600_000);
});
