// A whole object in one request, on a condition: the key is free, or the object still has a version.

import { PutObjectCommand } from "@aws-sdk/client-s3";
import { awsError } from "../../errors/aws-error.ts";
import { s3Error } from "./s3-error.ts";
import { type S3Object, versionIfOurs, versionOf, writtenAs } from "./s3-object.ts";
import { addressOf } from "./s3-place.ts";

export type Condition = { readonly IfNoneMatch: "*" } | { readonly IfMatch: string };

/** After a conflict S3 has decided nothing, so the same request is sent again: at most this many times in all. */
const MAX_TRIES = 5;

/** The object's version, or undefined where the condition does not hold. Throws `STORE_FAILED`. */
export async function putIf(
  object: S3Object,
  bytes: Uint8Array,
  condition: Condition,
): Promise<string | undefined> {
  const writeId = object.random.token();
  const request = { ...addressOf(object), Body: bytes, Metadata: writtenAs(writeId), ...condition };
  for (let tries = 1; ; tries += 1) {
    try {
      const { ETag } = await object.client.send(new PutObjectCommand(request));
      return versionOf(object, ETag);
    } catch (error) {
      const failure = awsError(error);
      if (failure?.status === 412) return versionIfOurs(object, writeId);
      // With If-Match: there is nothing (any more) that could have the version.
      if (failure?.name === "NoSuchKey") return undefined;
      if (failure?.name !== "ConditionalRequestConflict" || tries === MAX_TRIES) {
        throw s3Error(error, "write", object);
      }
    }
  }
}
