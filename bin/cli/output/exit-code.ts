// The exit code of a command, and why the system refused a file.

import { codeOf, isMistake, type SyncError } from "../../../lambdas/job/errors/sync-error.ts";

export const EXIT = {
  done: 0,
  failed: 1,
  wrongInput: 2,
  held: 3,
  skipped: 4,
  tooOld: 5,
  interrupted: 130,
} as const;

export function exitCodeOfError(error: SyncError): number {
  if (error.code === "INTERRUPTED") return EXIT.interrupted;
  return isMistake(error) ? EXIT.wrongInput : EXIT.failed;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a file is where a folder should be",
  EEXIST: "a file is where a folder should be",
  EISDIR: "it is a folder",
  EACCES: "this user lacks the permission",
  EPERM: "this user lacks the permission",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is full",
  EFBIG: "it would be larger than the limit for files",
  ENAMETOOLONG: "the name is too long",
};

/** `the disk is full (ENOSPC)`. */
export function systemReason(error: unknown): string {
  const code = codeOf(error) ?? "unknown error";
  const reason = REASONS[code];
  return reason === undefined ? code : `${reason} (${code})`;
}
