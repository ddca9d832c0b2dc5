// A managed policy for analysts: they query the tables in the workgroup, and read nothing else of the stack.

import { ArnFormat, Stack } from "aws-cdk-lib";
import { type IManagedPolicy, ManagedPolicy, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { FOLDERS } from "../../lambdas/job/storage/layout.ts";
import { acknowledge, wildcardFinding } from "../acknowledge.ts";
import { useOfKeys } from "./storage.ts";

/** The folders of the five tables. `runs/` and `accounts/` belong to the function alone. */
const TABLE_FOLDERS = [FOLDERS.snapshots, FOLDERS.changes, FOLDERS.publications, FOLDERS.runLogs];

/** The name of the Glue catalog in Athena. */
const CATALOG = "AwsDataCatalog";

interface AnalystPolicyProps {
  readonly bucket: IBucket;
  /** That its files and the results are encrypted with, where they are not those of S3. */
  readonly keys: readonly IKey[];
  /** With its closing slash. */
  readonly resultsPrefix: string;
  readonly database: string;
  readonly workgroup: string;
}

export class AnalystPolicy extends Construct {
  readonly policy: IManagedPolicy;

  constructor(scope: Construct, id: string, props: AnalystPolicyProps) {
    super(scope, id);
    const policy = new ManagedPolicy(this, "Policy", {
      description: "Queries of the events of the Brand Metrics Service in Athena, read only",
      statements: [
        ...this.athena(props),
        ...this.tables(props),
        ...files(props),
        ...useOfKeys(this, { keys: props.keys, services: ["s3"] }),
      ],
    });
    this.policy = policy;
    this.acknowledge(policy, props);
  }

  private athena({ workgroup }: AnalystPolicyProps): readonly PolicyStatement[] {
    return [
      new PolicyStatement({
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
        resources: [this.arn("athena", "workgroup", workgroup)],
      }),
      new PolicyStatement({
        sid: "BrowseCatalog",
        actions: [
          "athena:GetDataCatalog",
          "athena:ListDatabases",
          "athena:GetDatabase",
          "athena:ListTableMetadata",
          "athena:GetTableMetadata",
        ],
        resources: [this.arn("athena", "datacatalog", CATALOG)],
      }),
      new PolicyStatement({
        // For the choices in the console. Athena has no resources for these three actions.
        sid: "ListForConsole",
        actions: ["athena:ListWorkGroups", "athena:ListDataCatalogs", "athena:ListEngineVersions"],
        resources: ["*"],
      }),
    ];
  }

  private tables({ database }: AnalystPolicyProps): readonly PolicyStatement[] {
    const catalog = Stack.of(this).formatArn({
      service: "glue",
      resource: "catalog",
      arnFormat: ArnFormat.NO_RESOURCE_NAME,
    });
    return [
      new PolicyStatement({
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
        // All tables of the database, so that views in it can be queried too.
        resources: [
          catalog,
          this.arn("glue", "database", database),
          this.arn("glue", "table", `${database}/*`),
        ],
      }),
      new PolicyStatement({
        // Athena looks at the default database, whichever one a query names (Athena guide, "Access to databases
        // and tables in the Glue Data Catalog").
        sid: "SeeDefaultDatabase",
        actions: ["glue:GetDatabase"],
        resources: [this.arn("glue", "database", "default")],
      }),
    ];
  }

  private acknowledge(policy: ManagedPolicy, { bucket, resultsPrefix, database }: AnalystPolicyProps): void {
    acknowledge(
      policy,
      ...[...TABLE_FOLDERS, resultsPrefix].map((prefix) => ({
        id: wildcardFinding(policy, bucket.arnForObjects(`${prefix}*`)),
        reason:
          "Runs and Athena choose the names of the files below a prefix, so the prefix is the narrowest resource.",
      })),
      {
        id: wildcardFinding(policy, this.arn("glue", "table", `${database}/*`)),
        reason: "Analysts also query the views in the database, whose names are not known here.",
      },
      {
        id: wildcardFinding(policy, "*"),
        reason: "Athena has no resource for the lists of workgroups, data catalogs and engine versions.",
      },
    );
  }

  private arn(service: string, resource: string, resourceName: string): string {
    return Stack.of(this).formatArn({ service, resource, resourceName });
  }
}

/** Athena reads the files and writes the results with the permissions of the person who queries. */
function files({ bucket, resultsPrefix }: AnalystPolicyProps): readonly PolicyStatement[] {
  const results = bucket.arnForObjects(`${resultsPrefix}*`);
  return [
    new PolicyStatement({
      sid: "ReadFiles",
      actions: ["s3:GetObject"],
      resources: TABLE_FOLDERS.map((folder) => bucket.arnForObjects(`${folder}*`)),
    }),
    new PolicyStatement({
      sid: "ListFiles",
      actions: ["s3:ListBucket"],
      resources: [bucket.bucketArn],
      conditions: {
        StringLike: { "s3:prefix": [...TABLE_FOLDERS, resultsPrefix].map((prefix) => `${prefix}*`) },
      },
    }),
    new PolicyStatement({
      sid: "FindBucket",
      actions: ["s3:GetBucketLocation", "s3:ListBucketMultipartUploads"],
      resources: [bucket.bucketArn],
    }),
    new PolicyStatement({
      sid: "KeepResults",
      actions: ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"],
      resources: [results],
    }),
  ];
}
