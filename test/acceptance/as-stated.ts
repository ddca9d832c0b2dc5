// Rows that hold what is deployed against the deployed template: each has the types of the resources that it reads, the
// properties that it compares, and the call that describes one, in the words of the template.

import { z } from "zod";
import type { Clients, Deployed, Stated } from "./deployment.ts";
import { compare } from "./differences.ts";
import { listed, must, type Row, Skipped, UNDO } from "./row.ts";

interface Kind {
  readonly type: string;
  /** Those of the template that are compared, where it states them. */
  readonly properties: string;
  readonly describe: (clients: Clients, resource: Named) => Promise<object | undefined>;
}

/** A resource with the names that describing it needs. */
interface Named {
  /** The last part of its name or ARN. */
  readonly name: string;
  readonly id: string;
  /** The text of a property that the template states, or the only one of its list. */
  readonly text: (property: string) => string;
}

/** By the name of their row. */
export const KINDS: Readonly<Record<string, readonly Kind[]>> = {
  function: [
    {
      type: "AWS::Lambda::Function",
      properties: "Handler Runtime MemorySize Timeout Environment Role",
      describe: ({ lambda }, { id }) =>
        lambda.getFunctionConfiguration({ FunctionName: id, Qualifier: ALIAS }),
    },
    {
      type: "AWS::Lambda::Alias",
      properties: "Name FunctionVersion",
      describe: ({ lambda }, { text }) =>
        lambda.getAlias({ FunctionName: text("FunctionName"), Name: text("Name") }),
    },
    {
      type: "AWS::Lambda::EventInvokeConfig",
      properties: "MaximumEventAgeInSeconds MaximumRetryAttempts DestinationConfig",
      describe: ({ lambda }, { text }) =>
        lambda.getFunctionEventInvokeConfig({
          FunctionName: text("FunctionName"),
          Qualifier: text("Qualifier"),
        }),
    },
    {
      type: "AWS::Lambda::Permission",
      properties: "Action Principal SourceArn",
      describe: async ({ lambda }, { text }) => {
        const { Policy = "" } = await lambda.getPolicy({ FunctionName: text("FunctionName") });
        const allowed = policySchema.parse(JSON.parse(Policy)).Statement.map((each) => ({
          Action: each.Action,
          Principal: each.Principal?.Service,
          SourceArn: each.Condition?.ArnLike["AWS:SourceArn"],
        }));
        return allowed.find(({ SourceArn }) => SourceArn === text("SourceArn"));
      },
    },
  ],
  schedules: [
    {
      type: "AWS::Scheduler::Schedule",
      properties: "State ScheduleExpression ScheduleExpressionTimezone FlexibleTimeWindow Target",
      describe: ({ scheduler }, { id, text }) =>
        scheduler.getSchedule({ GroupName: text("GroupName"), Name: id }),
    },
  ],
  "state machine": [
    {
      type: "AWS::StepFunctions::StateMachine",
      properties: "StateMachineType DefinitionString RoleArn",
      describe: async ({ stepFunctions }, { id }) => {
        const found = await stepFunctions.describeStateMachine({ stateMachineArn: id });
        return { StateMachineType: found.type, DefinitionString: found.definition, RoleArn: found.roleArn };
      },
    },
  ],
  rules: [
    {
      type: "AWS::Events::Rule",
      properties: "State EventPattern Targets",
      describe: async ({ events }, { name }) => {
        const { Targets } = await events.listTargetsByRule({ Rule: name });
        return { ...(await events.describeRule({ Name: name })), Targets };
      },
    },
  ],
  alarms: [
    {
      type: "AWS::CloudWatch::Alarm",
      properties:
        "Namespace MetricName Dimensions Metrics Statistic Period Threshold ComparisonOperator EvaluationPeriods DatapointsToAlarm TreatMissingData AlarmActions OKActions AlarmDescription",
      describe: async ({ cloudWatch }, { id }) =>
        (await cloudWatch.describeAlarms({ AlarmNames: [id] })).MetricAlarms?.[0],
    },
    {
      type: "AWS::Logs::MetricFilter",
      properties: "FilterPattern MetricTransformations",
      describe: async ({ logs }, { id, text }) => {
        const logGroupName = text("LogGroupName");
        const { metricFilters = [] } = await logs.describeMetricFilters({ logGroupName });
        const found = metricFilters.find(({ filterName }) => filterName === id);
        return (
          found && {
            FilterPattern: found.filterPattern,
            MetricTransformations: found.metricTransformations?.map((each) => ({
              MetricName: each.metricName,
              MetricNamespace: each.metricNamespace,
              MetricValue: each.metricValue,
            })),
          }
        );
      },
    },
  ],
  tables: [
    {
      type: "AWS::Glue::Table",
      properties: "TableInput",
      describe: async ({ glue }, { id, text }) => {
        const { Table } = await glue.getTable({ DatabaseName: text("DatabaseName"), Name: id });
        return { TableInput: Table };
      },
    },
  ],
  workgroup: [
    {
      type: "AWS::Athena::WorkGroup",
      properties: "WorkGroupConfiguration",
      describe: async ({ athena }, { id }) => {
        const { WorkGroup } = await athena.getWorkGroup({ WorkGroup: id });
        return { WorkGroupConfiguration: WorkGroup?.Configuration };
      },
    },
    {
      type: "AWS::Athena::NamedQuery",
      properties: "Name Database WorkGroup QueryString",
      describe: async ({ athena }, { id }) => (await athena.getNamedQuery({ NamedQueryId: id })).NamedQuery,
    },
  ],
  "own bucket": [
    {
      type: "AWS::S3::Bucket",
      properties: "BucketEncryption VersioningConfiguration PublicAccessBlockConfiguration",
      describe: async ({ s3 }, { id: Bucket }) => {
        const { ServerSideEncryptionConfiguration: encryption } = await s3.getBucketEncryption({ Bucket });
        const { PublicAccessBlockConfiguration } = await s3.getPublicAccessBlock({ Bucket });
        return {
          BucketEncryption: {
            ServerSideEncryptionConfiguration: encryption?.Rules?.map((rule) => ({
              ...rule,
              ServerSideEncryptionByDefault: rule.ApplyServerSideEncryptionByDefault,
            })),
          },
          VersioningConfiguration: await s3.getBucketVersioning({ Bucket }),
          PublicAccessBlockConfiguration,
        };
      },
    },
  ],
  secrets: [
    {
      type: "AWS::SecretsManager::Secret",
      properties: "Name KmsKeyId",
      describe: ({ secrets }, { id }) => secrets.describeSecret({ SecretId: id }),
    },
  ],
  log: [
    {
      type: "AWS::Logs::LogGroup",
      properties: "RetentionInDays",
      describe: async ({ logs }, { id }) => {
        const { logGroups = [] } = await logs.describeLogGroups({ logGroupNamePrefix: id });
        const found = logGroups.find(({ logGroupName }) => logGroupName === id);
        return found && { RetentionInDays: found.retentionInDays };
      },
    },
  ],
  topic: [
    {
      type: "AWS::SNS::Topic",
      properties: "KmsMasterKeyId",
      describe: async ({ sns }, { id }) => (await sns.getTopicAttributes({ TopicArn: id })).Attributes,
    },
  ],
  policies: [
    {
      type: "AWS::IAM::Role",
      properties: "AssumeRolePolicyDocument PermissionsBoundary",
      describe: async ({ iam }, { id }) => {
        const { Role } = await iam.getRole({ RoleName: id });
        return {
          AssumeRolePolicyDocument: decodeURIComponent(Role?.AssumeRolePolicyDocument ?? ""),
          PermissionsBoundary: Role?.PermissionsBoundary?.PermissionsBoundaryArn,
        };
      },
    },
    {
      type: "AWS::IAM::Policy",
      properties: "PolicyDocument",
      describe: async ({ iam }, { text }) => {
        const inline = { RoleName: text("Roles"), PolicyName: text("PolicyName") };
        const { PolicyDocument = "" } = await iam.getRolePolicy(inline);
        return { PolicyDocument: decodeURIComponent(PolicyDocument) };
      },
    },
    {
      type: "AWS::IAM::ManagedPolicy",
      properties: "PolicyDocument",
      describe: async ({ iam }, { id: PolicyArn }) => {
        const { Policy } = await iam.getPolicy({ PolicyArn });
        const VersionId = Policy?.DefaultVersionId;
        const { PolicyVersion } = await iam.getPolicyVersion({ PolicyArn, VersionId });
        return { PolicyDocument: decodeURIComponent(PolicyVersion?.Document ?? "") };
      },
    },
  ],
};

