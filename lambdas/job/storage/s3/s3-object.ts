// One object in a bucket: marks each write with an id, and finds out whether a refused write had succeeded before.

import { HeadObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { awsError } from "../../errors/aws-error.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/random.ts";
import { s3Error } from "./s3-error.ts";
import { addressOf, type S3Place, urlOf } from "./s3-place.ts";

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
    return Metadata?.[WRITE_ID] === writeId ? versionOf(object, ETag) : undefined;
  } catch (error) {
    // It has been deleted since.
    if (awsError(error)?.name === "NotFound") return undefined;
    throw s3Error(error, "write", object);
  }
}

export function versionOf(object: S3Object, etag: string | undefined): string {
  if (etag !== undefined) return etag;
  throw new SyncError("STORE_FAILED", `S3 gave no ETag for ${urlOf(object)}. Start again.`);
}
