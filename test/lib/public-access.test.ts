// Nothing is public: the policies of the resources, and every type of resource in the stack.

import { describe, expect, it } from "vitest";
import { statements, synthesized } from "./synthesized.ts";

const template = synthesized();

describe("the stack", () => {
  it("has nothing public: no policy allows every principal, no function has a URL, and there are no other types of resource", () => {
    const resourcePolicies = ["AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy"];
    const open = resourcePolicies
      .flatMap((type) => template.all(type))
      .flatMap((resource) => statements(resource))
      .filter(({ Effect, Principal }) => Effect === "Allow" && JSON.stringify(Principal).includes("*"));

    expect(open).toEqual([]);
    expect([...template.types].toSorted()).toEqual([
      "AWS::Athena::NamedQuery",
      "AWS::Athena::WorkGroup",
      "AWS::CloudWatch::Alarm",
      "AWS::CloudWatch::Dashboard",
      "AWS::Events::Rule",
      "AWS::Glue::Database",
      "AWS::Glue::Table",
      "AWS::IAM::ManagedPolicy",
      "AWS::IAM::Policy",
      "AWS::IAM::Role",
      "AWS::KMS::Key",
      "AWS::Lambda::Alias",
      "AWS::Lambda::EventInvokeConfig",
      "AWS::Lambda::Function",
      "AWS::Lambda::Permission",
      "AWS::Lambda::Version",
      "AWS::Logs::LogGroup",
      "AWS::Logs::MetricFilter",
      "AWS::Logs::QueryDefinition",
      "AWS::S3::Bucket",
      "AWS::S3::BucketPolicy",
      "AWS::SNS::Topic",
      "AWS::SNS::TopicPolicy",
      "AWS::SQS::Queue",
      "AWS::SQS::QueuePolicy",
      "AWS::Scheduler::Schedule",
      "AWS::Scheduler::ScheduleGroup",
      "AWS::SecretsManager::Secret",
      "AWS::StepFunctions::StateMachine",
    ]);
  });
});
