// The bucket for all files: snapshots, changes, publications, run logs, staging, and the results of queries.

import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { AnyPrincipal, Effect, PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { BlockPublicAccess, Bucket, BucketEncryption, CfnBucket, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { FOLDERS, layout } from "../../lambdas/job/storage/layout.ts";
import type { FunctionSettings } from "../../lambdas/sync/environment.ts";

/** The folders that the function works in. */
const PREFIXES = Object.values(FOLDERS);
/** The function writes streams here, and may have to abort their multipart uploads. */
const STREAMED = [FOLDERS.snapshots, FOLDERS.changes, FOLDERS.runs];
/**
 * Retention deletes snapshots, `check` deletes its own test file, and an accepted login deletes the note of a refused
 * one. Everything else is kept or expires.
 */
const DELETED = [`${FOLDERS.snapshots}*`, `${FOLDERS.runs}*`, layout.loginRefused("*")];

/** Files that are published or will be: each object is created once and never overwritten. */
const WRITE_ONCE = [FOLDERS.publications, FOLDERS.snapshots, FOLDERS.changes];

/** How long the bucket keeps what a run has staged: a run that takes longer cannot be finished. */
export const STAGING_EXPIRY = Duration.days(14);

/** Athena writes the results of queries here. */
export const RESULTS_PREFIX = "athena-results/";

export class Storage extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.bucket = new Bucket(this, "Bucket", {
      versioned: true,
      enforceSSL: true,
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      // Retained, but deleted when its creation is rolled back: a failed first deployment leaves nothing behind.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      lifecycleRules: [
        {
          id: "old-versions",
          noncurrentVersionExpiration: Duration.days(30),
          expiredObjectDeleteMarker: true,
        },
        { id: "incomplete-uploads", abortIncompleteMultipartUploadAfter: Duration.days(1) },
        { id: "staging", prefix: FOLDERS.runs, expiration: STAGING_EXPIRY },
        { id: "query-results", prefix: RESULTS_PREFIX, expiration: Duration.days(7) },
      ],
    });
    this.denyOverwriting();
    Validations.of(this.bucket).acknowledge({
      id: "AwsSolutions-S1",
      reason:
        "One role writes here, and the run log records what it wrote. Reads go through Athena, which keeps its own history. Access logs would need a second bucket that outlives this one.",
    });
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
    const below = (prefixes: readonly string[]): string[] =>
      prefixes.map((prefix) => this.bucket.arnForObjects(`${prefix}*`));
    const statements = [
      { sid: "ReadAndWrite", actions: ["s3:GetObject", "s3:PutObject"], resources: below(PREFIXES) },
      { sid: "AbortUploads", actions: ["s3:AbortMultipartUpload"], resources: below(STREAMED) },
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
        conditions: { StringLike: { "s3:prefix": PREFIXES.map((prefix) => `${prefix}*`) } },
      },
    ];
    for (const statement of statements) role.addToPolicy(new PolicyStatement(statement));
    this.acknowledgePrefixes(role);
    return { bucket: this.bucket.bucketName, bucketOwner: Stack.of(this).account };
  }

  /**
   * Published files are not overwritten by mistake, whatever other permissions a principal has: a write says that the key
   * is free, or which version it replaces, as for the instant in a mark of a retired snapshot. CreateMultipartUpload
   * and UploadPart need s3:PutObject too and accept no condition, so the condition applies only to operations that
   * create an object: PutObject and CompleteMultipartUpload (S3 guide, "Enforce conditional writes").
   */
  private denyOverwriting(): void {
    this.bucket.addToResourcePolicy(
      new PolicyStatement({
        sid: "WriteOnce",
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ["s3:PutObject"],
        resources: WRITE_ONCE.map((prefix) => this.bucket.arnForObjects(`${prefix}*`)),
        conditions: {
          Null: { "s3:if-none-match": "true", "s3:if-match": "true" },
          Bool: { "s3:ObjectCreationOperation": "true" },
        },
      }),
    );
  }

  private acknowledgePrefixes(role: Role): void {
    const bucket = this.bucket.node.defaultChild;
    if (!CfnBucket.isCfnBucket(bucket)) return;
    const name = Stack.of(this).getLogicalId(bucket);
    Validations.of(role).acknowledge(
      ...[...PREFIXES.map((prefix) => `${prefix}*`), layout.loginRefused("*")].map((keys) => ({
        id: `AwsSolutions-IAM5[Resource::<${name}.Arn>/${keys}]`,
        reason:
          "Runs choose the names of the files below a prefix, so the prefix is the narrowest possible resource.",
      })),
    );
  }
}
