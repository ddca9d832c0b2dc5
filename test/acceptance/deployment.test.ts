import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AwsProxy, queryResponse } from "../aws/aws-proxy.ts";
import { ROWS } from "./acceptance.ts";
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
        MetricName: { "Fn::ImportValue": "exported" },
        Threshold: { "Fn::Join": ["", [{ "Fn::ImportValue": "threshold" }, "0"]] },
      },
    },
    Foreign: { Type: ALARM, ...at("Other/Alarm"), Properties: {} },
    NotMade: { Type: ALARM, ...at("Events/Alarms/de"), Condition: "Never", Properties: {} },
    Machine: { Type: "Custom::Machine", ...at("Events/Machine"), Properties: {} },
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
  Machine: "m-1",
};

describe("a deployment in an app of one's own", () => {
  let proxy: AwsProxy;
  let deployed: Deployed;
  let drifts: object[] = [];

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
      ListExports: { Exports: [{ Name: "exported", Value: "Failed" }] },
      DetectStackDrift: { StackDriftDetectionId: "1" },
      DescribeStackDriftDetectionStatus: {
        StackId: stack.StackId,
        StackDriftDetectionId: "1",
        DetectionStatus: "DETECTION_COMPLETE",
        Timestamp: "2026-11-23T00:00:00Z",
      },
    };
    proxy.fault = (_, { body }) => {
      const action = new URLSearchParams(body.toString()).get("Action") ?? "";
      const drift = action === "DescribeStackResourceDrifts" ? { StackResourceDrifts: drifts } : undefined;
      return queryResponse(action, drift ?? answers[action] ?? {});
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
      MetricName: "Failed",
      Namespace: UNKNOWN,
      Threshold: UNKNOWN,
    });
  });

  const seen = (name: string, exceptions?: At["exceptions"]): Promise<string> => {
    const journal = new Journal("unused", deployed.clients);
    const all: At = {
      ...{ deployed, account: "uk", journal, ask: async () => undefined },
      ...(exceptions && { exceptions }),
    };
    return ROWS.find((row) => row.name === name)?.see(all) ?? Promise.reject(new Error("no row"));
  };

  test("names what is not known, and a type that no row reads, and fails", async () => {
    const open = ["Alarm Platform_Events-uk Namespace", "Alarm Platform_Events-uk Threshold"];
    const all = [...open, "Machine m-1", "Schedule uk GroupName"].map((name) => `${name}: not compared`);

    await expect(seen("not compared")).rejects.toThrow(all.join("; "));
  });

  test("passes it with a reason for each, and says them", async () => {
    const exceptions = new Map([
      ["Schedule uk GroupName", "read by hand"],
      ["Machine m-1", "ours"],
      ["Alarm Platform_Events-uk Namespace", "read by hand"],
    ]);

    await expect(seen("not compared", exceptions)).rejects.toThrow(
      /^Alarm Platform_Events-uk Threshold: not compared$/,
    );

    exceptions.set("Alarm Platform_Events-uk Threshold", "read by hand");

    expect(await seen("not compared", exceptions)).toContain(
      "Schedule uk GroupName: read by hand; Machine m-1: ours",
    );
  });

  test("skips a row that has nothing to compare, because the app has brought its own", async () => {
    await expect(seen("topic")).rejects.toThrow(Skipped);
  });

  const drift = (LogicalResourceId: string, StackResourceDriftStatus: string, more: object = {}): object => ({
    ...{ StackId: "x", LogicalResourceId, ResourceType: "x", StackResourceDriftStatus },
    ...{ Timestamp: "2026-11-23T00:00:00Z", ...more },
  });

  test("has drifted where CloudFormation says so of one of its own resources", async () => {
    const found = {
      PropertyPath: "/Threshold",
      ExpectedValue: "1",
      ActualValue: "2",
      DifferenceType: "NOT_EQUAL",
    };
    drifts = [
      drift("Own", "MODIFIED", { PropertyDifferences: [found] }),
      drift("Schedule", "DELETED"),
      drift("Queue", "IN_SYNC"),
      drift("Foreign", "MODIFIED"),
    ];

    await expect(seen("drift")).rejects.toThrow(
      "Own MODIFIED /Threshold: expected 1, found 2; Schedule DELETED",
    );
  });

  test("has not drifted where only others' resources have, or no comparison is made", async () => {
    drifts = [drift("Own", "IN_SYNC"), drift("Schedule", "NOT_CHECKED"), drift("Foreign", "MODIFIED")];

    expect(await seen("drift")).toBe("1 of 6 resources in sync; CloudFormation does not compare the others");
  });

  test("has a doubt where CloudFormation says something new", async () => {
    drifts = [drift("Own", "UNKNOWN")];

    await expect(seen("drift")).rejects.toThrow("Own UNKNOWN");
  });
});
