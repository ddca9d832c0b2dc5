// Who may do what: the role of the function, and the policy for analysts, who query the tables in the workgroup and read
// nothing else of the stack.

import { ArnFormat, Stack } from "aws-cdk-lib";
import {
  ManagedPolicy,
  PolicyStatement,
  type PolicyStatementProps,
  Role,
  ServicePrincipal,
} from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { EVENT_SOURCE } from "../lambdas/job/run/record/run-event.ts";
import { COLUMNS_FILE, FOLDERS, layout, TABLES } from "../lambdas/job/storage/layout.ts";
import { ACCOUNT_PLACEHOLDER, type FunctionSettings } from "../lambdas/sync/environment.ts";
import { acknowledge } from "./acknowledge.ts";
import { RESULTS_PREFIX } from "./data/storage.ts";

interface Warehouse {
  readonly bucket: IBucket;
  /** The keys that the bucket's files are encrypted with, where they are not those of S3. */
  readonly keys: readonly IKey[];
  readonly database: string;
}

type SecretNames = Pick<FunctionSettings, "secretName" | "tokensSecretName">;

interface Permission extends PolicyStatementProps {
  readonly resources: string[];
  /** Why a resource with a `*` is the narrowest. */
  readonly whyAll?: string;
}

const WHY_PREFIX =
  "Runs and Athena choose the names of the files below a prefix, so the prefix is the narrowest resource.";

const below = (folders: readonly string[]): readonly string[] => folders.map((folder) => `${folder}*`);

/** What the function reads and writes: the folders that it works in, and one file beside them. */
const READ_AND_WRITTEN = [...below(Object.values(FOLDERS)), COLUMNS_FILE];
/** The function writes streams here, and may have to abort their multipart uploads. */
const STREAMED = below([FOLDERS.snapshots, FOLDERS.changes, FOLDERS.runs]);
/**
 * Retention deletes snapshots, `check` deletes its own test file, and an accepted login deletes the note of a refused
 * one. Everything else is kept or expires.
 */
const DELETED = [...below([FOLDERS.snapshots, FOLDERS.runs]), layout("*").loginRefused];

interface FunctionRoleProps extends Warehouse {
  readonly secrets: SecretNames;
  /** The key that the secrets are encrypted with, where it is not AWS's. */
  readonly encryptionKey: IKey | undefined;
  readonly stateMachineArn: string;
  readonly failureQueue: IQueue;
  readonly isInVpc: boolean;
}

export function addFunctionRole(scope: Construct, props: FunctionRoleProps): Role {
  const { bucket, keys, database } = props;
  const role = new Role(scope, "FunctionRole", {
    description: "The permissions of the function",
    assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
  });
  const permissions: readonly Permission[] = [
    {
      sid: "ReadAndWrite",
      actions: ["s3:GetObject", "s3:PutObject"],
      resources: READ_AND_WRITTEN.map((key) => bucket.arnForObjects(key)),
      whyAll: WHY_PREFIX,
    },
    {
      sid: "AbortUploads",
      actions: ["s3:AbortMultipartUpload"],
      resources: STREAMED.map((key) => bucket.arnForObjects(key)),
      whyAll: WHY_PREFIX,
    },
    {
      sid: "Delete",
      actions: ["s3:DeleteObject"],
      resources: DELETED.map((key) => bucket.arnForObjects(key)),
      whyAll: WHY_PREFIX,
    },
    {
      // Without this permission S3 returns 403 for a missing key. S3 evaluates it with the key as s3:prefix, so every
      // prefix that is read must be named, even if it is never listed.
      sid: "List",
      actions: ["s3:ListBucket"],
      resources: [bucket.bucketArn],
      conditions: { StringLike: { "s3:prefix": READ_AND_WRITTEN } },
    },
    // The secrets have the key of the deployment, not that of a bucket which the app brings.
    ...useOfKeys(scope, keys, props.encryptionKey === undefined ? ["s3"] : ["s3", "secretsmanager"]),
    {
      // Partitions are made and moved; a table is not changed.
      sid: "FollowPublications",
      actions: [
        "glue:GetTable",
        "glue:GetPartition",
        "glue:GetPartitions",
        "glue:BatchCreatePartition",
        "glue:UpdatePartition",
        "glue:BatchDeletePartition",
      ],
      resources: [
        "catalog",
        `database/${database}`,
        ...Object.keys(TABLES).map((table) => `table/${database}/${table}`),
      ].map((resource) => arn(scope, "glue", resource)),
    },
    {
      sid: "Announce",
      actions: ["events:PutEvents"],
      resources: [arn(scope, "events", "event-bus/default")],
      // Other rules on this bus trust the source of an event.
      conditions: { StringEquals: { "events:source": EVENT_SOURCE } },
    },
    ...secretPermissions(scope, props.secrets),
    { sid: "HandOver", actions: ["states:StartExecution"], resources: [props.stateMachineArn] },
    {
      sid: "AskAboutExecutions",
      actions: ["states:DescribeExecution"],
      resources: [`${props.stateMachineArn.replace(":stateMachine:", ":execution:")}:*`],
      whyAll:
        "Runs give the executions their names, so all executions of this state machine are the narrowest resource.",
    },
    { sid: "ReportFailures", actions: ["sqs:SendMessage"], resources: [props.failureQueue.queueArn] },
    ...(props.isInVpc ? [JOIN_NETWORK] : []),
  ];
  for (const statement of statementsOf(role, permissions)) role.addToPolicy(statement);
  return role;
}

