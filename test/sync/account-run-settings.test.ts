import { expect, test } from "vitest";
import { accountRunSettings } from "../../lambdas/sync/account-run-settings.ts";
import { environmentOf, readEnvironment } from "../../lambdas/sync/environment.ts";
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
    shardSize: 180,
  });
});

test.each([
  { requestsPerMinute: "unlimited", shardSize: 1_000 },
  { requestsPerMinute: 100_000, shardSize: 1_000 },
  { requestsPerMinute: 60, shardSize: 54 },
  { requestsPerMinute: 1, shardSize: 1 },
])("a shard is a minute of $requestsPerMinute requests: $shardSize", ({ requestsPerMinute, shardSize }) => {
  expect(settingsOf({ requestsPerMinute }).shardSize).toBe(shardSize);
});

test.each([
  { requestsPerMinute: 200, limitWindowSeconds: 600, shardSize: 179, shards: 10 },
  { requestsPerMinute: 200, limitWindowSeconds: 3_600, shardSize: 179, shards: 60 },
  { requestsPerMinute: 200, limitWindowSeconds: 90, shardSize: 134, shards: 2 },
  { requestsPerMinute: 2_000, limitWindowSeconds: 600, shardSize: 995, shards: 18 },
  { requestsPerMinute: 1, limitWindowSeconds: 600, shardSize: 1, shards: 8 },
])(
  "$shards shards of $shardSize fill a window of $limitWindowSeconds s at $requestsPerMinute a minute",
  (one) => {
    const { shardSize, shards, ...account } = one;
    const allowed = (account.requestsPerMinute * 0.9 * account.limitWindowSeconds) / 60;

    expect(settingsOf(account).shardSize).toBe(shardSize);
    expect(shards * shardSize + 1).toBeLessThanOrEqual(allowed);
    expect((shards + 1) * shardSize).toBeGreaterThanOrEqual(allowed);
  },
);

test("the limits are averaged over the account's own window", () => {
  expect(settingsOf({ limitWindowSeconds: 600 }).windowMs).toBe(600_000);
});
