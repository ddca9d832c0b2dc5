import { describe, expect, test } from "vitest";
import { Objects } from "./objects.ts";
import { Uploads } from "./s3.ts";

const HOUR_MS = 3_600_000;
const KEY = "key";
const PART_BYTES = 4;

class Bucket {
  nowMs = Date.UTC(2026, 0, 5, 6);
  readonly objects = new Objects(
    () => this.nowMs,
    () => undefined,
  );
  readonly uploads = new Uploads(this.objects, () => this.nowMs, PART_BYTES);

  async do(
    command: string,
    given: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.uploads.request(command, { Key: KEY, ...given }, "p1", async (effect) =>
      effect(),
    );
    return { ...answer };
  }

  /** An upload with these parts, not completed; what its completion must name. */
  async upload(
    ...bodies: readonly string[]
  ): Promise<{ readonly id: unknown; readonly parts: readonly object[] }> {
    const { UploadId: id } = await this.do("CreateMultipartUpload", {});
    const parts: object[] = [];
    for (const [index, text] of bodies.entries()) {
      const part = { UploadId: id, PartNumber: index + 1, Body: Buffer.from(text) };
      parts.push({ PartNumber: index + 1, ...(await this.do("UploadPart", part)) });
    }
    return { id, parts };
  }

  async complete(id: unknown, parts: readonly object[]): Promise<void> {
    await this.do("CompleteMultipartUpload", {
      UploadId: id,
      MultipartUpload: { Parts: parts },
      IfNoneMatch: "*",
    });
  }

  get content(): string | undefined {
    const found = this.objects.get(KEY);
    return found && Buffer.from(found.bytes).toString();
  }
}

describe("an upload in parts", () => {
  test("is no object until it is completed", async () => {
    const bucket = new Bucket();
    const { id, parts } = await bucket.upload("abcd", "ef");

    expect(bucket.content).toBeUndefined();
    expect(bucket.uploads.open).toHaveLength(1);
    await bucket.complete(id, parts);
    expect(bucket.content).toBe("abcdef");
    expect(bucket.uploads.open).toEqual([]);
  });

  test("keeps its parts where their buffer is used again", async () => {
    const bucket = new Bucket();
    const { UploadId: id } = await bucket.do("CreateMultipartUpload", {});
    const Body = Buffer.from("abcd");
    const sums = await bucket.do("UploadPart", { UploadId: id, PartNumber: 1, Body });
    Body.fill("x");

    await bucket.complete(id, [{ PartNumber: 1, ...sums }]);

    expect(bucket.content).toBe("abcd");
  });

  test("is refused where the key is taken, and stays open until it is aborted", async () => {
    const bucket = new Bucket();
    bucket.objects.put(KEY, Buffer.from("first"), "p2");
    const { id, parts } = await bucket.upload("abcd");

    await expect(bucket.complete(id, parts)).rejects.toThrow("PreconditionFailed");
    expect(bucket.uploads.open).toMatchObject([{ isGivenUp: false, underWay: 0 }]);
    await bucket.do("AbortMultipartUpload", { UploadId: id });
    expect(bucket.uploads.open).toEqual([]);
    expect(bucket.content).toBe("first");
  });

  test("waits while its maker looks at what took the key", async () => {
    const bucket = new Bucket();
    await bucket.upload("abcd");
    const looking = Promise.withResolvers<object>();

    const look = bucket.uploads.during({ Key: KEY }, "p1", () => looking.promise);
    void bucket.uploads.during({ Key: KEY }, "p2", () => looking.promise);
    void bucket.uploads.during({ Key: "another" }, "p1", () => looking.promise);

    expect(bucket.uploads.open).toMatchObject([{ underWay: 1 }]);
    looking.resolve({});
    await look;
    expect(bucket.uploads.open).toMatchObject([{ underWay: 0 }]);
  });

  test.each([
    ["no parts", () => [], "MalformedXML"],
    ["parts in another order", (parts: readonly object[]) => parts.toReversed(), "InvalidPartOrder"],
    ["a part that was not sent", () => [{ PartNumber: 3 }], "InvalidPart"],
    [
      "another checksum",
      (parts: readonly object[]) => parts.map((part) => ({ ...part, ETag: '"other"' })),
      "InvalidPart",
    ],
  ])("cannot be completed with %s", async (_, named, error) => {
    const bucket = new Bucket();
    const { id, parts } = await bucket.upload("abcd", "efgh");

    await expect(bucket.complete(id, named(parts))).rejects.toThrow(error);
  });

  test("cannot be completed with a part before the last that is too small", async () => {
    const bucket = new Bucket();
    const { id, parts } = await bucket.upload("abc", "ef");

    await expect(bucket.complete(id, parts)).rejects.toThrow("EntityTooSmall");
  });

  test("is aborted by the bucket at the midnight after its first day", async () => {
    const bucket = new Bucket();
    const { id, parts } = await bucket.upload("abcd");

    bucket.nowMs += 41 * HOUR_MS;
    expect(bucket.uploads.open).toHaveLength(1);
    bucket.nowMs += HOUR_MS;
    expect(bucket.uploads.open).toEqual([]);
    await expect(bucket.complete(id, parts)).rejects.toThrow("NoSuchUpload");
  });
});
