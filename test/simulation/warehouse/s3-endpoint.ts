// S3 as one process sees it: every command answered by the objects of the world.

import { Readable } from "node:stream";
import type { CallFailures, SimProcess } from "../process/sim-process.ts";
import type { Endpoint } from "./aws-clients.ts";
import { AwsFailure, metadataOf } from "./aws-failure.ts";
import type { Objects } from "./objects.ts";
import { UPLOAD_COMMANDS, type Uploads, uploadFailures } from "./uploads.ts";

/** `S3Store` runs unchanged on it. */
export function s3Endpoint(objects: Objects, uploads: Uploads, process: SimProcess): Endpoint {
  return (command, given) => {
    if (UPLOAD_COMMANDS.has(command)) {
      const failures = uploadFailures(command, given);
      return uploads.request(command, given, process.name, (effect) =>
        process.call("store", `${command} ${String(given["Key"])}`, effect, failures),
      );
    }
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
