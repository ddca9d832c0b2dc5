// The function, its schedules, its state machine and its queue, as AWS describes them.

import { z } from "zod";
import type { Clients } from "./deployment.ts";
import { capitalized, type Kind, tagsOf, without } from "./kind.ts";

/** The function's, which everything calls. */
const ALIAS = "live";

/** A resource that Lambda does not change is described by these too. */
const OF_A_VERSION =
  "FunctionArn CodeSize CodeSha256 ConfigSha256 LastModified RevisionId MasterArn RuntimeVersionConfig State StateReason StateReasonCode LastUpdateStatus LastUpdateStatusReason LastUpdateStatusReasonCode";

export const FUNCTION: readonly Kind[] = [
  {
    type: "AWS::Lambda::Function",
    read: async ({ lambda }, { id }) => {
      const found = await lambda.getFunctionConfiguration({ FunctionName: id, Qualifier: ALIAS });
      const { ReservedConcurrentExecutions } = await lambda.getFunctionConcurrency({ FunctionName: id });
      const { VpcId: _, ...VpcConfig } = found.VpcConfig ?? {};
      return {
        ...without(found, `${OF_A_VERSION} FunctionName Version`),
        VpcConfig,
        ReservedConcurrentExecutions,
        ...(await tagsOfFunction(lambda, found.FunctionArn, id)),
      };
    },
    filledIn: {
      EphemeralStorage: [{ Size: 512 }],
      "LoggingConfig.LogFormat": ["Text"],
      PackageType: ["Zip"],
      SnapStart: [{ ApplyOn: "None", OptimizationStatus: "Off" }],
      TracingConfig: [{ Mode: "PassThrough" }],
      "VpcConfig.Ipv6AllowedForDualStack": [false],
    },
    notReturned: { Code: "a version is never changed, and the alias is held against it" },
  },
  {
    type: "AWS::Lambda::Version",
    read: async ({ lambda }, { id, text }) => {
      await lambda.getFunctionConfiguration({
        FunctionName: text("FunctionName"),
        Qualifier: id.split(":").at(-1),
      });
      return {};
    },
  },
  {
    type: "AWS::Lambda::Alias",
    read: async ({ lambda }, { text }) => {
      const found = await lambda.getAlias({ FunctionName: text("FunctionName"), Name: text("Name") });
      return without(found, "AliasArn RevisionId");
    },
  },
  {
    type: "AWS::Lambda::EventInvokeConfig",
    read: async ({ lambda }, { text }) => {
      const [FunctionName, Qualifier] = [text("FunctionName"), text("Qualifier")];
      const found = await lambda.getFunctionEventInvokeConfig({ FunctionName, Qualifier });
      return without(found, "FunctionArn LastModified");
    },
  },
  {
    type: "AWS::Lambda::Permission",
    read: async ({ lambda }, { text }) => {
      const { Policy = "" } = await lambda.getPolicy({ FunctionName: text("FunctionName") });
      const all = permissionsIn(Policy);
      return all.find(({ SourceArn }) => SourceArn === text("SourceArn"));
    },
  },
];

async function tagsOfFunction(lambda: Clients["lambda"], arn: string | undefined, id: string) {
  // The alias and the version have none.
  const Resource = arn?.replace(/(:function:[^:]+):.*/, "$1") ?? id;
  return tagsOf((await lambda.listTags({ Resource })).Tags);
}

const policySchema = z.object({ Statement: z.array(z.looseObject({})) });
const principalSchema = z.union([
  z.string(),
  z.object({ Service: z.string() }).transform(({ Service }) => Service),
  z.object({ AWS: z.string() }).transform(({ AWS }) => AWS),
]);
const conditionSchema = z
  .object({ ArnLike: z.object({ "AWS:SourceArn": z.string() }).optional() })
  .loose()
  .default({});

