// The bucket of a deployment: a new one, the one that an earlier deployment left, or one that the app brings.

import { Annotations, RemovalPolicy, Validations } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  BucketPolicy,
  CfnBucket,
  type IBucket,
  ObjectOwnership,
} from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import { denyOverwriting, denyWithoutTls, RULES_OF_A_BUCKET, RULES_OF_FOLDERS } from "./bucket-rules.ts";

const ID = "Bucket";
const PAGE = 'docs/cdk.md, "A bucket that exists"';

export interface BucketChoice {
  /** One that the app brings. */
  readonly bucket?: IBucket | undefined;
  /** The name of the one that an earlier deployment left. */
  readonly existingBucket?: string | undefined;
  readonly encryptionKey?: IKey | undefined;
}

export function deploymentBucket(scope: Construct, choice: BucketChoice): IBucket {
  const { bucket, existingBucket, encryptionKey } = choice;
  if (bucket !== undefined && existingBucket !== undefined) {
    throw new Error(
      `EventSync: expected the prop bucket or settings.existingBucket (${existingBucket}), and got both. Leave one of them out.`,
    );
  }
  if (bucket !== undefined) return protectGiven(scope, bucket);
  return existingBucket === undefined
    ? newBucket(scope, encryptionKey)
    : leftBucket(scope, existingBucket, encryptionKey);
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
  Validations.of(bucket).acknowledge({
    id: "AwsSolutions-S1",
    reason:
      "One role writes here, and the run log records what it wrote. Reads go through Athena, which keeps its own history. Access logs would need a second bucket that outlives this one.",
  });
  return bucket;
}

/** Its versions and lifecycle rules are still there. Its policy was deleted with the stack, so it gets it again. */
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
  const isMadeHere = CfnBucket.isCfnBucket(resource);
  if (isMadeHere && bucket instanceof Bucket) {
    for (const rule of RULES_OF_FOLDERS) bucket.addLifecycleRule(rule);
  } else missing.push("lifecycle rules");
  if (!bucket.addToResourcePolicy(denyOverwriting(bucket)).statementAdded) missing.push("a policy");
  if (!isMadeHere || resource.versioningConfiguration === undefined) missing.push("versions");
  if (missing.length > 0) {
    Annotations.of(scope).addWarningV2(
      "brand-events-sync:bucket",
      `The bucket ${bucket.node.path} needs ${missing.join(", ")}, which this app does not give it. Without them a file that was overwritten or deleted by mistake is lost, and what runs have staged stays. Set them by hand (${PAGE}), then acknowledge this warning.`,
    );
  }
  return bucket;
}
