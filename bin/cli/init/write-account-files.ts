// Writes the credentials of a new account, which only their owner may read, and the settings file. Replaces no credentials.

import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { fileError, isErrno } from "../../../lambdas/job/storage/directory/file-error.ts";

export interface AccountFiles {
  readonly credentials: { readonly path: string; readonly text: string };
  readonly settings: { readonly path: string; readonly text: string; readonly isNew: boolean };
}

/** Both files or none. Throws `CONFIG_INVALID` where one has appeared meanwhile, and `STORE_FAILED`. */
export async function writeAccountFiles({ credentials, settings }: AccountFiles): Promise<void> {
  const folder = dirname(credentials.path);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 }).catch(failed(folder));
  // Its folder may lie in a repository.
  if (made !== undefined) await create(join(folder, ".gitignore"), "*\n");
  await create(credentials.path, credentials.text);
  try {
    if (settings.isNew) await create(settings.path, settings.text, 0o644);
    else await replace(settings.path, settings.text);
  } catch (error) {
    await rm(credentials.path, { force: true });
    throw error;
  }
}

/** `init` is given another name, or the file is moved away. */
export function existsAlready(path: string): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `${path} exists already, and init replaces no file. Choose another name with --account, or move that file away. Nothing was written.`,
  );
}

async function create(path: string, text: string, mode = 0o600): Promise<void> {
  await writeFile(path, text, { flag: "wx", mode }).catch((error: unknown) => {
    if (isErrno(error, "EEXIST")) throw existsAlready(path);
    return failed(path)(error);
  });
}

async function replace(path: string, text: string): Promise<void> {
  const written = `${path}.new`;
  await create(written, text, 0o644);
  await rename(written, path).catch(async (error: unknown) => {
    await rm(written, { force: true });
    failed(path)(error);
  });
}

function failed(path: string): (error: unknown) => never {
  return (error) => {
    throw fileError(error, "write", path);
  };
}
