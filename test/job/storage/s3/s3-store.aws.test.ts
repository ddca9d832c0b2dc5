// The store in a bucket keeps the contract, on an emulator of S3; what only a bucket can do is here too.

import { ListMultipartUploadsCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { systemRandom } from "../../../../lambdas/job/runtime/clock.ts";
import { S3Store } from "../../../../lambdas/job/storage/s3/s3-store.ts";
import { awsClients, freshBucket, newAwsClients, onEmulator } from "../../../aws/emulator.ts";
import { keysOf, listingContract, storeContract } from "../store-contract.ts";

const MIB = 1024 * 1024;
/** Enough for two parts. */
const LARGE = [5 * MIB, 5 * MIB];
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

interface Made {
  readonly client: S3Client;
  readonly bucket: string;
  readonly store: S3Store;
}

async function make(prefix = ""): Promise<Made> {
  const { s3: client } = awsClients();
  const bucket = await freshBucket(client);
  return { client, bucket, store: new S3Store({ client, bucket, prefix, random: systemRandom }) };
}

/** A client that is given two keys a page, as a large bucket gives a thousand. */
async function makeSmallPages(): Promise<S3Store> {
  const { bucket } = await make();
  const { s3: client } = newAwsClients();
  const twoAtOnce = { MaxKeys: 2 };
  client.middlewareStack.add(
    (next) => (args) => next({ ...args, input: Object.assign(args.input, twoAtOnce) }),
    { step: "initialize" },
  );
  return new S3Store({ client, bucket, prefix: "a/b/", random: systemRandom });
}

/** Chunks of these lengths, all from one buffer that is used again and again. */
async function* chunked(lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(Math.max(...lengths));
  for (const [n, length] of lengths.entries()) {
    const chunk = buffer.subarray(0, length);
    for (let at = 0; at < length; at += 4) chunk[at] = (at / 4 + n) % 251;
    yield chunk;
  }
}

async function whole(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const copies: Uint8Array[] = [];
  for await (const chunk of body) copies.push(Buffer.from(chunk));
  return Buffer.concat(copies);
}

async function unfinishedUploads({ client, bucket }: Made): Promise<number> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  return Uploads.length;
}

onEmulator("in a bucket", () => {
  storeContract("S3Store", async () => (await make()).store);
  storeContract("S3Store with a prefix", async () => (await make("a/b/")).store);
  listingContract("S3Store over many pages", makeSmallPages);

  describe("S3Store", () => {
    it.each([
      [[8 * MIB - 1]],
      [[8 * MIB]],
      [[8 * MIB + 1]],
      [[20 * MIB]],
      [[3_000_001, 3_000_001, 3_000_001, 0, 8_000_000, 1]],
    ])("creates an object from a stream of chunks of %j bytes", async (lengths) => {
      const made = await make();

      const version = await made.store.create("large", chunked(lengths));

      const stored = await made.store.read("large");
      expect(stored?.version).toBe(version);
      expect(Buffer.compare(stored?.bytes ?? Buffer.of(), await whole(chunked(lengths)))).toBe(0);
      expect(await unfinishedUploads(made)).toBe(0);
    });

    it("does not replace what exists by a stream of many parts, consumes it and leaves no upload behind", async () => {
      const made = await make();
      await made.store.create("key", bytes("first"));
      let consumed = false;
      async function* body(): AsyncGenerator<Uint8Array> {
        yield* chunked(LARGE);
        consumed = true;
      }

      expect(await made.store.create("key", body())).toBeUndefined();

      expect(consumed).toBe(true);
      expect((await made.store.read("key"))?.bytes).toEqual(Buffer.from("first"));
      expect(await unfinishedUploads(made)).toBe(0);
    });

    it("leaves no upload behind when the body throws after its first part, and passes the error on", async () => {
      const made = await make();
      const failure = new RangeError("the producer failed");
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield* chunked(LARGE);
        throw failure;
      }

      await expect(made.store.create("key", failing())).rejects.toBe(failure);

      expect(await unfinishedUploads(made)).toBe(0);
      expect(await keysOf(made.store, "")).toEqual([]);
    });

    it("lets one of two creators of equal content win", async () => {
      const { store } = await make();

      const versions = await Promise.all([
        store.create("key", bytes("same")),
        store.create("key", bytes("same")),
      ]);

      expect(versions.filter((version) => version === undefined)).toHaveLength(1);
    });

    it("sees only what is below its prefix", async () => {
      const { client, bucket, store } = await make("a/b/");
      const other = new S3Store({ client, bucket, prefix: "a/", random: systemRandom });

      await other.create("b0", bytes("beside it"));
      await other.create("b/c", bytes("below it"));

      expect(await keysOf(store, "")).toEqual(["c"]);
    });

    it("lists no folders that the console has made", async () => {
      const { client, bucket, store } = await make();
      await client.send(
        new PutObjectCommand({ Bucket: bucket, Key: "publications/uk/", Body: new Uint8Array() }),
      );
      await store.create("publications/uk/0000000001.ndjson", bytes("{}\n"));

      expect(await keysOf(store, "publications/")).toEqual(["publications/uk/0000000001.ndjson"]);
    });

    it.each([
      { StorageClass: "GLACIER", archivedAs: "GLACIER" },
      { StorageClass: "DEEP_ARCHIVE", archivedAs: "DEEP_ARCHIVE" },
      { StorageClass: "GLACIER_IR", archivedAs: undefined },
      { StorageClass: "STANDARD_IA", archivedAs: undefined },
    ] as const)("lists an object of $StorageClass as archived as $archivedAs", async (each) => {
      const { client, bucket, store } = await make();
      const { StorageClass, archivedAs } = each;
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: "key", Body: "content", StorageClass }));

      const [listed] = await Array.fromAsync(store.list(""));

      expect(listed?.archivedAs).toBe(archivedAs);
    });

    it("says of an archived object that it is that, and names no permission", async () => {
      const { client, bucket, store } = await make();
      const archived = { Bucket: bucket, Key: "key", Body: "content", StorageClass: "GLACIER" } as const;
      await client.send(new PutObjectCommand(archived));

      for (const read of [() => store.read("key"), () => store.open("key"), () => store.copy("key", "to")]) {
        await expect(read()).rejects.toMatchObject({
          code: "STORE_FAILED",
          message: expect.stringMatching(
            /^Could not read s3:\/\/\S+\/key: a lifecycle rule .*restore-object.*\(InvalidObjectState\)$/,
          ),
        });
      }
    });

    it("gives S3's own time of modification", async () => {
      const { store } = await make();
      const before = Date.now();
      await store.create("key", bytes("content"));

      const [listed] = await Array.fromAsync(store.list(""));

      expect(Math.abs((listed?.modifiedAtMs ?? 0) - before)).toBeLessThan(60_000);
    });
  });
});
