import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AwsProxy, queryResponse } from "../aws/aws-proxy.ts";
import { AS_STATED } from "./as-stated.ts";
import { type Deployed, newClients, readDeployment } from "./deployment.ts";
import { UNKNOWN } from "./differences.ts";
import { Journal } from "./journal.ts";
import { type At, Skipped } from "./row.ts";

const at = (path: string) => ({ Metadata: { "aws:cdk:path": `Platform/${path}` } });
const output = (Value: string) => ({ Value });
const ALARM = "AWS::CloudWatch::Alarm";

/** Of an app with a deployment and something else in one stack. */
const TEMPLATE = {
  Resources: {
    Group: { Type: "AWS::Athena::WorkGroup", ...at("Events/Analysis/Workgroup"), Properties: {} },
    Queue: { Type: "AWS::SQS::Queue", ...at("Events/Failures/Queue"), Properties: {} },
    Own: {
      Type: ALARM,
      ...at("Events/Alarms/uk"),
      Properties: {
        AlarmActions: [{ Ref: "Topic" }],
        Dimensions: [{ Name: "QueueName", Value: { "Fn::GetAtt": ["Queue", "QueueName"] } }],
        Namespace: { "Fn::ImportValue": "namespace" },
        Threshold: { "Fn::Join": ["", [{ "Fn::ImportValue": "threshold" }, "0"]] },
      },
    },
    Foreign: { Type: ALARM, ...at("Other/Alarm"), Properties: {} },
    NotMade: { Type: ALARM, ...at("Events/Alarms/de"), Condition: "Never", Properties: {} },
    Schedule: {
      Type: "AWS::Scheduler::Schedule",
      ...at("Events/Schedules/uk"),
      Properties: { GroupName: { "Fn::ImportValue": "group" }, State: "ENABLED" },
    },
  },
  Outputs: {
    EventsStep4Query: output(""),
    EventsFunctionName: output(""),
    EventsWarehouseLocation: output(""),
  },
};
const MADE: Readonly<Record<string, string>> = {
  Group: "Platform_Events",
  Queue: "https://sqs.eu-west-1.amazonaws.com/123456789012/failures",
  Own: "Platform_Events-uk",
  Foreign: "theirs",
  Schedule: "uk",
};

describe("a deployment in an app of one's own", () => {
  let proxy: AwsProxy;
  let deployed: Deployed;

  beforeAll(async () => {
    proxy = await AwsProxy.start();
    const outputs = { Step4Query: "Platform_Events", FunctionName: "sync", WarehouseLocation: "s3://bucket" };
    const stack = {
      StackName: "Platform",
      StackId: "arn:aws:cloudformation:eu-west-1:123456789012:stack/Platform/1",
      StackStatus: "CREATE_COMPLETE",
      CreationTime: "2026-11-23T00:00:00Z",
      Parameters: [{ ParameterKey: "Topic", ParameterValue: "arn:topic" }],
      Outputs: Object.entries(outputs).map(([key, value]) => ({
        OutputKey: `Events${key}`,
        OutputValue: value,
      })),
    };
    const StackResourceSummaries = Object.entries(MADE).map(([id, PhysicalResourceId]) => ({
      LogicalResourceId: id,
      PhysicalResourceId,
      ResourceType: Object(TEMPLATE.Resources)[id].Type,
      ResourceStatus: "CREATE_COMPLETE",
      LastUpdatedTimestamp: "2026-11-23T00:00:00Z",
    }));
    const answers: Readonly<Record<string, object>> = {
      DescribeStacks: { Stacks: [stack] },
      ListStackResources: { StackResourceSummaries },
      GetTemplate: { TemplateBody: JSON.stringify(TEMPLATE) },
    };
    proxy.fault = (_, { body }) => {
      const action = new URLSearchParams(body.toString()).get("Action") ?? "";
      return queryResponse(action, answers[action] ?? {});
    };
    const credentials = { accessKeyId: "test", secretAccessKey: "test" };
    const clients = newClients({}, { endpoint: proxy.url, region: "eu-west-1", credentials });
    deployed = await readDeployment(clients, "Platform");
  });

  afterAll(() => proxy[Symbol.asyncDispose]());

  test("is stated without what else the stack has, and without what a condition leaves out", () => {
    expect(deployed.stated(ALARM).map(({ id }) => id)).toEqual(["Platform_Events-uk"]);
  });

  test("is stated with references resolved; what another stack exports is not known", () => {
    expect(deployed.stated(ALARM)[0]?.properties).toEqual({
      AlarmActions: ["arn:topic"],
      Dimensions: [{ Name: "QueueName", Value: "failures" }],
      Namespace: UNKNOWN,
      Threshold: UNKNOWN,
    });
  });

  const seen = (name: string): Promise<string> => {
    const all: At = {
      deployed,
      account: "uk",
      journal: new Journal("unused", deployed.clients),
      ask: async () => undefined,
    };
    return AS_STATED.find((row) => row.name === name)?.see(all) ?? Promise.reject(new Error("no row"));
  };

  test("is not compared where the name of a resource is not known, and the row says so", async () => {
    expect(await seen("schedules")).toBe(
      "1 as the template says; not known, and not compared: Schedule uk: GroupName",
    );
  });

  test("skips a row that has nothing to compare, because the app has brought its own", async () => {
    await expect(seen("topic")).rejects.toThrow(Skipped);
  });
});
