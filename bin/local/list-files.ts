// The keys below a directory in the order of a bucket: by code unit of the whole key, whatever the nesting.

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { StoredKey } from "../../lambdas/storage/store.ts";
import { fileError, isErrno } from "./file-error.ts";

/** Skips names that start with a dot, and files that vanish while they are listed. */
export async function* listFiles(root: string, prefix: string, after: string): AsyncIterable<StoredKey> {
  yield* listBelow("");

  async function* listBelow(folder: string): AsyncIterable<StoredKey> {
    for (const key of await keysIn(root, folder)) {
      if (!key.endsWith("/")) {
        const modifiedAtMs =
          key.startsWith(prefix) && key > after ? await modifiedAt(join(root, key)) : undefined;
        if (modifiedAtMs !== undefined) yield { key, modifiedAtMs };
      } else if (
        (key.startsWith(prefix) || prefix.startsWith(key)) &&
        (key > after || after.startsWith(key))
      ) {
        yield* listBelow(key);
      }
    }
  }
}

/** Files as keys, folders with a closing slash: so sorted, a folder stands where the keys in it belong. */
async function keysIn(root: string, folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    return entries
      .filter((entry) => !entry.name.startsWith("."))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
      .sort();
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw fileError(error, "list", join(root, folder));
  }
}

async function modifiedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw fileError(error, "list", path);
  }
}
