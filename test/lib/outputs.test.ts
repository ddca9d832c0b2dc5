// The stack's outputs: the next steps in their order, and the names that other documents use.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { synthesized } from "./synthesized.ts";

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
