// Explains errors of the file system: what they mean and what to do.

import { lstat, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Advice, advise, setting } from "../../errors/advice.ts";
import { codeOf, SyncError } from "../../errors/sync-error.ts";

type Meaning = readonly [why: string, next: Advice];

const ANOTHER = advise`choose another directory with ${setting("warehouse")}.`;
const FULL: Meaning = [
  "the disk or the quota is full",
  ["Free some space and start again: a run resumes where it stopped."],
];
const FORBIDDEN: Meaning = [
  "this user lacks the permission",
  advise`Give it permission to read and write the directory, or ${ANOTHER}`,
];
const UNREADABLE: Meaning = [
  "this user lacks the permission to read it",
  advise`Give it that permission, for the whole directory, or ${ANOTHER}`,
];
const NOT_A_DIRECTORY: Meaning = [
  "a file is where a directory should be",
  advise`Move the file, or ${ANOTHER}`,
];
const LOCAL_DISK = advise`Choose a directory on a local disk with ${setting("warehouse")}.`;
const NO_LINKS: Meaning = [
  "this file system has no hard links, which the warehouse needs so that a file appears whole or not at all",
  LOCAL_DISK,
];
const NO_LOCKS: Meaning = [
  "this file system has no file locks, which the warehouse needs between processes",
  LOCAL_DISK,
];
const NO_LOCK_RIGHT: Meaning = [
  "this user may not write there, and what writes must lock the warehouse",
  [
    "Start it as the user that made the warehouse, or give this user permission to write in it. Reading needs no lock.",
  ],
];
const TOO_MANY_FILES: Meaning = [
  "too many files are open",
  advise`Lower ${setting("concurrency")} or raise the limit (\`ulimit -n\`), then start again.`,
];

const MEANINGS: Readonly<Record<string, Meaning>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EFBIG: ["the file would be larger than the limit for files (`ulimit -f`)", ["Raise it and start again."]],
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: ["the file system is read-only", advise`Choose another directory with ${setting("warehouse")}.`],
  ENOTDIR: NOT_A_DIRECTORY,
  EEXIST: NOT_A_DIRECTORY,
  EISDIR: ["a directory is where a file should be", ["Move the directory and start again."]],
  ENAMETOOLONG: [
    "the path is too long for this file system",
    advise`Choose a shorter one with ${setting("warehouse")}.`,
  ],
  ENOLCK: NO_LOCKS,
  ELOOP: ["a symbolic link there cannot be followed", ["Remove the link and start again."]],
  EMFILE: TOO_MANY_FILES,
  ENFILE: TOO_MANY_FILES,
};

/** Errors that mean something else for these than for reading and writing. */
const SPECIAL_MEANINGS: Readonly<Record<string, Readonly<Record<string, Meaning>>>> = {
  read: { EACCES: UNREADABLE, EPERM: UNREADABLE },
  list: { EACCES: UNREADABLE, EPERM: UNREADABLE },
  link: {
    EPERM: NO_LINKS,
    ENOTSUP: NO_LINKS,
    EOPNOTSUPP: NO_LINKS,
    ENOSYS: NO_LINKS,
    EXDEV: [
      "it lies on another file system than the rest of the warehouse",
      ["Keep the whole warehouse on one disk."],
    ],
  },
  lock: {
    ENOTSUP: NO_LOCKS,
    EOPNOTSUPP: NO_LOCKS,
    ENOSYS: NO_LOCKS,
    EINVAL: NO_LOCKS,
    EACCES: NO_LOCK_RIGHT,
    EPERM: NO_LOCK_RIGHT,
    ENXIO: ["it is no ordinary file", ["Remove it and start again."]],
  },
  "make the directory": {
    ENOENT: [
      "the file system accepts no new directory there",
      advise`Choose another directory with ${setting("warehouse")}.`,
    ],
  },
};

const UNKNOWN: Meaning = ["the file system reports an error", ["Check the disk and start again."]];

/**
 * `STORE_FAILED` for what the file system refused: "Could not <verb> <path>", why, and what to do. An error that says that
 * already stays as it is.
 */
export function fileError(error: unknown, verb: string, path: string): SyncError {
  if (error instanceof SyncError) return error;
  const errno = codeOf(error) ?? "unknown error";
  const [why, next] = SPECIAL_MEANINGS[verb]?.[errno] ?? MEANINGS[errno] ?? UNKNOWN;
  return new SyncError("STORE_FAILED", `Could not ${verb} ${path}: ${why} (${errno}).`, {
    fields: { path, errno },
    next,
    cause: error,
  });
}

/**
 * The error about what is neither a file nor a folder in the place of one.
 * @param name below `root`, the warehouse's own folder
 * @param isOfAccount whether only one account is concerned: then it is damage of that account, `STORE_CORRUPT`
 */
export function unusable(root: string, name: string, isOfAccount: boolean): SyncError {
  const path = join(root, name);
  return new SyncError(
    isOfAccount ? "STORE_CORRUPT" : "STORE_FAILED",
    `Cannot use ${path}: it is neither a folder nor a file, but a link, a fifo or a device.`,
    {
      fields: { path },
      next: `Move what it leads to into its place, or delete it. For more space mount another disk at ${root}, which may be a link too; nothing below it may. Then start again.`,
    },
  );
}

/** Throws `STORE_FAILED` where `path` was not found because it, or a link on the way to it, has no target. */
export async function refuseBrokenLink(path: string): Promise<void> {
  for (let at = path; ; at = dirname(at)) {
    const found = await lstat(at).catch(() => undefined);
    if (found?.isSymbolicLink() && (await stat(at).catch(() => undefined)) === undefined) {
      throw new SyncError("STORE_FAILED", `Could not follow the link ${at}: its target does not exist.`, {
        fields: { path: at },
        next: "Mount the target's disk, or remove the link, and start again.",
      });
    }
    if (found || dirname(at) === at) return;
  }
}

/** Undefined where nothing is at the path; throws `STORE_FAILED` for any other failure, and for a link that leads nowhere. */
export async function unlessMissing<T>(
  operation: Promise<T>,
  verb: string,
  path: string,
): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw fileError(error, verb, path);
    await refuseBrokenLink(path);
    return undefined;
  }
}
