// The bucket, of which each part has a call of its own, in the words of CloudFormation.

import type { GetBucketLifecycleConfigurationOutput, LifecycleRule, S3 } from "@aws-sdk/client-s3";
import { type Kind, tagsOf, unlessMissing, without } from "./kind.ts";

export const BUCKET: readonly Kind[] = [
  {
    type: "AWS::S3::Bucket",
    read: async ({ s3 }, { id: Bucket }) => {
      await s3.headBucket({ Bucket });
      const { Rules = [], TransitionDefaultMinimumObjectSize } = await lifecycleOf(s3, Bucket);
      const { ServerSideEncryptionConfiguration: encryption } =
        (await s3.getBucketEncryption({ Bucket }).catch(unlessMissing)) ?? {};
      const closed = await s3.getPublicAccessBlock({ Bucket }).catch(unlessMissing);
      const { OwnershipControls } =
        (await s3.getBucketOwnershipControls({ Bucket }).catch(unlessMissing)) ?? {};
      const { TagSet = [] } = (await s3.getBucketTagging({ Bucket }).catch(unlessMissing)) ?? {};
      return {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: encryption?.Rules?.map(
            ({ ApplyServerSideEncryptionByDefault, ...rule }) => ({
              ...rule,
              ServerSideEncryptionByDefault: without(ApplyServerSideEncryptionByDefault, ""),
            }),
          ),
        },
        VersioningConfiguration: without(await s3.getBucketVersioning({ Bucket }), ""),
        PublicAccessBlockConfiguration: closed?.PublicAccessBlockConfiguration,
        OwnershipControls,
        LifecycleConfiguration: { Rules: Rules.map(statedRule), TransitionDefaultMinimumObjectSize },
        ...tagsOf(TagSet),
        ...(await whatElse(s3, Bucket)),
      };
    },
    filledIn: {
      "BucketEncryption.ServerSideEncryptionConfiguration.BucketKeyEnabled": [false],
      // What S3 refuses since 2026: keys that a client brings.
      "BucketEncryption.ServerSideEncryptionConfiguration.BlockedEncryptionTypes": [
        { EncryptionType: ["SSE-C"] },
        { EncryptionType: ["NONE"] },
      ],
      "LifecycleConfiguration.TransitionDefaultMinimumObjectSize": ["all_storage_classes_128K"],
      "VersioningConfiguration.MFADelete": ["Disabled"],
      RequestPayer: ["BucketOwner"],
    },
  },
  {
    type: "AWS::S3::BucketPolicy",
    read: async ({ s3 }, { text }) => {
      const { Policy } = await s3.getBucketPolicy({ Bucket: text("Bucket") });
      return { PolicyDocument: Policy };
    },
  },
];

async function lifecycleOf(s3: S3, Bucket: string): Promise<Partial<GetBucketLifecycleConfigurationOutput>> {
  return (await s3.getBucketLifecycleConfiguration({ Bucket }).catch(unlessMissing)) ?? {};
}

/** CloudFormation writes a rule flatter than S3. What has no words there stays as it is. */
function statedRule({ ID, Filter, Prefix, Expiration, ...others }: LifecycleRule): object {
  const { Prefix: prefix, And, ...filter } = Filter ?? {};
  const { Days, Date: date, ...expiration } = Expiration ?? {};
  return {
    Id: ID,
    Prefix: prefix ?? Prefix,
    ExpirationInDays: Days,
    ExpirationDate: date?.toISOString(),
    ...expiration,
    ...filter,
    ...And,
    ...others,
  };
}

/** What a bucket may have besides, under the names that S3 gives it: none of it is in the template. */
async function whatElse(s3: S3, Bucket: string): Promise<object> {
  const parts = await Promise.all(
    [
      s3.getBucketAccelerateConfiguration({ Bucket }),
      s3.getBucketCors({ Bucket }),
      s3.getBucketLogging({ Bucket }),
      s3.getBucketNotificationConfiguration({ Bucket }),
      s3.getBucketReplication({ Bucket }),
      s3.getBucketRequestPayment({ Bucket }).then(({ Payer }) => ({ RequestPayer: Payer })),
      s3.getBucketWebsite({ Bucket }),
      s3.getObjectLockConfiguration({ Bucket }),
      s3.listBucketIntelligentTieringConfigurations({ Bucket }),
      s3.listBucketInventoryConfigurations({ Bucket }),
    ].map((asked) => (asked as Promise<object>).catch(unlessMissing)),
  );
  const all = parts.map((part) =>
    without(part, "IsTruncated ContinuationToken NextContinuationToken RequestCharged"),
  );
  return Object.assign({}, ...all);
}
