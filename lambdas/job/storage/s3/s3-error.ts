// Explains errors of S3: what they mean and what to do.

import { HeadObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { awsError, commonRemedy, shortCause } from "../../errors/aws-error.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/random.ts";

/** The verbs of messages, and the permission that each needs. */
const PERMISSIONS = {
  read: "s3:GetObject on it, and s3:ListBucket on the bucket, without which S3 refuses a key that does not exist as well",
  write: "s3:PutObject and s3:GetObject on it",
  list: "s3:ListBucket on the bucket for this prefix",
  delete: "s3:DeleteObject on it",
} as const;

type S3Verb = keyof typeof PERMISSIONS;

const MEANINGS: Readonly<Record<string, string>> = {
  NoSuchBucket: "the bucket does not exist. Deploy the stack, or name the right bucket.",
  PermanentRedirect: "the bucket is in another region. Set AWS_REGION to the bucket's region.",
  AuthorizationHeaderMalformed: "the bucket is in another region. Set AWS_REGION to the bucket's region.",
  ConditionalRequestConflict: "other processes keep writing the same object at the same time. Start again.",
};

/** `STORE_FAILED` for what S3 refused: "Could not <verb> <url>", why, and what to do. Any other error is returned as it is. */
export function s3Error(error: unknown, verb: S3Verb, place: S3Place): unknown {
  const failure = awsError(error);
  if (failure === undefined) return error;
  const { name, status, message } = failure;
  const url = urlOf(place);
  const foreign =
    place.owner === undefined
      ? ""
      : ` If it has that permission, the bucket does not belong to the AWS account ${place.owner}.`;
  const refused =
    status === 403
      ? `AWS refuses it. Give this process ${PERMISSIONS[verb]}.${foreign} AWS says: ${message}`
      : undefined;
  const meaning =
    MEANINGS[name] ?? commonRemedy(failure) ?? refused ?? `S3 reports an error. AWS says: ${message}`;
  return new SyncError("STORE_FAILED", `Could not ${verb} ${url}: ${meaning} (${name})`, {
    fields: { url, aws_error: name, status: status ?? null, request_id: failure.requestId ?? null },
    cause: shortCause(failure),
  });
}

/** `STORE_FAILED` for an object's stream that failed, with any error. */
export function brokenStream(error: unknown, url: string): SyncError {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return new SyncError(
    "STORE_FAILED",
    `Could not read ${url} to its end: the connection was lost, or the bytes received are not those that were stored. Start again. (${name})`,
    { fields: { url }, cause: new Error(message.slice(0, 200)) },
  );
}

/** An object's address: the bucket, the bucket's owner, the key. */
interface S3Place {
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

/** One object in a bucket: marks each write with an id, and finds out whether a refused write had succeeded before. */
export interface S3Object extends S3Place {
  readonly client: S3Client;
  readonly random: Pick<Random, "token">;
}

/** Each write carries its own id, so that the object shows which write made it. */
const WRITE_ID = "write-id";
export const writtenAs = (writeId: string): Record<string, string> => ({ [WRITE_ID]: writeId });

/**
 * The version of the object if this very write made it, else undefined. A client that gets no response sends its
 * request again, and S3 refuses the second one (412) because the first one succeeded.
 */
export async function versionIfOurs(object: S3Object, writeId: string): Promise<string | undefined> {
  try {
    const { ETag, Metadata } = await object.client.send(new HeadObjectCommand(addressOf(object)));
    return Metadata?.[WRITE_ID] === writeId ? requireEtag(object, ETag) : undefined;
  } catch (error) {
    // It has been deleted since.
    if (awsError(error)?.name === "NotFound") return undefined;
    throw s3Error(error, "write", object);
  }
}

export function requireEtag(object: S3Object, etag: string | undefined): string {
  if (etag !== undefined) return etag;
  throw new SyncError("STORE_FAILED", `S3 gave no ETag for ${urlOf(object)}. Start again.`);
}
