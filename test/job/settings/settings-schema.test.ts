import { expect, test } from "vitest";
import { accountSettings } from "../../../lambdas/job/settings-file/settings-schema.ts";

test("settings are complete with an address alone", () => {
  expect(accountSettings.parse({ baseUrl: "https://service.example" })).toEqual({
    baseUrl: "https://service.example/",
    requestsPerMinute: 200,
    bytesPerMinute: 10_485_760,
    limitWindowSeconds: 60,
    concurrency: 16,
    isListed: "true",
    maxDropPercent: 20,
    maxMissingPercent: 1,
    require: [],
    resumeWithinMinutes: 60,
  });
});

test("canonical settings are their own canonical form", () => {
  const given = { baseUrl: "HTTPS://Service.example:443//v1//v1/", retainDays: 30, listPointer: "" };

  const once = accountSettings.parse(given);

  expect(accountSettings.parse(once)).toEqual(once);
});
