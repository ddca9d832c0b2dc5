// An object's address: the bucket, the bucket's owner, the key.

export interface S3Place {
  readonly bucket: string;
  /**
   * The AWS account that the bucket must belong to; undefined where that is not known. S3 then refuses a bucket of
   * the same name that another account has made since ours was deleted.
   */
  readonly owner: string | undefined;
  /** With the warehouse's prefix. */
  readonly key: string;
}

export interface S3Address {
  readonly Bucket: string;
  readonly ExpectedBucketOwner: string | undefined;
  readonly Key: string;
}

/** The address as every request about an object has it. */
export const addressOf = ({ bucket, owner, key }: S3Place): S3Address => ({
  Bucket: bucket,
  ExpectedBucketOwner: owner,
  Key: key,
});

export const urlOf = ({ bucket, key }: S3Place): string => `s3://${bucket}/${key}`;
