// S3 as one process sees it: every command answered by the objects of the world, and by the uploads in parts that are open
// in the bucket: no object yet, seen by no reader and in no listing of objects.

import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import type { CallFailures, SimProcess } from "../process/sim-process.ts";
import { AwsFailure, type Endpoint, members, metadataOf } from "./aws-clients.ts";
import { inAnyOrder, type Objects, versionOf } from "./objects.ts";

/** `S3Store` runs unchanged on it. */
export function s3Endpoint(objects: Objects, uploads: Uploads, process: SimProcess): Endpoint {
  return (command, given) => {
    if (UPLOAD_COMMANDS.has(command)) {
      const failures = uploadFailures(command, given);
      return uploads.request(command, given, process.name, (effect) =>
        process.call("store", `${command} ${String(given["Key"])}`, effect, failures),
      );
    }
    if (command === "DeleteObjects") return deleteObjects(objects, given, process);
    const isRead = /^(?:Get|Head|List)/.test(command);
    const what = `${command} ${String(given["Key"] ?? given["Prefix"])}`;
    const effect = (): object => respond(objects, command, given, process.name);
    // The client sends a request again that got no answer. S3 refuses a conditional one then, because it has been done.
    const isRefusedThen =
      command === "PutObject" && given["Body"] instanceof Uint8Array && given["Body"].length % 2 === 0;
    return uploads.during(given, process.name, () =>
      process.call("store", what, effect, isRefusedThen ? LOST_AND_REFUSED : FAILURES, isRead),
    );
  };
}

type Given = Readonly<Record<string, unknown>>;

function respond(objects: Objects, command: string, given: Given, by: string): object {
  const key = String(given["Key"]);
  switch (command) {
    case "GetObject": {
      const found = objects.get(key);
      if (found === undefined) throw new AwsFailure("NoSuchKey", 404);
      return {
        ETag: found.version,
        Body: Readable.from([Buffer.from(found.bytes)]),
        Metadata: found.metadata,
      };
    }
    case "HeadObject": {
      const found = objects.get(key);
      if (found === undefined) throw new AwsFailure("NotFound", 404);
      return { ETag: found.version, Metadata: found.metadata };
    }
    case "PutObject":
      return put(objects, key, given, by);
    case "DeleteObject":
      objects.delete(key, by);
      return {};
    case "ListObjectsV2":
      return list(objects, given);
    default:
      throw new Error(`the simulated S3 does not know ${command}`);
  }
}

/** Each by itself: a process may die between any two, and what failed of an answer is named in it. */
async function deleteObjects(objects: Objects, given: Given, process: SimProcess): Promise<object> {
  const { Objects: named } = members(given["Delete"]);
  const keys = (Array.isArray(named) ? named : []).map((each: unknown) => String(members(each)["Key"]));
  const Errors: object[] = [];
  for (const Key of inAnyOrder(keys)) {
    const effect = (): void => objects.delete(Key, process.name);
    await process.call("store", `DeleteObject ${Key}`, effect, FAILURES).catch((error: unknown) => {
      if (!(error instanceof AwsFailure)) throw error;
      Errors.push({ Key, Code: error.name, Message: error.message });
    });
  }
  return { Errors, $metadata: { httpStatusCode: 200 } };
}

function put(objects: Objects, key: string, given: Given, by: string): object {
  const found = objects.get(key);
  if (given["IfNoneMatch"] === "*" && found !== undefined) throw new AwsFailure("PreconditionFailed", 412);
  if (given["IfMatch"] !== undefined) {
    if (found === undefined) throw new AwsFailure("NoSuchKey", 404);
    if (found.version !== given["IfMatch"]) throw new AwsFailure("PreconditionFailed", 412);
  }
  const body = given["Body"];
  if (!(body instanceof Uint8Array)) throw new Error("the simulated S3 takes whole bodies");
  return { ETag: objects.put(key, body, by, metadataOf(given)) };
}

/** The instants that S3 shows are whole seconds. */
function list(objects: Objects, given: Given): object {
  const after = given["StartAfter"] === undefined ? "" : String(given["StartAfter"]);
  const keys = objects.keys(String(given["Prefix"]), after);
  return {
    IsTruncated: false,
    Contents: keys.flatMap((Key) => {
      const found = objects.get(Key);
      if (found === undefined) return [];
      const seconds = Math.floor(found.modifiedAtMs / 1_000);
      return [{ Key, LastModified: new Date(seconds * 1_000), Size: found.bytes.length }];
    }),
  };
}

const FAILURES: CallFailures = {
  refused: () => new AwsFailure("SlowDown", 503),
  lost: () => new AwsFailure("TimeoutError", undefined),
  conflict: () => new AwsFailure("ConditionalRequestConflict", 409),
};

const LOST_AND_REFUSED: CallFailures = {
  ...FAILURES,
  lost: () => new AwsFailure("PreconditionFailed", 412),
};

const UPLOAD_COMMANDS: ReadonlySet<string> = new Set([
  "CreateMultipartUpload",
  "UploadPart",
  "CompleteMultipartUpload",
  "AbortMultipartUpload",
]);

export interface OpenUpload {
  readonly key: string;
  readonly by: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly parts: Map<number, Uint8Array>;
  readonly fromMs: number;
  /** Its maker knows of it: the answer was not lost. */
  isKnown: boolean;
  /** Requests of its maker about it, or about what lies at its key, that are under way. */
  underWay: number;
  /** Its maker has asked to abort it. */
  isGivenUp: boolean;
}

const DAY_MS = 24 * 60 * 60_000;