/** The function's, which everything calls. */
const ALIAS = "live";

/** The policy of the alias, as far as the template states it. */
const policySchema = z.object({
  Statement: z.array(
    z.object({
      Action: z.unknown(),
      Principal: z.object({ Service: z.string() }).optional().catch(undefined),
      Condition: z
        .object({ ArnLike: z.object({ "AWS:SourceArn": z.string() }) })
        .optional()
        .catch(undefined),
    }),
  ),
});

export const AS_STATED: readonly Row[] = Object.entries(KINDS).map(([name, kinds]) => ({
  name,
  does: `reads ${kinds.map(({ type }) => type.replace("AWS::", "").replace("::", " ")).join(", ")}`,
  expects: "each is there, and is as the deployed template says",
  remedy: UNDO,
  see: async ({ deployed }) => {
    const all: Compared[] = [];
    for (const kind of kinds) {
      for (const resource of deployed.stated(kind.type)) all.push(await compared(deployed, kind, resource));
    }
    if (all.length === 0) throw new Skipped("the template has none: the app has brought its own");
    const wrong = all.flatMap((each) => each.wrong ?? []);
    must(wrong.length === 0, listed(wrong));
    const unknown = all.flatMap((each) => each.unknown);
    const open = unknown.length === 0 ? "" : `; not known, and not compared: ${listed(unknown)}`;
    return `${all.length} as the template says${open}`;
  },
}));

interface Compared {
  /** What differs, with the name of the resource before it. */
  readonly wrong?: string;
  readonly unknown: readonly string[];
}

/** A property that describing the resource needs. */
class NotKnown extends Error {}

async function compared({ clients }: Deployed, kind: Kind, { id, properties }: Stated): Promise<Compared> {
  const name = id.split(/[:/|]/).at(-1) ?? id;
  const text = (property: string): string => {
    const value = [properties[property]].flat()[0];
    if (typeof value === "string") return value;
    throw new NotKnown(property);
  };
  const title = typeof properties["Name"] === "string" ? properties["Name"] : name;
  const label = (what: string): string => `${kind.type.split("::").at(-1)} ${title}: ${what}`;
  const some = kind.properties.split(" ").filter((property) => property in properties);
  try {
    const found = await kind.describe(clients, { name, id, text });
    if (found === undefined) return { wrong: label("expected to be there, found nothing"), unknown: [] };
    const stated = Object.fromEntries(some.map((property) => [property, properties[property]]));
    const { differences, unknown } = compare(stated, found);
    const wrong = differences.length === 0 ? {} : { wrong: label(differences.join("; ")) };
    return { ...wrong, unknown: unknown.map(label) };
  } catch (error) {
    if (error instanceof NotKnown) return { unknown: [label(error.message)] };
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { wrong: label(`expected to be there, found ${why}`), unknown: [] };
  }
}
