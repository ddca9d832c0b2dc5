// The bucket: its protection, and that it outlives the stack. Its policy and its lifecycle rules are those of docs/cdk.md.

import { describe, expect, it } from "vitest";
import { synthesized } from "../synthesized.ts";

const template = synthesized();
const bucket = template.only("AWS::S3::Bucket");

describe("the bucket", () => {
  it("is retained when the stack is destroyed or would replace it, and deleted when its creation is rolled back", () => {
    expect([bucket.deletionPolicy, bucket.updateReplacePolicy]).toEqual(["RetainExceptOnCreate", "Retain"]);
  });

  it("is encrypted, versioned, and has no access lists", () => {
    expect(bucket.properties).toMatchObject({
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
      },
      VersioningConfiguration: { Status: "Enabled" },
      OwnershipControls: { Rules: [{ ObjectOwnership: "BucketOwnerEnforced" }] },
    });
  });

  it("is closed to the public in all four ways", () => {
    expect(bucket.properties["PublicAccessBlockConfiguration"]).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
  });
});