export class Uploads {
  readonly #objects: Objects;
  readonly #now: () => number;
  readonly #partBytes: number;
  readonly #open = new Map<string, OpenUpload>();
  #made = 0;

  /** @param partBytes each part has as many, but the last one */
  constructor(objects: Objects, now: () => number, partBytes: number) {
    this.#objects = objects;
    this.#now = now;
    this.#partBytes = partBytes;
  }

  /** The bucket's rule aborts an upload a day after it began, at the midnight that follows. */
  get open(): readonly OpenUpload[] {
    for (const [id, { fromMs }] of this.#open) {
      if (this.#now() >= Math.ceil((fromMs + DAY_MS) / DAY_MS) * DAY_MS) this.#open.delete(id);
    }
    return [...this.#open.values()];
  }

  /** Does a request at the instant at which `call` lets it happen. */
  request(
    command: string,
    given: Given,
    by: string,
    call: (effect: () => object) => Promise<object>,
  ): Promise<object> {
    const upload = this.#open.get(String(given["UploadId"]));
    if (upload) upload.isKnown = true;
    if (upload) upload.isGivenUp ||= command === "AbortMultipartUpload";
    return this.during(given, by, () => call(() => this.#respond(command, given, by)));
  }

  /** Any request of a process: an upload of its own to the same key waits for it. */
  async during(given: Given, by: string, call: () => Promise<object>): Promise<object> {
    const id = String(given["UploadId"]);
    const about = [...this.#open].flatMap(([each, upload]) =>
      each === id || (upload.by === by && upload.key === given["Key"]) ? [upload] : [],
    );
    for (const upload of about) upload.underWay += 1;
    try {
      return await call();
    } finally {
      for (const upload of about) upload.underWay -= 1;
    }
  }

  #respond(command: string, given: Given, by: string): object {
    const id = String(given["UploadId"]);
    switch (command) {
      case "CreateMultipartUpload":
        return this.#begin(given, by);
      case "UploadPart":
        return this.#add(id, given);
      case "CompleteMultipartUpload":
        return this.#complete(id, given);
      default:
        return this.#abort(id);
    }
  }

  #begin(given: Given, by: string): object {
    this.#made += 1;
    const id = `upload ${this.#made}`;
    this.#open.set(id, {
      key: String(given["Key"]),
      by,
      metadata: metadataOf(given),
      parts: new Map(),
      fromMs: this.#now(),
      isKnown: false,
      underWay: 0,
      isGivenUp: false,
    });
    return { UploadId: id };
  }

  #add(id: string, given: Given): object {
    const body = given["Body"];
    if (!(body instanceof Uint8Array)) throw new Error("the simulated S3 takes whole parts");
    this.#require(id).parts.set(Number(given["PartNumber"]), Uint8Array.from(body));
    return checksumsOf(body);
  }

  #complete(id: string, given: Given): object {
    const { key, by, metadata, parts } = this.#require(id);
    const named = partsIn(given);
    if (named.length === 0) throw new AwsFailure("MalformedXML", 400);
    const chosen = named.map(({ number, etag, crc }, index) => {
      if (number <= (named[index - 1]?.number ?? 0)) throw new AwsFailure("InvalidPartOrder", 400);
      const bytes = parts.get(number);
      const sums = bytes && checksumsOf(bytes);
      if (bytes === undefined || sums?.ETag !== etag || sums.ChecksumCRC32 !== crc)
        throw new AwsFailure("InvalidPart", 400);
      if (index < named.length - 1 && bytes.length < this.#partBytes)
        throw new AwsFailure("EntityTooSmall", 400);
      return bytes;
    });
    if (given["IfNoneMatch"] === "*" && this.#objects.get(key) !== undefined)
      throw new AwsFailure("PreconditionFailed", 412);
    this.#open.delete(id);
    return { ETag: this.#objects.put(key, Buffer.concat(chosen), by, metadata) };
  }

  #abort(id: string): object {
    this.#require(id);
    this.#open.delete(id);
    return {};
  }

  #require(id: string): OpenUpload {
    const upload = this.#open.get(id);
    if (upload === undefined) throw new AwsFailure("NoSuchUpload", 404);
    return upload;
  }
}

interface NamedPart {
  readonly number: number;
  readonly etag: string;
  readonly crc: string;
}

function partsIn(given: Given): readonly NamedPart[] {
  const { Parts } = members(given["MultipartUpload"]);
  return (Array.isArray(Parts) ? Parts : []).map((part: unknown) => {
    const { PartNumber, ETag, ChecksumCRC32 } = members(part);
    return { number: Number(PartNumber), etag: String(ETag), crc: String(ChecksumCRC32) };
  });
}

function checksumsOf(bytes: Uint8Array): { readonly ETag: string; readonly ChecksumCRC32: string } {
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(bytes));
  return { ETag: versionOf(bytes), ChecksumCRC32: crc.toString("base64") };
}

/** The client sends a request again that got no answer: S3 then finds the object there, or no upload. */
function uploadFailures(command: string, given: Given): CallFailures {
  const refused = (): AwsFailure => new AwsFailure("SlowDown", 503);
  if (command !== "CompleteMultipartUpload") return { refused, lost: unanswered };
  const lost = [unanswered, () => new AwsFailure("PreconditionFailed", 412), notThere];
  return {
    refused,
    lost: lost[partsIn(given).length % lost.length] ?? unanswered,
    conflict: () => new AwsFailure("ConditionalRequestConflict", 409),
  };
}

const unanswered = (): AwsFailure => new AwsFailure("TimeoutError", undefined);
const notThere = (): AwsFailure => new AwsFailure("NoSuchUpload", 404);
