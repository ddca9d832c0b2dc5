// The stack's outputs: the next steps in their order, and the names that other documents use.

import { describe, expect, it } from "vitest";
import { synthesized } from "./synthesized.ts";

const account = { schedule: "rate(1 day)" };
const template = synthesized({
  baseUrl: "https://api.example.com",
  accounts: { uk: account, us: account },
});

describe("the outputs", () => {
  const { outputs } = template;
  const invocation = (payload: string): string =>
    `aws lambda invoke --region <AWS::Region> --function-name <${template.only("AWS::Lambda::Function").name}>:live --cli-read-timeout 900 --cli-binary-format raw-in-base64-out --payload '${payload}' /dev/stdout`;

  it("are the next steps in order: fill the secrets, check, run, query", () => {
    const steps = [...outputs].filter(([name]) => name.startsWith("Step"));

    expect(steps.map(([name]) => name)).toEqual([
      "Step1FillSecretuk",
      "Step1FillSecretus",
      "Step2Check",
      "Step3Run",
      "Step4Query",
    ]);
    expect(outputs.get("Step2Check")).toBe(invocation('{"action":"check","account":"uk"}'));
    expect(outputs.get("Step3Run")).toBe(invocation('{"action":"run","account":"uk"}'));
    expect(outputs.get("Step4Query")).toBe("Stack");
  });

  it("give the names that the command line, the runbook and administrators need", () => {
    expect(outputs.get("WarehouseLocation")).toBe(`s3://<${template.only("AWS::S3::Bucket").name}>`);
    expect(outputs.get("FunctionName")).toBe(`<${template.only("AWS::Lambda::Function").name}>`);
    expect(outputs.get("LogGroupName")).toBe(`<${template.only("AWS::Logs::LogGroup").name}>`);
    expect(outputs.get("AnalystPolicyArn")).toBe(`<${template.only("AWS::IAM::ManagedPolicy").name}>`);
    expect(outputs.get("FailureQueueUrl")).toBe(`<${template.only("AWS::SQS::Queue").name}>`);
  });
});