/** Lambda itself does this with the role. The code of a function, whose requests have this key, may not. */
const JOIN_NETWORK: Permission = {
  sid: "JoinNetwork",
  actions: [
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
  ],
  resources: ["*"],
  conditions: { Null: { "lambda:SourceFunctionArn": "true" } },
  whyAll: "Lambda requires these permissions on all resources, and makes the network interfaces itself.",
};

function secretPermissions(scope: Construct, names: SecretNames): readonly Permission[] {
  const all = (name: string): Pick<Permission, "resources" | "whyAll"> => ({
    // Secrets Manager appends a hyphen and six characters to the name.
    resources: [arn(scope, "secretsmanager", `secret:${name.replace(ACCOUNT_PLACEHOLDER, "*")}*`)],
    whyAll:
      "The pattern covers secrets of this deployment only: one ARN for each account would not fit into the policy.",
  });
  const { secretName, tokensSecretName } = names;
  return [
    {
      sid: "ReadCredentials",
      // The secrets of tokens too. The description tells a secret without a value from a missing one.
      actions: ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
      ...all(secretName),
    },
    ...(tokensSecretName === undefined
      ? []
      : [
          {
            // The only secrets that the function may write.
            sid: "RenewTokens",
            // The labels of its versions are the claim that keeps two processes from renewing the same tokens.
            actions: ["secretsmanager:PutSecretValue", "secretsmanager:UpdateSecretVersionStage"],
            ...all(tokensSecretName),
          },
        ]),
  ];
}

/** The folders of the five tables. `runs/` and `accounts/` belong to the function alone. */
const TABLE_FILES = below([FOLDERS.snapshots, FOLDERS.changes, FOLDERS.publications, FOLDERS.runLogs]);
const RESULTS = `${RESULTS_PREFIX}*`;

