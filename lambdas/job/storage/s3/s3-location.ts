// `s3://bucket/prefix`: a warehouse in S3, as a setting names it.

import { shownText } from "../../errors/shown-text.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { checkKey } from "../store.ts";

interface S3Location {
  readonly bucket: string;
  /** `""`, or a prefix that ends in a slash. */
  readonly prefix: string;
}

/** The rules for names of buckets. S3 itself refuses names that look like an IP address. */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

const SCHEME = "s3://";

export function isS3(warehouse: string): boolean {
  return /^s3:/i.test(warehouse);
}

/** Throws `CONFIG_INVALID` with what was expected and what came. */
export function parseS3Location(text: string): S3Location {
  const [bucket, path] = text.startsWith(SCHEME) ? split(text.slice(SCHEME.length)) : ["", ""];
  if (!BUCKET.test(bucket) || !isPrefix(path)) {
    throw new SyncError(
      "CONFIG_INVALID",
      `expected s3://bucket or s3://bucket/prefix, with a prefix of segments of A-Z, a-z, 0-9, ".", "_" and "-" that do not begin with "." or "-", and got ${shownText(text)}`,
    );
  }
  return { bucket, prefix: path === "" ? "" : `${path}/` };
}

/** At the first slash; a slash at the end is ignored. */
function split(text: string): readonly [bucket: string, path: string] {
  const whole = text.endsWith("/") ? text.slice(0, -1) : text;
  const slash = whole.indexOf("/");
  return slash === -1 ? [whole, ""] : [whole.slice(0, slash), whole.slice(slash + 1)];
}

function isPrefix(path: string): boolean {
  if (path === "") return true;
  try {
    checkKey(path);
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}
