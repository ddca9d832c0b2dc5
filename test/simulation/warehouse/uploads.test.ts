import { describe, expect, test } from "vitest";
import { Objects } from "./objects.ts";
import { Uploads } from "./uploads.ts";

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

  do(command: string, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return { ...this.uploads.receive(command, { Key: KEY, ...given }, "p1")() };
  }

  /** An upload with these parts, not completed; what its completion must name. */
  upload(...bodies: readonly string[]): { readonly id: unknown; readonly parts: readonly object[] } {
    const id = this.do("CreateMultipartUpload", {})["UploadId"];
    const parts = bodies.map((text, index) => {
      const part = { UploadId: id, PartNumber: index + 1, Body: Buffer.from(text) };
      return { PartNumber: index + 1, ...this.do("UploadPart", part) };
    });
    return { id, parts };
  }

  complete(id: unknown, parts: readonly object[]): void {
    this.do("CompleteMultipartUpload", {
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
  test("is no object until it is completed", () => {
    const bucket = new Bucket();
    const { id, parts } = bucket.upload("abcd", "ef");

    expect(bucket.content).toBeUndefined();
    expect(bucket.uploads.open).toHaveLength(1);
    bucket.complete(id, parts);
    expect(bucket.content).toBe("abcdef");
    expect(bucket.uploads.open).toEqual([]);
  });

  test("keeps its parts where their buffer is used again", () => {
    const bucket = new Bucket();
    const id = bucket.do("CreateMultipartUpload", {})["UploadId"];
    const Body = Buffer.from("abcd");
    const sums = bucket.do("UploadPart", { UploadId: id, PartNumber: 1, Body });
    Body.fill("x");

    bucket.complete(id, [{ PartNumber: 1, ...sums }]);

    expect(bucket.content).toBe("abcd");
  });

  test("is refused where the key is taken, and stays open until it is aborted", () => {
    const bucket = new Bucket();
    bucket.objects.put(KEY, Buffer.from("first"), "p2");
    const { id, parts } = bucket.upload("abcd");

    expect(() => bucket.complete(id, parts)).toThrow("PreconditionFailed");
    expect(bucket.uploads.open).toMatchObject([{ isGivenUp: false }]);
    bucket.do("AbortMultipartUpload", { UploadId: id });
    expect(bucket.uploads.open).toEqual([]);
    expect(bucket.content).toBe("first");
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
  ])("cannot be completed with %s", (_, named, error) => {
    const bucket = new Bucket();
    const { id, parts } = bucket.upload("abcd", "efgh");

    expect(() => bucket.complete(id, named(parts))).toThrow(error);
  });

  test("cannot be completed with a part before the last that is too small", () => {
    const bucket = new Bucket();
    const { id, parts } = bucket.upload("abc", "ef");

    expect(() => bucket.complete(id, parts)).toThrow("EntityTooSmall");
  });

  test("is aborted by the bucket at the midnight after its first day", () => {
    const bucket = new Bucket();
    const { id, parts } = bucket.upload("abcd");

    bucket.nowMs += 41 * HOUR_MS;
    expect(bucket.uploads.open).toHaveLength(1);
    bucket.nowMs += HOUR_MS;
    expect(bucket.uploads.open).toEqual([]);
    expect(() => bucket.complete(id, parts)).toThrow("NoSuchUpload");
  });
});
