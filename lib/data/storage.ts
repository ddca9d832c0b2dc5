// Where all files are: snapshots, changes, publications, run logs, staging, and the results of queries.

import { Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { COLUMNS_FILE, FOLDERS, layout } from "../../lambdas/job/storage/layout.ts";
import type { FunctionSettings } from "../../lambdas/sync/environment.ts";
import { wildcardFinding } from "../wildcard-finding.ts";
import { RESULTS_PREFIX } from "./bucket-rules.ts";
import { type BucketChoice, deploymentBucket } from "./deployment-bucket.ts";
import { type UseOfKeys, useOfKeys } from "./use-of-keys.ts";

/** What the function reads and writes: the folders that it works in, and one file beside them. */
const PREFIXES = Object.values(FOLDERS);
const READ_AND_WRITTEN = [...PREFIXES.map((prefix) => `${prefix}*`), COLUMNS_FILE];
/** The function writes streams here, and may have to abort their multipart uploads. */
const STREAMED = [FOLDERS.snapshots, FOLDERS.changes, FOLDERS.runs];
/**
 * Retention deletes snapshots, `check` deletes its own test file, and an accepted login deletes the note of a refused
 * one. Everything else is kept or expires.
 */
const DELETED = [`${FOLDERS.snapshots}*`, `${FOLDERS.runs}*`, layout.loginRefused("*")];

export class Storage extends Construct {
  readonly bucket: IBucket;
  /** That the files are encrypted with, where they are not those of S3; the results of queries with the first. */
  readonly keys: readonly IKey[];
  private readonly services: UseOfKeys["services"];

  constructor(scope: Construct, id: string, choice: BucketChoice) {
    super(scope, id);
    this.bucket = deploymentBucket(this, choice);
    const keys = [choice.encryptionKey, this.bucket.encryptionKey];
    // The secrets have the key of the deployment, not that of a bucket which the app brings.
    this.services = choice.encryptionKey === undefined ? ["s3"] : ["s3", "secretsmanager"];
    this.keys = [...new Set(keys.filter((key) => key !== undefined))];
  }

  /** With its closing slash. */
  get resultsLocation(): string {
    return this.location(RESULTS_PREFIX);
  }

  /** `s3://bucket/` and the key or prefix. */
  location(key: string): string {
    return `s3://${this.bucket.bucketName}/${key}`;
  }

  /** Allows the function to read and write its files, and returns the bucket. */
  grantTo(role: Role): Pick<FunctionSettings, "bucket" | "bucketOwner"> {
    const statements = [
      {
        sid: "ReadAndWrite",
        actions: ["s3:GetObject", "s3:PutObject"],
        resources: READ_AND_WRITTEN.map((keys) => this.bucket.arnForObjects(keys)),
      },
      {
        sid: "AbortUploads",
        actions: ["s3:AbortMultipartUpload"],
        resources: STREAMED.map((prefix) => this.bucket.arnForObjects(`${prefix}*`)),
      },
      {
        sid: "Delete",
        actions: ["s3:DeleteObject"],
        resources: DELETED.map((keys) => this.bucket.arnForObjects(keys)),
      },
      {
        // Without this permission S3 returns 403 for a missing key. S3 evaluates it with the key as s3:prefix, so
        // every prefix that is read must be named, even if it is never listed.
        sid: "List",
        actions: ["s3:ListBucket"],
        resources: [this.bucket.bucketArn],
        conditions: { StringLike: { "s3:prefix": READ_AND_WRITTEN } },
      },
    ];
    for (const statement of statements) role.addToPolicy(new PolicyStatement(statement));
    for (const statement of useOfKeys(role, { keys: this.keys, services: this.services })) {
      role.addToPolicy(statement);
    }
    this.acknowledgePrefixes(role);
    return { bucket: this.bucket.bucketName, bucketOwner: Stack.of(this).account };
  }

  private acknowledgePrefixes(role: Role): void {
    const reason =
      "Runs choose the names of the files below a prefix, so the prefix is the narrowest possible resource.";
    const ids = [...PREFIXES.map((prefix) => `${prefix}*`), layout.loginRefused("*")].map((keys) =>
      wildcardFinding(role, this.bucket.arnForObjects(keys)),
    );
    Validations.of(role).acknowledge(...ids.map((id) => ({ id, reason })));
  }
}