/** The statements of the alias's policy, in the words of permissions; what these have no words for stays as it is. */
export function permissionsIn(policy: string) {
  return policySchema.parse(JSON.parse(policy)).Statement.map((statement) => {
    const { Sid: _, Effect, Resource: __, Principal, Condition, ...others } = statement;
    const { ArnLike, ...conditions } = conditionSchema.parse(Condition);
    return {
      ...others,
      ...(Effect === "Allow" ? {} : { Effect }),
      Principal: principalSchema.safeParse(Principal).data ?? Principal,
      SourceArn: ArnLike?.["AWS:SourceArn"],
      ...(Object.keys(conditions).length > 0 ? { Condition: conditions } : {}),
    };
  });
}

export const SCHEDULES: readonly Kind[] = [
  {
    type: "AWS::Scheduler::Schedule",
    read: async ({ scheduler }, { id, text }) => {
      const found = await scheduler.getSchedule({ GroupName: text("GroupName"), Name: id });
      return without(found, "Arn CreationDate LastModificationDate Name");
    },
    filledIn: { ActionAfterCompletion: ["NONE"], "Target.RetryPolicy.MaximumRetryAttempts": [185] },
  },
  {
    type: "AWS::Scheduler::ScheduleGroup",
    read: async ({ scheduler }, { text }) => {
      const found = await scheduler.getScheduleGroup({ Name: text("Name") });
      const { Tags } = await scheduler.listTagsForResource({ ResourceArn: found.Arn });
      return { ...without(found, "Arn CreationDate LastModificationDate"), ...tagsOf(Tags) };
    },
    filledIn: { State: ["ACTIVE"] },
  },
];

export const STATE_MACHINE: readonly Kind[] = [
  {
    type: "AWS::StepFunctions::StateMachine",
    read: async ({ stepFunctions }, { id }) => {
      const found = await stepFunctions.describeStateMachine({ stateMachineArn: id });
      const { name, type, definition, ...others } = without(found, "stateMachineArn creationDate revisionId");
      const { tags } = await stepFunctions.listTagsForResource({ resourceArn: id });
      return {
        ...Object(capitalized(others)),
        StateMachineName: name,
        StateMachineType: type,
        DefinitionString: definition,
        ...tagsOf(tags),
      };
    },
    filledIn: { Status: ["ACTIVE"], "LoggingConfiguration.IncludeExecutionData": [false] },
  },
];

export const RULES: readonly Kind[] = [
  {
    type: "AWS::Events::Rule",
    read: async ({ events }, { name }) => {
      const found = await events.describeRule({ Name: name });
      const { Targets } = await events.listTargetsByRule({ Rule: name });
      const { Tags } = await events.listTagsForResource({ ResourceARN: found.Arn });
      return { ...without(found, "Arn CreatedBy Name"), Targets, ...tagsOf(Tags) };
    },
    filledIn: { EventBusName: ["default"] },
  },
];

export const QUEUE: readonly Kind[] = [
  {
    type: "AWS::SQS::Queue",
    read: async ({ sqs }, { id: QueueUrl }) => {
      const { Attributes } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: ["All"] });
      const counts =
        "ApproximateNumberOfMessages ApproximateNumberOfMessagesNotVisible ApproximateNumberOfMessagesDelayed";
      const { Tags } = await sqs.listQueueTags({ QueueUrl });
      return {
        ...without(Attributes, `QueueArn CreatedTimestamp LastModifiedTimestamp Policy ${counts}`),
        ...tagsOf(Tags),
      };
    },
    filledIn: {
      DelaySeconds: [0],
      // SQS raised it from 256 KiB to 1 MiB.
      MaximumMessageSize: [262_144, 1_048_576],
      ReceiveMessageWaitTimeSeconds: [0],
      VisibilityTimeout: [30],
    },
  },
  {
    type: "AWS::SQS::QueuePolicy",
    read: async ({ sqs }, { text }) => {
      const AttributeNames = ["Policy" as const];
      const { Attributes } = await sqs.getQueueAttributes({ QueueUrl: text("Queues"), AttributeNames });
      return Attributes && { PolicyDocument: Attributes.Policy };
    },
  },
];
