// What a deployment says: at synthesis, of settings that are taken but are unlikely to be meant; and in its outputs, the next
// steps in their order, and the names that other documents use.

import { Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { EventSync } from "../../lib/event-sync.ts";
import { CONTEXT, newApp, stackIn, synthesized } from "./synthesized.ts";

const account = { schedule: "rate(1 day)" };
const template = synthesized({
  baseUrl: "https://api.example.com",
  accounts: { uk: account, us: account },
});

describe("the outputs", () => {
  const { outputs } = template;
  const functionName = `<${template.only("AWS::Lambda::Function").name}>:live`;

  it("are the next steps in order, for each account: fill the secret, check, run, watch; then query", () => {
    const steps = [...outputs.keys()].filter((name) => name.startsWith("Step"));

    expect(steps.toSorted()).toEqual([
      "Step1FillSecretuk",
      "Step1FillSecretus",
      "Step2Checkuk",
      "Step2Checkus",
      "Step3Runuk",
      "Step3Runus",
      "Step3Watch",
      "Step4Query",
    ]);
    expect(outputs.get("Step4Query")).toBe("Stack");
  });

  it.each([
    ["check", "uk", "Step2Checkuk", "--cli-read-timeout 900"],
    ["check", "us", "Step2Checkus", "--cli-read-timeout 900"],
    ["run", "uk", "Step3Runuk", "--invocation-type Event"],
    ["run", "us", "Step3Runus", "--invocation-type Event"],
  ])("%s the account %s: a check waits for the result, a run does not", (action, name, output, options) => {
    expect(outputs.get(output)).toBe(
      `aws lambda invoke --region <AWS::Region> --function-name ${functionName} ${options} --cli-binary-format raw-in-base64-out --payload '{"action":"${action}","account":"${name}"}' /dev/stdout`,
    );
  });

  it("watch a run in the log", () => {
    expect(outputs.get("Step3Watch")).toBe(
      `aws logs tail <${template.only("AWS::Logs::LogGroup").name}> --region <AWS::Region> --since 5m --follow --format short`,
    );
  });

  it("link to the dashboard in the partition aws, and nowhere else: other consoles have other addresses", () => {
    const { Conditions, Outputs } = z
      .object({
        Conditions: z.record(z.string(), z.unknown()),
        Outputs: z.record(z.string(), z.object({ Condition: z.string().optional() })),
      })
      .parse(JSON.parse(template.text));

    const conditions = Object.entries(Outputs).flatMap(([name, { Condition }]) =>
      Condition === undefined ? [] : [[name, Conditions[Condition]]],
    );
    expect(conditions).toEqual([["DashboardLink", { "Fn::Equals": [{ Ref: "AWS::Partition" }, "aws"] }]]);
    expect(outputs.get("DashboardLink")).toBe(
      "https://<AWS::Region>.console.aws.amazon.com/cloudwatch/home?region=<AWS::Region>#dashboards/dashboard/Stack",
    );
  });

  it("give the names that the command line, the runbook and administrators need", () => {
    expect(outputs.get("WarehouseLocation")).toBe(`s3://<${template.only("AWS::S3::Bucket").name}>`);
    expect(outputs.get("FunctionName")).toBe(`<${template.only("AWS::Lambda::Function").name}>`);
    expect(outputs.get("LogGroupName")).toBe(`<${template.only("AWS::Logs::LogGroup").name}>`);
    expect(outputs.get("AnalystPolicyArn")).toBe(`<${template.only("AWS::IAM::ManagedPolicy").name}>`);
    expect(outputs.get("FailureQueueUrl")).toBe(`<${template.only("AWS::SQS::Queue").name}>`);
    expect(outputs.get("StateMachineArn")).toBe(
      "arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:stateMachine:Stack",
    );
  });
});

const UK = { schedule: "rate(1 day)" };
const lab = { ...UK, baseUrl: "https://service.example" };
const GOOD = { baseUrl: "https://service.example", accounts: { uk: UK } };
const PLACEHOLDER = "eventSync.baseUrl: the address of the service is still a placeholder (uk). Set your own";

it.each<readonly [string, RegExp, unknown, readonly string[]]>([
  ["the settings of the project", /placeholder/, CONTEXT["eventSync"], [PLACEHOLDER]],
  ["an address of its own", /placeholder/, GOOD, []],
  ["an address of the account's own", /placeholder/, { accounts: { lab } }, []],
  [
    "the placeholder for one of its accounts, however it is written",
    /placeholder/,
    { baseUrl: "https://API.example.com/v1", accounts: { uk: UK, lab } },
    [PLACEHOLDER],
  ],
  ["no word on how the list is paged", /nextPage/, GOOD, ["eventSync.nextPage: not set (uk)."]],
  ["a word on that for each account", /nextPage/, { ...GOOD, nextPage: "all" }, []],
  [
    "a word on that for one of its accounts",
    /nextPage/,
    { ...GOOD, accounts: { uk: UK, us: { ...UK, nextPage: "links" }, de: UK } },
    ["eventSync.nextPage: not set (uk, de)."],
  ],
  [
    "a schedule that is rare",
    /alarm "stale"/,
    { ...GOOD, accounts: { uk: { schedule: "rate(7 days)" } } },
    ["accounts.uk.schedule: too rare for the alarm"],
  ],
  ["a schedule for each day", /alarm "stale"/, GOOD, []],
  ["no address of a runbook", /runbookUrl/, GOOD, ["docs/runbook.md is not an address"]],
  ["the address of a runbook", /runbookUrl/, { ...GOOD, runbookUrl: "https://wiki.example.com/runbook" }, []],
  [
    "a column under a name that readers take for something else",
    /lifted/,
    { ...GOOD, lifted: [{ name: "_col0", pointer: "/a" }] },
    ["eventSync.lifted: the column has the name _col0, which without quotes"],
  ],
  ["a column under another name", /lifted/, { ...GOOD, lifted: [{ name: "a", pointer: "/a" }] }, []],
  ["no address for mails", /alarmEmail: not set/, GOOD, ["so alarms send no e-mail"]],
  ["an address for mails", /alarmEmail: not set/, { ...GOOD, alarmEmail: "data-team@example.com" }, []],
])("of a deployment with %s it says of the %s what is expected", (_, about, eventSync, says) => {
  const stack = stackIn(newApp(), eventSync);

  const annotations = Annotations.fromStack(stack);
  const match = Match.stringLikeRegexp(about.source);
  const said = [...annotations.findWarning("*", match), ...annotations.findInfo("*", match)];

  expect(said.map(({ entry }) => String(entry.data))).toEqual(
    says.map((text) => expect.stringContaining(text)),
  );
});

it("without an address for mails it says nothing where the app brings a topic, which is where people look", () => {
  const stack = new Stack(newApp(), "Platform");
  new EventSync(stack, "Events", { settings: GOOD, alarmTopic: new Topic(stack, "OnCall") });

  expect(Annotations.fromStack(stack).findInfo("*", Match.stringLikeRegexp("alarmEmail"))).toEqual([]);
});
