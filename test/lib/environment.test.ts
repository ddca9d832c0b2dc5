// The function reads the same settings that the stack writes, and no others.

import { expect, it } from "vitest";
import { z } from "zod";
import { ACCOUNT_SETTINGS } from "../../lambdas/job/settings-file/settings.ts";
import { accountSettings } from "../../lambdas/job/settings-file/settings-schema.ts";
import { functionFileText, readEnvironment } from "../../lambdas/sync/environment.ts";
import { parseSettings } from "../../lib/settings.ts";
import { synthesized } from "./synthesized.ts";

/** What a run takes as it stands. */
const OF_A_RUN = {
  requestsPerMinute: "unlimited",
  bytesPerMinute: 1_000,
  limitWindowSeconds: 600,
  concurrency: 4,
  isListed: "any",
  listPointer: "/data/items",
  nextPage: "cursor={/meta/next}&size=10",
  detailPointer: "",
  maxDropPercent: 0,
  maxGrowthPercent: 250,
  maxMissingPercent: 2.5,
  require: ["/date", "/brand/name"],
  retainDays: 30,
  resumeWithinMinutes: 0,
};
const SETTINGS = {
  baseUrl: "https://api.example.com",
  database: "lake",
  lifted: [{ name: "brand", pointer: "/brand/name" }],
  accounts: {
    uk: { schedule: "rate(1 day)" },
    lab: {
      schedule: "rate(12 hours)",
      timeZone: "Europe/London",
      enabled: false,
      baseUrl: "https://lab.example.com",
      authUrl: "https://login.example.com",
      ...OF_A_RUN,
      staleAfterHours: 30,
      leftOutAlarmAbove: 5,
      warehouse: "./warehouse",
      credentials: "credentials/lab.json",
      tokens: "credentials/lab.tokens.json",
      notifyUrl: "https://hooks.example.com/lab",
      notifyOn: ["failed"],
      notifyLink: "https://example.com/runbook",
    },
  },
};
const template = synthesized(SETTINGS);
const { Variables } = z
  .object({ Variables: z.record(z.string(), z.string()) })
  .parse(template.only("AWS::Lambda::Function").properties["Environment"]);

it("an account here has every key that there is", () => {
  expect(Object.keys(SETTINGS.accounts.lab).toSorted()).toEqual(Object.keys(ACCOUNT_SETTINGS).toSorted());
});

it("the function reads the settings that the stack writes, and gets no key that it does not know", () => {
  const [uk, lab, labTokens] = template
    .all("AWS::SecretsManager::Secret")
    .map(({ properties }) => properties["Name"]);
  const file = functionFileText(parseSettings(SETTINGS));

  const deployed = Object.fromEntries(
    Object.entries(Variables).map(([name, value]) => [
      name,
      value
        .replaceAll("<AWS::Partition>", "aws")
        .replaceAll("<AWS::Region>", "eu-west-1")
        .replaceAll("<AWS::AccountId>", "123456789012"),
    ]),
  );
  expect(readEnvironment({ ...deployed, AWS_REGION: "eu-west-1" }, file)).toEqual({
    bucket: `<${template.only("AWS::S3::Bucket").name}>`,
    bucketOwner: "123456789012",
    database: "lake",
    workgroup: "Stack",
    metricNamespace: "BrandEventsSync",
    stateMachineArn: "arn:aws:states:eu-west-1:123456789012:stateMachine:Stack",
    program: "npm run sync --",
    maxTurns: 1_000,
    region: "eu-west-1",
    functionName: "brand-events-sync",
    lifted: [{ name: "brand", pointer: "/brand/name" }],
    accounts: {
      uk: {
        secretId: uk,
        ...accountSettings.parse({ baseUrl: "https://api.example.com/" }),
      },
      lab: {
        secretId: lab,
        tokensSecretId: labTokens,
        authUrl: "https://login.example.com/",
        baseUrl: "https://lab.example.com/",
        ...OF_A_RUN,
      },
    },
  });
});
