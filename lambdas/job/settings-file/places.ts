// Where a laptop keeps an account's settings, snapshots, credentials and tokens: a path, or a place in AWS.

import * as z from "zod";
import { SyncError } from "../errors/sync-error.ts";
import { isS3, parseS3Location } from "../storage/s3/s3-location.ts";

/** Messages do not repeat what it matches: a URL may hold a password. */
const URL_OF_ANY_KIND = /^\s*[a-z][a-z0-9+.-]*:\/\//i;

/** An address that is no warehouse, also where a slash is missing: no directory has such a name. */
const OTHER_STORE = /^\s*(?:gs|gcs|s3a|s3n|abfss?|az|wasbs?|hdfs|https?|file|ftp):/i;

/** `you@example.com:password`, which some tools accept. */
const EMAIL_AND_PASSWORD = /^[^/@]*@[^/]*:/;

/** The credentials come on standard input. A file of that name is `./-`. */
export const STANDARD_INPUT = "-";

const SECRET = "secretsmanager:";

/** A directory, or `s3://bucket/prefix`. */
export const warehousePlace = place(
  "expected a directory, or s3://bucket/prefix, and no other URL",
  (text) => {
    if (isS3(text)) return s3Problem(text);
    return !URL_OF_ANY_KIND.test(text) && !OTHER_STORE.test(text);
  },
);

/** A file, or `secretsmanager:NAME`. */
export const credentialsPlace = place(
  "expected a file, or secretsmanager: and the name or ARN of a secret",
  (text) => {
    const secretId = secretIdOf(text);
    if (secretId !== undefined) return /^[\w/+=.@:-]{1,2048}$/.test(secretId);
    return !URL_OF_ANY_KIND.test(text) && !EMAIL_AND_PASSWORD.test(text);
  },
);

/** A file on this computer. */
export const filePlace = place("expected a file, and no URL", (text) => !URL_OF_ANY_KIND.test(text));

/** The secret that `secretsmanager:NAME` names; undefined for a file. */
export function secretIdOf(text: string): string | undefined {
  return text.startsWith(SECRET) ? text.slice(SECRET.length) : undefined;
}

/** @param check whether the text is such a place, or what is wrong with it */
function place(expectation: string, check: (text: string) => boolean | string): z.ZodType<string> {
  return z.string(expectation).superRefine((text, context) => {
    const found = text.trim() === "" ? false : check(text);
    if (found === true) return;
    const message = found === false ? expectation : found;
    context.addIssue({ code: "custom", message, params: { isShown: false } });
  });
}

function s3Problem(text: string): true | string {
  try {
    parseS3Location(text);
    return true;
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return error.message;
  }
}
