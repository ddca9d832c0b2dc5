// The store as a bucket or a prefix of one: conditional writes keep its guarantees, ETags are its versions.

import { paginateListObjectsV2, type S3Client } from "@aws-sdk/client-s3";
import { SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/random.ts";
import { type Body, checkKey, type Store, type StoredKey, type StoredObject } from "../store.ts";
import { s3Error } from "./s3-error.ts";
import { S3Object } from "./s3-object.ts";

/** 10,000 of these, as many as an upload may have, are 78 GiB. */
const PART_BYTES = 8 * 1024 * 1024;

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
  readonly #options: S3StoreOptions;

  constructor(options: S3StoreOptions) {
    this.#options = options;
  }

  async read(key: string): Promise<StoredObject | undefined> {
    return this.#object(key).read();
  }

  async open(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#object(key).open();
  }

  async create(key: string, body: Body): Promise<string | undefined> {
    return this.#object(key).create(body, this.#partBytes);
  }

  /** Read and written again: only a write has conditions on every service that speaks S3. */
  async copy(from: string, to: string): Promise<boolean> {
    const [source, target] = [this.#object(from), this.#object(to)];
    const chunks = await source.open();
    if (chunks !== undefined) return (await target.create(chunks, this.#partBytes)) !== undefined;
    const { url } = source;
    throw new SyncError("STORE_FAILED", `Could not copy ${url}: it does not exist. Start again.`, {
      fields: { url },
    });
  }

  async replace(key: string, bytes: Uint8Array, version: string): Promise<string | undefined> {
    return this.#object(key).replace(bytes, version);
  }

  /** Without the empty objects that the console makes for folders. */
  async *list(keyPrefix: string, after?: string): AsyncIterable<StoredKey> {
    const { client, bucket, prefix, owner } = this.#options;
    const Prefix = `${prefix}${keyPrefix}`;
    const StartAfter = after && `${prefix}${after}`;
    const request = { Bucket: bucket, ExpectedBucketOwner: owner, Prefix, StartAfter };
    try {
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, request)) {
        for (const { Key, LastModified, Size } of Contents) {
          if (Key === undefined || LastModified === undefined || Key.endsWith("/")) continue;
          yield { key: Key.slice(prefix.length), modifiedAtMs: LastModified.getTime(), bytes: Size ?? 0 };
        }
      }
    } catch (error) {
      throw s3Error(error, "list", { bucket, owner, key: Prefix });
    }
  }

  async delete(key: string): Promise<void> {
    await this.#object(key).delete();
  }

  get #partBytes(): number {
    return this.#options.partBytes ?? PART_BYTES;
  }

  #object(key: string): S3Object {
    checkKey(key);
    const { client, random, bucket, prefix, owner } = this.#options;
    return new S3Object({ client, random, bucket, owner, key: `${prefix}${key}` });
  }
}
