// The store as a bucket or a prefix of one: conditional writes keep its guarantees, ETags are its versions.

import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { awsError } from "../../errors/aws-error.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/random.ts";
import { type Body, checkKey, type Store, type StoredKey, type StoredObject } from "../store.ts";
import {
  addressOf,
  brokenStream,
  requireEtag,
  type S3Address,
  type S3Object,
  s3Error,
  urlOf,
  versionIfOurs,
  writtenAs,
} from "./s3-error.ts";

/** 10,000 of these, as many as an upload may have, are 78 GiB. */
const PART_BYTES = 8 * 1024 * 1024;
/** What a small object takes of memory. */
const FIRST_BYTES = 64 * 1024;

interface S3StoreOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** `""`, or a prefix that ends in a slash. */
  readonly prefix: string;
  /** The AWS account that the bucket belongs to, if known: S3 then refuses the same name in another account. */
  readonly owner?: string;
  readonly random: Pick<Random, "token">;
  /** Of an upload in parts; S3 itself accepts none below 5 MiB but the last. */
  readonly partBytes?: number;
}

export class S3Store implements Store {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #owner: string | undefined;
  readonly #random: Pick<Random, "token">;
  readonly #partBytes: number;

  constructor({ client, bucket, prefix, owner, random, partBytes = PART_BYTES }: S3StoreOptions) {
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#owner = owner;
    this.#random = random;
    this.#partBytes = partBytes;
  }

  async read(key: string): Promise<StoredObject | undefined> {
    const object = this.#object(key);
    const found = await get(object);
    if (found === undefined) return undefined;
    const chunks = await Array.fromAsync(chunksOf(found, urlOf(object)));
    return { bytes: Buffer.concat(chunks), version: requireEtag(object, found.ETag) };
  }

  /** The connection is busy until the chunks are read or their iterator is returned. */
  async open(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const object = this.#object(key);
    const found = await get(object);
    return found && chunksOf(found, urlOf(object));
  }

  async create(key: string, body: Body): Promise<string | undefined> {
    const object = this.#object(key);
    if (body instanceof Uint8Array) return putIf(object, body, { IfNoneMatch: "*" });
    const parts = inParts(body, this.#partBytes);
    try {
      const first = (await parts.next()).value ?? new Uint8Array();
      if (first.length < this.#partBytes) return await putIf(object, first, { IfNoneMatch: "*" });
      return await uploadIfFree(object, startingWith(first, parts));
    } finally {
      await parts.return(undefined);
    }
  }

  /** Read and written again: only a write has conditions on every service that speaks S3. */
  async copy(from: string, to: string): Promise<boolean> {
    checkKey(to);
    const chunks = await this.open(from);
    if (chunks !== undefined) return (await this.create(to, chunks)) !== undefined;
    const url = urlOf(this.#object(from));
    throw new SyncError("STORE_FAILED", `Could not copy ${url}: it does not exist. Start again.`, {
      fields: { url },
    });
  }

  async replace(key: string, bytes: Uint8Array, version: string): Promise<string | undefined> {
    return putIf(this.#object(key), bytes, { IfMatch: version });
  }

  /** Without the empty objects that the console makes for folders. */
  async *list(prefix: string, after?: string): AsyncIterable<StoredKey> {
    const Prefix = `${this.#prefix}${prefix}`;
    const request = {
      Bucket: this.#bucket,
      ExpectedBucketOwner: this.#owner,
      Prefix,
      ...(after === undefined ? {} : { StartAfter: `${this.#prefix}${after}` }),
    };
    try {
      for await (const { Contents = [] } of paginateListObjectsV2({ client: this.#client }, request)) {
        for (const { Key, LastModified, Size } of Contents) {
          if (Key === undefined || LastModified === undefined || Key.endsWith("/")) continue;
          const key = Key.slice(this.#prefix.length);
          yield { key, modifiedAtMs: LastModified.getTime(), bytes: Size ?? 0 };
        }
      }
    } catch (error) {
      throw s3Error(error, "list", { bucket: this.#bucket, owner: this.#owner, key: Prefix });
    }
  }

  async delete(key: string): Promise<void> {
    const object = this.#object(key);
    try {
      await this.#client.send(new DeleteObjectCommand(addressOf(object)));
    } catch (error) {
      throw s3Error(error, "delete", object);
    }
  }

  #object(key: string): S3Object {
    checkKey(key);
    return {
      client: this.#client,
      random: this.#random,
      bucket: this.#bucket,
      owner: this.#owner,
      key: `${this.#prefix}${key}`,
    };
  }
}

async function get(object: S3Object): Promise<GetObjectCommandOutput | undefined> {
  try {
    return await object.client.send(new GetObjectCommand(addressOf(object)));
  } catch (error) {
    // The status alone is not enough: a bucket that does not exist gives 404 as well.
    if (awsError(error)?.name === "NoSuchKey") return undefined;
    throw s3Error(error, "read", object);
  }
}

async function* chunksOf({ Body }: GetObjectCommandOutput, url: string): AsyncGenerator<Uint8Array> {
  if (!(Body instanceof Readable)) throw new TypeError("S3 answers with a stream of Node.js");
  try {
    yield* Body;
  } catch (error) {
    throw brokenStream(error, url);
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

async function* startingWith<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}

/** The object's version, or undefined where the key was taken. What `parts` throws passes through unchanged. */
async function uploadIfFree(object: S3Object, parts: AsyncIterable<Uint8Array>): Promise<string | undefined> {
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
      return requireEtag(this.#object, ETag);
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

/** A whole object in one request, on a condition: the key is free, or the object still has a version. */
type Condition = { readonly IfNoneMatch: "*" } | { readonly IfMatch: string };

/** After a conflict S3 has decided nothing, so the same request is sent again: at most this many times in all. */
const MAX_TRIES = 5;

/** The object's version, or undefined where the condition does not hold. Throws `STORE_FAILED`. */
async function putIf(object: S3Object, bytes: Uint8Array, condition: Condition): Promise<string | undefined> {
  const writeId = object.random.token();
  const request = { ...addressOf(object), Body: bytes, Metadata: writtenAs(writeId), ...condition };
  for (let tries = 1; ; tries += 1) {
    try {
      const { ETag } = await object.client.send(new PutObjectCommand(request));
      return requireEtag(object, ETag);
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
