// An object from a stream, without ever holding all of it: a multipart upload that appears only if its key is free.

import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { awsError } from "../../errors/aws-error.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { s3Error } from "./s3-error.ts";
import { type S3Object, versionIfOurs, versionOf, writtenAs } from "./s3-object.ts";
import { addressOf, type S3Address, urlOf } from "./s3-place.ts";

/** The object's version, or undefined where the key was taken. What `parts` throws passes through unchanged. */
export async function uploadIfFree(
  object: S3Object,
  parts: AsyncIterable<Uint8Array>,
): Promise<string | undefined> {
  const upload = await Upload.start(object);
  let version: string | undefined;
  try {
    for await (const part of parts) await upload.add(part);
    version = await upload.complete();
  } catch (error) {
    await upload.abort();
    throw error;
  }
  if (version === undefined) await upload.abort();
  return version;
}

class Upload {
  readonly #object: S3Object;
  readonly #target: S3Address & { readonly UploadId: string };
  readonly #writeId: string;
  readonly #parts: CompletedPart[] = [];

  private constructor(object: S3Object, uploadId: string, writeId: string) {
    this.#object = object;
    this.#target = { ...addressOf(object), UploadId: uploadId };
    this.#writeId = writeId;
  }

  static async start(object: S3Object): Promise<Upload> {
    const writeId = object.random.token();
    const request = {
      ...addressOf(object),
      Metadata: writtenAs(writeId),
      ChecksumAlgorithm: "CRC32",
    } as const;
    try {
      const { UploadId } = await object.client.send(new CreateMultipartUploadCommand(request));
      if (UploadId !== undefined) return new Upload(object, UploadId, writeId);
    } catch (error) {
      throw s3Error(error, "write", object);
    }
    throw new SyncError("STORE_FAILED", `S3 started no upload of ${urlOf(object)}. Start again.`);
  }

  async add(part: Uint8Array): Promise<void> {
    const PartNumber = this.#parts.length + 1;
    try {
      const { ETag, ChecksumCRC32 } = await this.#object.client.send(
        new UploadPartCommand({ ...this.#target, PartNumber, Body: part, ChecksumAlgorithm: "CRC32" }),
      );
      this.#parts.push({ PartNumber, ETag, ChecksumCRC32 });
    } catch (error) {
      throw s3Error(error, "write", this.#object);
    }
  }

  async complete(): Promise<string | undefined> {
    try {
      const MultipartUpload = { Parts: this.#parts };
      const { ETag } = await this.#object.client.send(
        new CompleteMultipartUploadCommand({ ...this.#target, MultipartUpload, IfNoneMatch: "*" }),
      );
      return versionOf(this.#object, ETag);
    } catch (error) {
      const failure = awsError(error);
      if (failure?.status === 412) return versionIfOurs(this.#object, this.#writeId);
      // The upload is gone: the first of two equal requests has completed it, or it was aborted.
      const ours =
        failure?.name === "NoSuchUpload" ? await versionIfOurs(this.#object, this.#writeId) : undefined;
      if (ours !== undefined) return ours;
      // A conflict (409) ends the upload for good, and the stream cannot be read again: a retry of the run may succeed.
      throw s3Error(error, "write", this.#object);
    }
  }

  /** Parts that cannot be removed now are removed by the bucket's lifecycle rule; the earlier error is the one to report. */
  async abort(): Promise<void> {
    await this.#object.client.send(new AbortMultipartUploadCommand(this.#target)).catch(() => undefined);
  }
}
