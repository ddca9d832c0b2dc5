// The bucket: its protection, its lifecycle rules, and that it outlives the stack.

import { describe, expect, it } from "vitest";
import { statements } from "../policy-statements.ts";
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

  it("requires TLS, and its policy allows no principal", () => {
    const policy = template.only("AWS::S3::BucketPolicy").properties["PolicyDocument"];

    expect(policy).toMatchObject({
      Statement: [
        {
          Effect: "Deny",
          Principal: { AWS: "*" },
          Action: "s3:*",
          Resource: [`<${bucket.name}.Arn>`, `<${bucket.name}.Arn>/*`],
          Condition: { Bool: { "aws:SecureTransport": "false" } },
        },
        { Effect: "Deny", Sid: "WriteOnce" },
      ],
    });
  });

  it("refuses to overwrite published files: an object there can only be created", () => {
    const [, writeOnce] = statements(template.only("AWS::S3::BucketPolicy"));

    expect(writeOnce).toEqual({
      Effect: "Deny",
      Principal: { AWS: "*" },
      Action: ["s3:PutObject"],
      Resource: ["publications", "snapshots", "changes"].map((prefix) => `<${bucket.name}.Arn>/${prefix}/*`),
      Condition: {
        Null: { "s3:if-none-match": "true", "s3:if-match": "true" },
        Bool: { "s3:ObjectCreationOperation": "true" },
      },
    });
  });

  it("expires old versions, incomplete uploads, staging and query results, and nothing else", () => {
    expect(bucket.properties["LifecycleConfiguration"]).toEqual({
      Rules: [
        {
          Id: "old-versions",
          Status: "Enabled",
          NoncurrentVersionExpiration: { NoncurrentDays: 30 },
          ExpiredObjectDeleteMarker: true,
        },
        {
          Id: "incomplete-uploads",
          Status: "Enabled",
          AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
        },
        { Id: "staging", Status: "Enabled", Prefix: "runs/", ExpirationInDays: 14 },
        { Id: "query-results", Status: "Enabled", Prefix: "athena-results/", ExpirationInDays: 7 },
      ],
    });
  });
});
