// The store as a bucket or a prefix of one: conditional writes keep its guarantees, ETags are its versions. An object is
// written in one request or in parts; each write carries an id of its own, so that the object shows which write made it.

import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { awsError } from "../../errors/aws-error.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/clock.ts";
import { batches } from "../batches.ts";
import { type Body, checkKey, type Store, type StoredKey, type StoredObject } from "../store.ts";
import { s3Error } from "./s3-error.ts";

/** 10,000 of these, as many as an upload may have, are 78 GiB. */
const PART_BYTES = 8 * 1024 * 1024;
/** How much memory is taken for an object at first. */
const FIRST_BYTES = 64 * 1024;
/** What S3 has not decided, or has not done in a request that it accepted, is sent again: so many times in all, at most. */
const MAX_TRIES = 5;
/** As many as one request deletes. */
const DELETED_AT_ONCE = 1_000;
const WRITE_ID = "write-id";
/** The classes of S3 that a list names and whose objects must be restored; GLACIER_IR is read like any other. */
const ARCHIVES = new Set(["GLACIER", "DEEP_ARCHIVE"]);

interface S3StoreOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** `""`, or a prefix that ends in a slash. */
  readonly prefix: string;
  /**
   * The AWS account that the bucket belongs to, if known: S3 then refuses a bucket of the same name that another account
   * has made since ours was deleted.
   */
  readonly owner?: string;
  readonly random: Pick<Random, "token">;
  /** What is as long is uploaded in parts of this size; S3 itself accepts none below 5 MiB but the last. */
  readonly partBytes?: number;
}

/** A whole object in one request, on a condition: the key is free, or the object still has a version. */
type Condition = { readonly IfNoneMatch: "*" } | { readonly IfMatch: string };

interface Upload {
  readonly key: string;
  readonly UploadId: string;
  readonly writeId: string;
}

export class S3Store implements Store {
  readonly #options: S3StoreOptions;
  readonly #client: S3Client;
  readonly #partBytes: number;

  constructor(options: S3StoreOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#partBytes = options.partBytes ?? PART_BYTES;
  }

