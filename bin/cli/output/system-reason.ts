// Why the operating system refused a file, in words.

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a file is where a folder should be",
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
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  const reason = REASONS[code];
  return reason === undefined ? code : `${reason} (${code})`;
}
