// What protects the files of a warehouse: the bucket's lifecycle rules, and the statements of its policy.

import { Duration } from "aws-cdk-lib";
import { AnyPrincipal, Effect, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IBucket, LifecycleRule } from "aws-cdk-lib/aws-s3";
import { FOLDERS } from "../../lambdas/job/storage/layout.ts";

/** How long the bucket keeps what a run has staged: a run that takes longer cannot be finished. */
export const STAGING_EXPIRY = Duration.days(14);

/** Athena writes the results of queries here. */
export const RESULTS_PREFIX = "athena-results/";

/** Files that are published or will be: each object is created once and never overwritten. */
const WRITE_ONCE = [FOLDERS.publications, FOLDERS.snapshots, FOLDERS.changes];

const OLD_VERSIONS = { noncurrentVersionExpiration: Duration.days(30), expiredObjectDeleteMarker: true };
const INCOMPLETE_UPLOADS = { abortIncompleteMultipartUploadAfter: Duration.days(1) };
const EXPIRING: readonly LifecycleRule[] = [
  { id: "staging", prefix: FOLDERS.runs, expiration: STAGING_EXPIRY },
  { id: "query-results", prefix: RESULTS_PREFIX, expiration: Duration.days(7) },
];

/** For a bucket that has nothing else in it. */
export const RULES_OF_A_BUCKET: readonly LifecycleRule[] = [
  { id: "old-versions", ...OLD_VERSIONS },
  { id: "incomplete-uploads", ...INCOMPLETE_UPLOADS },
  ...EXPIRING,
];

/** For a bucket with other things in it. */
export const RULES_OF_FOLDERS: readonly LifecycleRule[] = [
  ...[...Object.values(FOLDERS), RESULTS_PREFIX].map((prefix) => ({
    id: `old-versions-${prefix.slice(0, -1)}`,
    prefix,
    ...OLD_VERSIONS,
    ...INCOMPLETE_UPLOADS,
  })),
  ...EXPIRING,
];

/**
 * Published files are not overwritten by mistake, whatever other permissions a principal has: a write says that the key
 * is free, or which version it replaces, as for the instant in a mark of a retired snapshot. CreateMultipartUpload
 * and UploadPart need s3:PutObject too and accept no condition, so the condition applies only to operations that
 * create an object: PutObject and CompleteMultipartUpload (S3 guide, "Enforce conditional writes").
 */
export function denyOverwriting(bucket: IBucket): PolicyStatement {
  return new PolicyStatement({
    sid: "WriteOnce",
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: ["s3:PutObject"],
    resources: WRITE_ONCE.map((prefix) => bucket.arnForObjects(`${prefix}*`)),
    conditions: {
      Null: { "s3:if-none-match": "true", "s3:if-match": "true" },
      Bool: { "s3:ObjectCreationOperation": "true" },
    },
  });
}

/** As `enforceSSL` of a bucket that the CDK makes. */
export function denyWithoutTls(bucket: IBucket): PolicyStatement {
  return new PolicyStatement({
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: ["s3:*"],
    resources: [bucket.bucketArn, bucket.arnForObjects("*")],
    conditions: { Bool: { "aws:SecureTransport": "false" } },
  });
}