  async read(key: string): Promise<StoredObject | undefined> {
    const found = await this.#get(key);
    if (found === undefined) return undefined;
    const chunks = await Array.fromAsync(this.#chunksOf(key, found));
    return { bytes: Buffer.concat(chunks), version: this.#version(key, found.ETag) };
  }

  /** The connection is busy until the chunks are read or their iterator is returned. */
  async open(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = await this.#get(key);
    return found && this.#chunksOf(key, found);
  }

  async create(key: string, body: Body): Promise<string | undefined> {
    if (body instanceof Uint8Array) return this.#putIf(key, body, { IfNoneMatch: "*" });
    const parts = inParts(body, this.#partBytes);
    try {
      const first = (await parts.next()).value ?? new Uint8Array();
      if (first.length < this.#partBytes) return await this.#putIf(key, first, { IfNoneMatch: "*" });
      return await this.#uploadIfFree(key, first, parts);
    } finally {
      await parts.return(undefined);
    }
  }

  /** Read and written again: only a write has conditions on every service that speaks S3. */
  async copy(from: string, to: string): Promise<boolean> {
    checkKey(to);
    const chunks = await this.open(from);
    if (chunks !== undefined) return (await this.create(to, chunks)) !== undefined;
    const url = this.#urlOf(from);
    throw new SyncError("STORE_FAILED", `Could not copy ${url}: it does not exist. Start again.`, {
      fields: { url },
    });
  }

  async replace(key: string, bytes: Uint8Array, version: string): Promise<string | undefined> {
    return this.#putIf(key, bytes, { IfMatch: version });
  }

  /** Leaves out the empty objects that the console makes for folders. */
  async *list(keyPrefix: string, after?: string): AsyncIterable<StoredKey> {
    const { bucket, prefix, owner } = this.#options;
    const StartAfter = after && `${prefix}${after}`;
    const request = {
      Bucket: bucket,
      ExpectedBucketOwner: owner,
      Prefix: `${prefix}${keyPrefix}`,
      StartAfter,
    };
    try {
      for await (const { Contents = [] } of paginateListObjectsV2({ client: this.#client }, request)) {
        for (const { Key, LastModified, Size, StorageClass = "" } of Contents) {
          if (Key === undefined || LastModified === undefined || Key.endsWith("/")) continue;
          const stored = {
            key: Key.slice(prefix.length),
            modifiedAtMs: LastModified.getTime(),
            bytes: Size ?? 0,
          };
          yield ARCHIVES.has(StorageClass) ? { ...stored, archivedAs: StorageClass } : stored;
        }
      }
    } catch (error) {
      this.#failed("list", keyPrefix)(error);
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) checkKey(key);
    for (const batch of batches(keys, DELETED_AT_ONCE)) await this.#deleteAtOnce(batch);
  }

  /** The client repeats a request that is refused, but not what one that was accepted has left undone. */
  async #deleteAtOnce(keys: readonly string[]): Promise<void> {
    const { bucket, prefix, owner } = this.#options;
    let left = keys.map((key) => `${prefix}${key}`);
    for (let tries = 1; ; tries += 1) {
      const request = new DeleteObjectsCommand({
        Bucket: bucket,
        ExpectedBucketOwner: owner,
        Delete: { Quiet: true, Objects: left.map((Key) => ({ Key })) },
      });
      const answer = this.#client.send(request).catch(this.#failed("delete", keys[0] ?? ""));
      const { Errors = [], $metadata } = await answer;
      const [failure] = Errors;
      if (failure === undefined) return;
      const { Key = "", Code: name = "UnknownError", Message } = failure;
      if (tries === MAX_TRIES) {
        const error = Object.assign(new Error(Message), { name, $metadata });
        return this.#failed("delete", Key.slice(prefix.length))(error);
      }
      const undone = new Set(Errors.map((each) => each.Key));
      left = left.filter((key) => undone.has(key));
    }
  }

  async #get(key: string): Promise<GetObjectCommandOutput | undefined> {
    try {
      return await this.#client.send(new GetObjectCommand(this.#address(key)));
    } catch (error) {
      // The status alone is not enough: a bucket that does not exist gives 404 as well.
      if (awsError(error)?.name === "NoSuchKey") return undefined;
      return this.#failed("read", key)(error);
    }
  }

  async *#chunksOf(key: string, { Body }: GetObjectCommandOutput): AsyncGenerator<Uint8Array> {
    if (!(Body instanceof Readable)) throw new TypeError("S3 answers with a stream of Node.js");
    try {
      yield* Body;
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      const url = this.#urlOf(key);
      throw new SyncError(
        "STORE_FAILED",
        `Could not read ${url} to its end: the connection was lost, or the bytes received are not those that were stored. Start again. (${name})`,
        { fields: { url }, cause: new Error(message.slice(0, 200)) },
      );
    }
  }

  /** The object's version, or undefined where the condition does not hold. */
  async #putIf(key: string, bytes: Uint8Array, condition: Condition): Promise<string | undefined> {
    const writeId = this.#options.random.token();
    const request = {
      ...this.#address(key),
      Body: bytes,
      Metadata: { [WRITE_ID]: writeId },
      ...condition,
    };
    for (let tries = 1; ; tries += 1) {
      try {
        return this.#version(key, (await this.#client.send(new PutObjectCommand(request))).ETag);
      } catch (error) {
        const failure = awsError(error);
        if (failure?.status === 412) return this.#versionIfOurs(key, writeId);
        // With If-Match: there is nothing (any more) that could have the version.
        if (failure?.name === "NoSuchKey") return undefined;
        if (failure?.name !== "ConditionalRequestConflict" || tries === MAX_TRIES)
          return this.#failed("write", key)(error);
      }
    }
  }

  /** The object's version, or undefined where the key was taken. What `rest` throws passes through unchanged. */
  async #uploadIfFree(
    key: string,
    first: Uint8Array,
    rest: AsyncIterable<Uint8Array>,
  ): Promise<string | undefined> {
    const upload = await this.#startUpload(key);
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
        const abort = new AbortMultipartUploadCommand({ ...this.#address(key), UploadId });
        await this.#client.send(abort).catch(() => undefined);
      }
    }
  }

  async #startUpload(key: string): Promise<Upload> {
    const writeId = this.#options.random.token();
    const request = new CreateMultipartUploadCommand({
      ...this.#address(key),
      Metadata: { [WRITE_ID]: writeId },
      ChecksumAlgorithm: "CRC32",
    });
    const { UploadId } = await this.#client.send(request).catch(this.#failed("write", key));
    if (UploadId !== undefined) return { key, UploadId, writeId };
    throw new SyncError("STORE_FAILED", `S3 started no upload of ${this.#urlOf(key)}. Start again.`);
  }

