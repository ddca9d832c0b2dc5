// The limits of AWS: 30 accounts with every setting fit into one stack, as many as the page says too, and more are refused.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { sectionOf } from "../docs/markdown.ts";
import { synth } from "../e2e/template.ts";
import { type Resource, type Synthesized, statements, synthesized, WITHOUT_BUNDLE } from "./synthesized.ts";

/** Limits of AWS, as its guides give them. */
const LIMITS = {
  resources: 500,
  outputs: 200,
  templateBytes: 1_000_000,
  inlinePolicyCharacters: 10_240,
  managedPolicyCharacters: 6_144,
  variableBytes: 4_096,
  widgets: 500,
  alarmsOfAWidget: 100,
};
/** As long as what CloudFormation puts in the place of a reference: these, and for any other the longest ARN. */
const PSEUDO = new Map([
  ["<AWS::Partition>", "aws-us-gov"],
  ["<AWS::Region>", "ap-southeast-1"],
  ["<AWS::AccountId>", "123456789012"],
]);
const LONGEST_ARN = "x".repeat(160);

const everyKey = {
  schedule: "cron(0/15 6-18 ? * MON-FRI *)",
  timeZone: "America/Argentina/ComodRivadavia",
  enabled: true,
  baseUrl: `https://${"long-name.".repeat(12)}example.com/with/a/path`,
  authUrl: `https://${"long-name.".repeat(12)}example.com/with/a/path`,
  requestsPerMinute: 123_456_789,
  bytesPerMinute: 123_456_789_012,
  limitWindowSeconds: 3_600,
  concurrency: 256,
  isListed: "false",
  listPointer: "/data/items/of/the/response/for/the/list",
  detailPointer: "/data/item/of/the/response/for/one/event",
  maxDropPercent: 12.5,
  maxMissingPercent: 12.5,
  retainDays: 36_500,
  resumeWithinMinutes: 20_160,
  staleAfterHours: 168,
  leftOutAlarmAbove: 1_000_000_000,
};
const settingsOf = (accounts: number): object => ({
  stackName: "S".repeat(64),
  database: "d".repeat(255),
  alarmEmail: "data-team@example.com",
  runbookUrl: `https://wiki.example.com/${"long/".repeat(30)}runbook`,
  logRetentionDays: 3_653,
  tags: Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`department-${n}`, "v".repeat(50)])),
  scanLimitGigabytes: 10_000,
  reservedConcurrency: 1_000,
  lifted: Array.from({ length: 20 }, (_, n) => ({ name: `column_${n}`, pointer: `/a/long/path/to/${n}` })),
  accounts: Object.fromEntries(
    Array.from({ length: accounts }, (_, n) => [`account-${n}-`.padEnd(40, "x"), everyKey]),
  ),
});

const withReferences = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/<[^<>]+>/g, (reference) => PSEUDO.get(reference) ?? LONGEST_ARN);
const policyText = ({ properties }: Resource): string => withReferences(properties["PolicyDocument"]);

describe("30 accounts with every key set", () => {
  const template: Synthesized = synthesized(settingsOf(30));

  it("have fewer resources, outputs and characters than a stack may have", () => {
    const resources = [...template.types].flatMap((type) => template.all(type));

    expect(template.all("AWS::SecretsManager::Secret")).toHaveLength(60);
    expect(resources.length).toBeLessThanOrEqual(LIMITS.resources);
    expect(template.outputs.size).toBeLessThanOrEqual(LIMITS.outputs);
    expect(Buffer.byteLength(template.text)).toBeLessThanOrEqual(LIMITS.templateBytes);
  });

  it("fit into the policies", () => {
    for (const policy of template.all("AWS::IAM::Policy")) {
      expect(policyText(policy).length).toBeLessThanOrEqual(LIMITS.inlinePolicyCharacters);
    }
    expect(policyText(template.only("AWS::IAM::ManagedPolicy")).length).toBeLessThanOrEqual(
      LIMITS.managedPolicyCharacters,
    );
  });

  it("fit into the function's variables, which do not grow with them", () => {
    const { Variables } = z
      .object({ Variables: z.record(z.string(), z.string()) })
      .parse(template.only("AWS::Lambda::Function").properties["Environment"]);
    const text = withReferences(Object.entries(Variables).flat().join(""));

    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMITS.variableBytes);
  });

  it("fit into the dashboard", () => {
    const { widgets } = z
      .object({ widgets: z.array(z.object({ properties: z.record(z.string(), z.unknown()) })) })
      .parse(JSON.parse(String(template.only("AWS::CloudWatch::Dashboard").properties["DashboardBody"])));
    const alarms = widgets.flatMap(({ properties: { alarms: shown } }) =>
      Array.isArray(shown) ? [shown.length] : [],
    );

    expect(widgets.length).toBeLessThanOrEqual(LIMITS.widgets);
    expect(Math.max(...alarms)).toBeLessThanOrEqual(LIMITS.alarmsOfAWidget);
    expect(alarms.reduce((sum, n) => sum + n, 0)).toBe(template.all("AWS::CloudWatch::Alarm").length);
  });

  it.each(["GetSecretValue", "PutSecretValue"])("need one statement with %s for their secrets", (action) => {
    const found = template
      .all("AWS::IAM::Policy")
      .flatMap((policy) => statements(policy))
      .filter(({ Action }) => Action.includes(`secretsmanager:${action}`));

    expect(found).toHaveLength(1);
    expect(found[0]?.Resource).toHaveLength(1);
  });
});

it.each([
  { accounts: 48, method: "without oauth", settings: {} },
  { accounts: 43, method: "with oauth", settings: { authUrl: "https://login.example.com" } },
])(
  "a stack takes $accounts accounts $method, as the page says, and not one more",
  ({ accounts, settings }) => {
    const stackOf = (n: number): Synthesized =>
      synthesized({
        baseUrl: "https://api.example.com",
        alarmEmail: "data-team@example.com",
        ...settings,
        accounts: Object.fromEntries(
          Array.from({ length: n }, (_, at) => [`a${at}`, { schedule: "rate(1 day)" }]),
        ),
      });

    const { outputs, text } = stackOf(accounts);

    expect(outputs.size).toBeLessThanOrEqual(LIMITS.outputs);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMITS.templateBytes);
    expect(() => stackOf(accounts + 1)).toThrow(
      /need 5[01]\d resources, and a stack of CloudFormation has at most 500/,
    );
    expect(sectionOf("settings.md", "### A second stack")).toMatch(
      new RegExp(`\\b${accounts} (?:accounts|with)`),
    );
  },
);

it("more accounts than a stack may have resources for are refused, with the remedy and nothing else", async () => {
  await expect(synth(settingsOf(70), WITHOUT_BUNDLE)).rejects.toThrow(
    /^synth failed: eventSync\.accounts: 70 accounts need \d+ resources, and a stack of CloudFormation has at most 500\. [^\n]*second stack, with a stackName and a database of its own[^\n]*\n$/,
  );
});
