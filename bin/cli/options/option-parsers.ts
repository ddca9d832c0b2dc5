// What the text of an option may be, and the value that it stands for.

import { z } from "zod";
import { shownText } from "../../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { parsePointer } from "../../../lambdas/job/json/json-pointer.ts";
import type { Limit } from "../../../lambdas/job/run/run-ports.ts";
import { type LiftedColumn, parseLiftedColumns } from "../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { isS3, parseS3Location } from "./s3-location.ts";

/** Nothing that it matches is repeated: a URL may hold a password. */
const URL_OF_ANY_KIND = /^\s*[a-z][a-z0-9+.-]*:\/\//i;

/** `you@example.com:password`, as some tools take it. */
const EMAIL_AND_PASSWORD = /^[^/@]*@[^/]*:/;

export const warehousePlace = (value: string): string => {
  if (isS3(value)) parseS3Location(value);
  else if (URL_OF_ANY_KIND.test(value))
    throw expected("a directory, or s3://bucket/prefix, and no other URL");
  return value;
};
export const databaseName = (value: string): string => {
  if (/^[a-z0-9_]{1,255}$/.test(value)) return value;
  throw expected("1 to 255 of a-z, 0-9 and _");
};
export const credentialsPlace = (value: string): string => {
  const secretId = secretIdOf(value);
  const isFile = secretId === undefined && !URL_OF_ANY_KIND.test(value) && !EMAIL_AND_PASSWORD.test(value);
  if (isFile || (secretId !== undefined && /^[\w/+=.@:-]{1,2048}$/.test(secretId))) return value;
  throw expected("a file, or secretsmanager: and the name or ARN of a secret");
};
export const switchValue = (value: string): boolean => {
  if (["true", "1", "yes"].includes(value)) return true;
  if (["false", "0", "no"].includes(value)) return false;
  throw expected("true or false");
};
export const accountName = (value: string): string => {
  if (/^[a-z0-9][a-z0-9_-]{0,39}$/.test(value)) return value;
  throw expected("1 to 40 of a-z, 0-9, _ and -, beginning with a letter or digit");
};
export const wholeNumber =
  (least: number, most: number) =>
  (value: string): number => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw expected(`a whole number from ${least} to ${most}`);
  };
export const percent = (value: string): number => {
  const number = Number(value);
  if (/^\d+(\.\d+)?$/.test(value) && number <= 100) return number;
  throw expected("a percentage from 0 to 100");
};
export const limit = (value: string): Limit => (value === "unlimited" ? value : wholeNumber(1, 1e12)(value));
export const listedFilter = (value: string): "true" | "false" | "any" => {
  if (value === "true" || value === "false" || value === "any") return value;
  throw expected("true, false or any");
};
export const pointer = (value: string): string => {
  parsePointer(value);
  return value;
};
export const liftedColumns = (value: string): readonly LiftedColumn[] => {
  const texts = stringArray(value);
  if (texts) return parseLiftedColumns(texts);
  throw expected(`a JSON array of texts, such as ["brand=/brand/name"], and got ${shownText(value)}`);
};

/** The secret that `secretsmanager:NAME` names; undefined for a file. */
export function secretIdOf(place: string): string | undefined {
  const scheme = "secretsmanager:";
  return place.startsWith(scheme) ? place.slice(scheme.length) : undefined;
}

function expected(what: string): SyncError {
  return new SyncError("CONFIG_INVALID", `expected ${what}`);
}

function stringArray(json: string): readonly string[] | undefined {
  try {
    return z.array(z.string()).safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}
