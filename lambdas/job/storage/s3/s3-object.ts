// One object in a bucket. It is written on a condition, in one request or in parts; each write carries an id of its own,
// so that the object shows which write made it.

import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { awsError } from "../../errors/aws-error.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/random.ts";
import type { Body, StoredObject } from "../store.ts";
import { type S3Place, type S3Verb, s3Error, urlOf } from "./s3-error.ts";

/** What a small object takes of memory. */
const FIRST_BYTES = 64 * 1024;
/** After a conflict S3 has decided nothing, so the same request is sent again: at most this many times in all. */
const MAX_TRIES = 5;
const WRITE_ID = "write-id";

interface S3ObjectOptions extends S3Place {
  readonly client: S3Client;
  readonly random: Pick<Random, "token">;
}

/** A whole object in one request, on a condition: the key is free, or the object still has a version. */
type Condition = { readonly IfNoneMatch: "*" } | { readonly IfMatch: string };

interface Upload {
  readonly UploadId: string;
  readonly writeId: string;
}

/** Throws `STORE_FAILED`. */
export class S3Object {
  readonly url: string;
  readonly #client: S3Client;
  readonly #random: Pick<Random, "token">;
  readonly #place: S3Place;
  /** As every request about the object has it. */
  readonly #address: {
    readonly Bucket: string;
    readonly ExpectedBucketOwner: string | undefined;
    readonly Key: string;
  };

  constructor({ client, random, ...place }: S3ObjectOptions) {
    this.url = urlOf(place);
    this.#client = client;
    this.#random = random;
    this.#place = place;
    this.#address = { Bucket: place.bucket, ExpectedBucketOwner: place.owner, Key: place.key };
  }

  async read(): Promise<StoredObject | undefined> {
    const found = await this.#get();
    if (found === undefined) return undefined;
    const chunks = await Array.fromAsync(this.#chunksOf(found));
    return { bytes: Buffer.concat(chunks), version: this.#version(found.ETag) };
  }

  /** The connection is busy until the chunks are read or their iterator is returned. */
  async open(): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = await this.#get();
    return found && this.#chunksOf(found);
  }

  /** @param partBytes what is as long is uploaded in parts of this size */
  async create(body: Body, partBytes: number): Promise<string | undefined> {
    if (body instanceof Uint8Array) return this.#putIf(body, { IfNoneMatch: "*" });
    const parts = inParts(body, partBytes);
    try {
      const first = (await parts.next()).value ?? new Uint8Array();
      if (first.length < partBytes) return await this.#putIf(first, { IfNoneMatch: "*" });
      return await this.#uploadIfFree(first, parts);
    } finally {
      await parts.return(undefined);
    }
  }

  async replace(bytes: Uint8Array, version: string): Promise<string | undefined> {
    return this.#putIf(bytes, { IfMatch: version });
  }

  async delete(): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#address)).catch(this.#failed("delete"));
  }

  async #get(): Promise<GetObjectCommandOutput | undefined> {
    try {
      return await this.#client.send(new GetObjectCommand(this.#address));
    } catch (error) {
      // The status alone is not enough: a bucket that does not exist gives 404 as well.
      if (awsError(error)?.name === "NoSuchKey") return undefined;
      throw s3Error(error, "read", this.#place);
    }
  }

  async *#chunksOf({ Body }: GetObjectCommandOutput): AsyncGenerator<Uint8Array> {
    if (!(Body instanceof Readable)) throw new TypeError("S3 answers with a stream of Node.js");
    try {
      yield* Body;
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      throw new SyncError(
        "STORE_FAILED",
        `Could not read ${this.url} to its end: the connection was lost, or the bytes received are not those that were stored. Start again. (${name})`,
        { fields: { url: this.url }, cause: new Error(message.slice(0, 200)) },
      );
    }
  }

  /** The object's version, or undefined where the condition does not hold. */
  async #putIf(bytes: Uint8Array, condition: Condition): Promise<string | undefined> {
    const writeId = this.#random.token();
    const request = { ...this.#address, Body: bytes, Metadata: { [WRITE_ID]: writeId }, ...condition };
    for (let tries = 1; ; tries += 1) {
      try {
        return this.#version((await this.#client.send(new PutObjectCommand(request))).ETag);
      } catch (error) {
        const failure = awsError(error);
        if (failure?.status === 412) return this.#versionIfOurs(writeId);
        // With If-Match: there is nothing (any more) that could have the version.
        if (failure?.name === "NoSuchKey") return undefined;
        if (failure?.name !== "ConditionalRequestConflict" || tries === MAX_TRIES)
          throw s3Error(error, "write", this.#place);
      }
    }
  }

  /** The object's version, or undefined where the key was taken. What `rest` throws passes through unchanged. */
  async #uploadIfFree(first: Uint8Array, rest: AsyncIterable<Uint8Array>): Promise<string | undefined> {
    const upload = await this.#startUpload();
    const { UploadId } = upload;
    let version: string | undefined;
    try {
      const sent = [await this.#uploadPart(upload, first, 1)];
      for await (const part of rest) sent.push(await this.#uploadPart(upload, part, sent.length + 1));
      version = await this.#completeUpload(upload, sent);
      return version;
    } finally {
      // What cannot be removed now is removed by the bucket's lifecycle rule; the earlier error is the one to report.
      if (version === undefined) {
        const abort = new AbortMultipartUploadCommand({ ...this.#address, UploadId });
        await this.#client.send(abort).catch(() => undefined);
      }
    }
  }

  async #startUpload(): Promise<Upload> {
    const writeId = this.#random.token();
    const request = new CreateMultipartUploadCommand({
      ...this.#address,
      Metadata: { [WRITE_ID]: writeId },
      ChecksumAlgorithm: "CRC32",
    });
    const { UploadId } = await this.#client.send(request).catch(this.#failed("write"));
    if (UploadId !== undefined) return { UploadId, writeId };
    throw new SyncError("STORE_FAILED", `S3 started no upload of ${this.url}. Start again.`);
  }

  async #uploadPart({ UploadId }: Upload, Body: Uint8Array, PartNumber: number): Promise<CompletedPart> {
    const request = { ...this.#address, UploadId, PartNumber, Body, ChecksumAlgorithm: "CRC32" } as const;
    const sent = this.#client.send(new UploadPartCommand(request));
    const { ETag, ChecksumCRC32 } = await sent.catch(this.#failed("write"));
    return { PartNumber, ETag, ChecksumCRC32 };
  }

  async #completeUpload({ UploadId, writeId }: Upload, Parts: CompletedPart[]): Promise<string | undefined> {
    const request = { ...this.#address, UploadId, MultipartUpload: { Parts }, IfNoneMatch: "*" };
    try {
      return this.#version((await this.#client.send(new CompleteMultipartUploadCommand(request))).ETag);
    } catch (error) {
      const failure = awsError(error);
      if (failure?.status === 412) return this.#versionIfOurs(writeId);
      // The upload is gone: the first of two equal requests has completed it, or it was aborted.
      const ours = failure?.name === "NoSuchUpload" ? await this.#versionIfOurs(writeId) : undefined;
      if (ours !== undefined) return ours;
      // A conflict (409) ends the upload for good, and the stream cannot be read again: a retry of the run may succeed.
      throw s3Error(error, "write", this.#place);
    }
  }

  /**
   * The version of the object if this very write made it, else undefined. A client that gets no response sends its
   * request again, and S3 refuses the second one (412) because the first one succeeded.
   */
  async #versionIfOurs(writeId: string): Promise<string | undefined> {
    try {
      const { ETag, Metadata } = await this.#client.send(new HeadObjectCommand(this.#address));
      return Metadata?.[WRITE_ID] === writeId ? this.#version(ETag) : undefined;
    } catch (error) {
      // It has been deleted since.
      if (awsError(error)?.name === "NotFound") return undefined;
      throw s3Error(error, "write", this.#place);
    }
  }

  #version(etag: string | undefined): string {
    if (etag !== undefined) return etag;
    throw new SyncError("STORE_FAILED", `S3 gave no ETag for ${this.url}. Start again.`);
  }

  #failed(verb: S3Verb): (error: unknown) => never {
    return (error) => {
      throw s3Error(error, verb, this.#place);
    };
  }
}

/**
 * Cuts a stream into parts of exactly `bytes`, the last one shorter. All of them are in the same buffer, so a
 * part is sent before the next one is asked for; and copies, because a producer may use its chunks again.
 */
async function* inParts(body: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let part = Buffer.allocUnsafe(Math.min(bytes, FIRST_BYTES));
  let filled = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; ) {
      const taken = Math.min(chunk.length - at, bytes - filled);
      if (filled + taken > part.length) part = grown(part, filled + taken, bytes);
      part.set(chunk.subarray(at, at + taken), filled);
      at += taken;
      filled += taken;
      if (filled < bytes) continue;
      yield part;
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

function grown(part: Buffer, needed: number, most: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafe(Math.min(most, Math.max(2 * part.length, needed)));
  part.copy(larger);
  return larger;
}