  async #uploadPart({ key, UploadId }: Upload, Body: Uint8Array, PartNumber: number): Promise<CompletedPart> {
    const ChecksumAlgorithm = "CRC32";
    const request = { ...this.#address(key), UploadId, PartNumber, Body, ChecksumAlgorithm } as const;
    const sent = this.#client.send(new UploadPartCommand(request));
    const { ETag, ChecksumCRC32 } = await sent.catch(this.#failed("write", key));
    return { PartNumber, ETag, ChecksumCRC32 };
  }

  async #completeUpload(
    { key, UploadId, writeId }: Upload,
    Parts: CompletedPart[],
  ): Promise<string | undefined> {
    const request = { ...this.#address(key), UploadId, MultipartUpload: { Parts }, IfNoneMatch: "*" };
    try {
      return this.#version(key, (await this.#client.send(new CompleteMultipartUploadCommand(request))).ETag);
    } catch (error) {
      const failure = awsError(error);
      if (failure?.status === 412) return this.#versionIfOurs(key, writeId);
      // The upload is gone: the first of two equal requests has completed it, or it was aborted.
      const ours = failure?.name === "NoSuchUpload" ? await this.#versionIfOurs(key, writeId) : undefined;
      // A conflict (409) ends the upload for good, and the stream cannot be read again: a retry of the run may succeed.
      return ours ?? this.#failed("write", key)(error);
    }
  }

  /**
   * The version of the object if this very write made it, else undefined. A client that gets no response sends its
   * request again, and S3 refuses the second one (412) because the first one succeeded.
   */
  async #versionIfOurs(key: string, writeId: string): Promise<string | undefined> {
    try {
      const { ETag, Metadata } = await this.#client.send(new HeadObjectCommand(this.#address(key)));
      return Metadata?.[WRITE_ID] === writeId ? this.#version(key, ETag) : undefined;
    } catch (error) {
      // The object has been deleted since.
      if (awsError(error)?.name === "NotFound") return undefined;
      return this.#failed("write", key)(error);
    }
  }

  #version(key: string, etag: string | undefined): string {
    if (etag !== undefined) return etag;
    throw new SyncError("STORE_FAILED", `S3 gave no ETag for ${this.#urlOf(key)}. Start again.`);
  }

  /** The address of an object, as every request about it has it. */
  #address(key: string) {
    checkKey(key);
    const { bucket, prefix, owner } = this.#options;
    return { Bucket: bucket, ExpectedBucketOwner: owner, Key: `${prefix}${key}` };
  }

  #urlOf(key: string): string {
    return `s3://${this.#options.bucket}/${this.#options.prefix}${key}`;
  }

  #failed(verb: "read" | "write" | "list" | "delete", key: string): (error: unknown) => never {
    return (error) => {
      throw s3Error(error, verb, { url: this.#urlOf(key), owner: this.#options.owner });
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