export function addAnalystPolicy(
  parent: Construct,
  { bucket, keys, database }: Warehouse,
  workgroup: string,
): ManagedPolicy {
  const scope = new Construct(parent, "Analysts");
  const policy = new ManagedPolicy(scope, "Policy", {
    description: "Queries of the events of the Brand Metrics Service in Athena, read only",
  });
  const permissions: readonly Permission[] = [
    {
      sid: "Query",
      actions: [
        "athena:GetWorkGroup",
        "athena:StartQueryExecution",
        "athena:StopQueryExecution",
        "athena:GetQueryExecution",
        "athena:BatchGetQueryExecution",
        "athena:ListQueryExecutions",
        "athena:GetQueryResults",
        "athena:GetQueryResultsStream",
        "athena:GetQueryRuntimeStatistics",
        "athena:GetNamedQuery",
        "athena:BatchGetNamedQuery",
        "athena:ListNamedQueries",
      ],
      resources: [arn(scope, "athena", `workgroup/${workgroup}`)],
    },
    {
      sid: "BrowseCatalog",
      actions: [
        "athena:GetDataCatalog",
        "athena:ListDatabases",
        "athena:GetDatabase",
        "athena:ListTableMetadata",
        "athena:GetTableMetadata",
      ],
      // The name of the Glue catalog in Athena.
      resources: [arn(scope, "athena", "datacatalog/AwsDataCatalog")],
    },
    {
      // The console needs it for its choices.
      sid: "ListForConsole",
      actions: ["athena:ListWorkGroups", "athena:ListDataCatalogs", "athena:ListEngineVersions"],
      resources: ["*"],
      whyAll: "Athena has no resource for the lists of workgroups, data catalogs and engine versions.",
    },
    {
      sid: "ReadTables",
      actions: [
        "glue:GetDatabase",
        "glue:GetDatabases",
        "glue:GetTable",
        "glue:GetTables",
        "glue:GetPartition",
        "glue:GetPartitions",
        "glue:BatchGetPartition",
      ],
      resources: ["catalog", `database/${database}`, `table/${database}/*`].map((resource) =>
        arn(scope, "glue", resource),
      ),
      whyAll: "Analysts also query the views in the database, whose names are not known here.",
    },
    {
      // Athena looks at the default database, whichever one a query names (Athena guide, "Access to databases and
      // tables in the Glue Data Catalog").
      sid: "SeeDefaultDatabase",
      actions: ["glue:GetDatabase"],
      resources: [arn(scope, "glue", "database/default")],
    },
    // Athena reads the files and writes the results with the permissions of the person who queries.
    {
      sid: "ReadFiles",
      actions: ["s3:GetObject"],
      resources: TABLE_FILES.map((key) => bucket.arnForObjects(key)),
      whyAll: WHY_PREFIX,
    },
    {
      sid: "ListFiles",
      actions: ["s3:ListBucket"],
      resources: [bucket.bucketArn],
      conditions: { StringLike: { "s3:prefix": [...TABLE_FILES, RESULTS] } },
    },
    {
      sid: "FindBucket",
      actions: ["s3:GetBucketLocation", "s3:ListBucketMultipartUploads"],
      resources: [bucket.bucketArn],
    },
    {
      sid: "KeepResults",
      actions: ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"],
      resources: [bucket.arnForObjects(RESULTS)],
      whyAll: WHY_PREFIX,
    },
    ...useOfKeys(scope, keys, ["s3"]),
  ];
  policy.addStatements(...statementsOf(policy, permissions));
  return policy;
}

/** The keys of the customer that files, results and secrets are encrypted with, on behalf of `services` only. */
function useOfKeys(
  scope: Construct,
  keys: readonly IKey[],
  services: readonly ("s3" | "secretsmanager")[],
): readonly Permission[] {
  if (keys.length === 0) return [];
  const { region, urlSuffix } = Stack.of(scope);
  return [
    {
      sid: "UseKey",
      // Reading needs Decrypt, and so does completing a multipart upload; writing needs GenerateDataKey.
      actions: ["kms:Decrypt", "kms:GenerateDataKey"],
      resources: keys.map(({ keyArn }) => keyArn),
      conditions: {
        StringEquals: { "kms:ViaService": services.map((service) => `${service}.${region}.${urlSuffix}`) },
      },
    },
  ];
}

function arn(scope: Construct, service: string, resource: string): string {
  return Stack.of(scope).formatArn({ service, resource, arnFormat: ArnFormat.NO_RESOURCE_NAME });
}

function statementsOf(holder: Construct, permissions: readonly Permission[]): readonly PolicyStatement[] {
  return permissions.map(({ whyAll: reason, ...statement }) => {
    if (reason !== undefined) {
      const all = statement.resources.filter((resource) => resource.includes("*"));
      acknowledge(holder, ...all.map((resource) => ({ id: wildcardFinding(holder, resource), reason })));
    }
    return new PolicyStatement(statement);
  });
}

/** As cdk-nag names its finding for a resource of a policy: a reference is `<Name>` or `<Name.Attribute>`. */
function wildcardFinding(holder: Construct, resource: string): string {
  const asText = (value: unknown): string => {
    if (typeof value !== "object" || value === null) return String(value);
    const [[name, inner] = []] = Object.entries(value);
    if (name === "Ref") return `<${String(inner)}>`;
    if (!Array.isArray(inner)) return JSON.stringify(value);
    if (name === "Fn::GetAtt") return `<${inner.join(".")}>`;
    if (name === "Fn::Join" && Array.isArray(inner[1])) return inner[1].map(asText).join(String(inner[0]));
    return JSON.stringify(value);
  };
  return `AwsSolutions-IAM5[Resource::${asText(Stack.of(holder).resolve(resource))}]`;
}
