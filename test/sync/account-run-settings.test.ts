import { expect, test } from "vitest";
import { accountRunSettings, environmentOf, readEnvironment } from "../../lambdas/sync/environment.ts";
import { settingsFileText } from "../../lambdas/sync/settings-file.ts";

function settingsOf(account: object) {
  const environment = readEnvironment(
    environmentOf({
      bucket: "b",
      bucketOwner: "123456789012",
      database: "d",
      workgroup: "w",
      secretName: "secret-of-{account}",
    }),
    settingsFileText({
      accounts: { uk: { baseUrl: "https://service.example", ...account } },
      lifted: [{ name: "brand", pointer: "/brand" }],
    }),
  );
  const uk = environment.accounts["uk"];
  if (uk === undefined) throw new Error("there is no such account");
  return accountRunSettings("uk", uk, environment);
}

test("a run gets the settings of its account, without the name of the secret", () => {
  expect(settingsOf({ retainDays: 30, resumeWithinMinutes: 5 })).toEqual({
    account: "uk",
    baseUrl: "https://service.example/",
    isListed: "true",
    listPointer: undefined,
    detailPointer: undefined,
    lifted: [{ name: "brand", pointer: "/brand" }],
    requestsPerMinute: 200,
    bytesPerMinute: 10_485_760,
    windowMs: 60_000,
    concurrency: 16,
    maxDropPercent: 20,
    maxMissingPercent: 1,
    require: [],
    resumeWithinMinutes: 5,
    retainDays: 30,
  });
});

test("the limits are averaged over the account's own window", () => {
  expect(settingsOf({ limitWindowSeconds: 600 }).windowMs).toBe(600_000);
});
