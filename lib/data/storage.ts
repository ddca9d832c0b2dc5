// Where all files are: snapshots, changes, publications, run logs, staging, and the results of queries; and what
// protects them: the bucket's lifecycle rules, and the statements of its policy.

import { Annotations, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { CfnDatabase, CfnTable } from "aws-cdk-lib/aws-glue";
import { AnyPrincipal, Effect, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  BucketPolicy,
  CfnBucket,
  type IBucket,
  type LifecycleRule,
  ObjectOwnership,
} from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { glueTable, glueViews } from "../../lambdas/job/catalog/glue/glue-tables.ts";
import { isTakenOtherwise, TAKEN_OTHERWISE_TEXT } from "../../lambdas/job/snapshot/rows/lifted-column.ts";
import { FOLDERS, KEPT_DAYS, type TableName } from "../../lambdas/job/storage/layout.ts";
import { acknowledge } from "../acknowledge.ts";
import type { Settings } from "../settings.ts";

interface BucketChoice {
  /** A bucket that the app brings. */
  readonly bucket: IBucket | undefined;
  /** The name of the one that an earlier deployment left. */
  readonly existingBucket: string | undefined;
  readonly encryptionKey: IKey | undefined;
}

const ID = "Bucket";
const PAGE = 'docs/cdk.md, "A bucket that exists"';

/** `keys` are those that the files are encrypted with, where it is not S3's: the results of queries with the first. */
export function addStorage(
  parent: Construct,
  choice: BucketChoice,
): { readonly bucket: IBucket; readonly keys: readonly IKey[] } {
  const bucket = bucketOf(new Construct(parent, "Storage"), choice);
  const keys = [choice.encryptionKey, bucket.encryptionKey].filter((key) => key !== undefined);
  return { bucket, keys: [...new Set(keys)] };
}

function bucketOf(scope: Construct, { bucket, existingBucket, encryptionKey }: BucketChoice): IBucket {
  if (bucket === undefined) {
    return existingBucket === undefined
      ? newBucket(scope, encryptionKey)
      : leftBucket(scope, existingBucket, encryptionKey);
  }
  if (existingBucket === undefined) return protectGiven(scope, bucket);
  throw new Error(
    `EventSync: expected the prop bucket or settings.existingBucket (${existingBucket}), and got both. Leave one of them out.`,
  );
}

function newBucket(scope: Construct, encryptionKey: IKey | undefined): IBucket {
  const bucket = new Bucket(scope, ID, {
    versioned: true,
    enforceSSL: true,
    ...(encryptionKey === undefined
      ? { encryption: BucketEncryption.S3_MANAGED }
      : { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }),
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    // Retained, but deleted when its creation is rolled back: a failed first deployment leaves nothing behind.
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    lifecycleRules: [...RULES_OF_A_BUCKET],
  });
  bucket.addToResourcePolicy(denyOverwriting(bucket));
  acknowledge(bucket, {
    id: "AwsSolutions-S1",
    reason:
      "One role writes here, and the run log records what it wrote. Reads go through Athena, which keeps its own history. Access logs would need a second bucket that outlives this one.",
  });
  return bucket;
}

/** Versions and lifecycle rules of the bucket are still there. Its policy was deleted with the stack: it is made again. */
function leftBucket(scope: Construct, bucketName: string, encryptionKey: IKey | undefined): IBucket {
  const bucket = Bucket.fromBucketAttributes(scope, ID, {
    bucketName,
    ...(encryptionKey && { encryptionKey }),
  });
  const policy = new BucketPolicy(scope, "Policy", { bucket });
  policy.document.addStatements(denyWithoutTls(bucket), denyOverwriting(bucket));
  Annotations.of(scope).addInfo(
    `settings.existingBucket: the stack gives ${bucketName} its policy. Its versions and lifecycle rules stay as they are (${PAGE}).`,
  );
  return bucket;
}

/** What the CDK can set in a bucket that it does not make is set, for the folders of the deployment. */
function protectGiven(scope: Construct, bucket: IBucket): IBucket {
  const missing: string[] = [];
  const resource = bucket.node.defaultChild;
  const isMadeHere = resource instanceof CfnBucket;
  if (isMadeHere && bucket instanceof Bucket) {
    for (const rule of RULES_OF_FOLDERS) bucket.addLifecycleRule(rule);
  } else missing.push("lifecycle rules");
  if (!bucket.addToResourcePolicy(denyOverwriting(bucket)).statementAdded) missing.push("a policy");
  if (!isMadeHere || !hasVersions(resource)) missing.push("versions");
  if (missing.length > 0) {
    Annotations.of(scope).addWarningV2(
      "brand-events-sync:bucket",
      `The bucket ${bucket.node.path} needs ${missing.join(", ")}, which this app does not give it. Without them a file that was overwritten or deleted by mistake is lost, and what runs have staged stays. Set them by hand (${PAGE}), then acknowledge this warning.`,
    );
  }
  return bucket;
}

/** Versions can be suspended, too. */
function hasVersions({ stack, versioningConfiguration }: CfnBucket): boolean {
  return Object(stack.resolve(versioningConfiguration)).status === "Enabled";
}

/** How long the bucket keeps what a run has staged: a run that takes longer cannot be finished. */
export const STAGING_EXPIRY = Duration.days(KEPT_DAYS.runs);

/** Athena writes the results of queries here. */
export const RESULTS_PREFIX = "athena-results/";

/** Files that are published or will be: each object is created once and never overwritten. */
const WRITE_ONCE = [FOLDERS.publications, FOLDERS.snapshots, FOLDERS.changes];

const OLD_VERSIONS = { noncurrentVersionExpiration: Duration.days(30), expiredObjectDeleteMarker: true };
const INCOMPLETE_UPLOADS = { abortIncompleteMultipartUploadAfter: Duration.days(1) };
const EXPIRING: readonly LifecycleRule[] = [
  { id: "staging", prefix: FOLDERS.runs, expiration: STAGING_EXPIRY },
  { id: "run-log", prefix: FOLDERS.runLogs, expiration: Duration.days(KEPT_DAYS.runLogs) },
  { id: "query-results", prefix: RESULTS_PREFIX, expiration: Duration.days(7) },
];

/** The lifecycle of a bucket that has nothing else in it. */
const RULES_OF_A_BUCKET: readonly LifecycleRule[] = [
  { id: "old-versions", ...OLD_VERSIONS },
  { id: "incomplete-uploads", ...INCOMPLETE_UPLOADS },
  ...EXPIRING,
];

/** The lifecycle in a bucket with other things in it. */
const RULES_OF_FOLDERS: readonly LifecycleRule[] = [
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
function denyOverwriting(bucket: IBucket): PolicyStatement {
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

/** The same as `enforceSSL` of a bucket that the CDK makes. */
function denyWithoutTls(bucket: IBucket): PolicyStatement {
  return new PolicyStatement({
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: ["s3:*"],
    resources: [bucket.bucketArn, bucket.arnForObjects("*")],
    conditions: { Bool: { "aws:SecureTransport": "false" } },
  });
}

const DESCRIPTIONS: readonly (readonly [TableName, string])[] = [
  ["events", "The events of the latest publication, one row per event"],
  ["event_snapshots", "The events of every published snapshot"],
  ["event_changes", "What each publication added, changed and removed"],
  ["publications", "The publication log: which snapshot readers see, and since when"],
  ["sync_runs", "What each attempt of a run did"],
];

/** @param location `s3://…` */
export function addTables(parent: Construct, { database, lifted }: Settings, location: string): void {
  const scope = new Construct(parent, "Warehouse");
  const { account: catalogId } = Stack.of(scope);
  const { ref: databaseName } = new CfnDatabase(scope, "Database", {
    catalogId,
    databaseInput: { name: database, description: "Events of the Brand Metrics Service" },
  });
  const addTable = (tableInput: CfnTable.TableInputProperty & { readonly name: string }): CfnTable =>
    new CfnTable(scope, tableInput.name, { catalogId, databaseName, tableInput });
  const tables = DESCRIPTIONS.map(([name, description]) =>
    addTable({ ...glueTable(name, location, lifted), description }),
  );
  warnOfNames(parent, lifted);
  // So that a view never names a column before its table has it.
  for (const view of glueViews(database, lifted)) addTable(view).node.addDependency(...tables);
}

/** Only the job knows which columns are new: it refuses those, and leaves those that are there. */
function warnOfNames(scope: Construct, lifted: Settings["lifted"]): void {
  const names = lifted.map(({ name }) => name).filter(isTakenOtherwise);
  for (const name of names) {
    Annotations.of(scope).addWarningV2(
      `brand-events-sync:columnName:${name}`,
      `eventSync.lifted: the column has the name ${name}, ${TAKEN_OTHERWISE_TEXT}. A run refuses it where it is new.`,
    );
  }
}
