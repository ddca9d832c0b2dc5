// `s3://bucket/prefix`: a warehouse in S3, as a setting names it.

import { shownText } from "../../errors/shown-text.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { isKey } from "../store.ts";

interface S3Location {
  readonly bucket: string;
  /** `""`, or a prefix that ends in a slash. */
  readonly prefix: string;
}

/** The rules for names of buckets; S3 itself refuses those that look like an IP address. A slash at the end is ignored. */
const LOCATION = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*?))?\/?$/s;

export function isS3(warehouse: string): boolean {
  return /^s3:/i.test(warehouse);
}

/** Throws `CONFIG_INVALID` with what was expected and what came. */
export function parseS3Location(text: string): S3Location {
  const [, bucket, path = ""] = LOCATION.exec(text) ?? [];
  if (bucket === undefined || (path !== "" && !isKey(path))) {
    throw new SyncError(
      "CONFIG_INVALID",
      `expected s3://bucket or s3://bucket/prefix, with a prefix of segments of A-Z, a-z, 0-9, ".", "_" and "-" that do not begin with "." or "-", and got ${shownText(text)}`,
    );
  }
  return { bucket, prefix: path === "" ? "" : `${path}/` };
}
