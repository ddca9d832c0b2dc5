// Where the files of a warehouse's tables really lie: in their folders, and wherever these or folders below are linked to.

import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { FOLDERS } from "../../../lambdas/job/storage/layout.ts";

/** How many levels of folders each of them has below it: so many are looked at for links, and no other folder. */
const LEVELS: Readonly<Record<string, number>> = {
  [FOLDERS.publications]: 1,
  [FOLDERS.runLogs]: 1,
  [FOLDERS.snapshots]: 2,
  [FOLDERS.changes]: 3,
};

/** Absolute. What cannot be read is left out: a query that needs it fails and says so. */
export async function tableFolders(directory: string): Promise<readonly string[]> {
  const found = new Set(Object.keys(LEVELS).map((folder) => join(directory, folder.slice(0, -1))));
  const tables = (await entriesOf(directory)).filter(({ name }) => `${name}/` in LEVELS);
  for (const entry of tables) await follow(directory, entry, LEVELS[`${entry.name}/`] ?? 0, found);
  return [...found];
}

async function follow(parent: string, entry: Dirent, levels: number, found: Set<string>): Promise<void> {
  const path = join(parent, entry.name);
  if (entry.isSymbolicLink()) {
    const target = await folderBehind(path);
    if (target === undefined) return;
    found.add(target);
  } else if (!entry.isDirectory()) return;
  if (levels === 0) return;
  for (const below of await entriesOf(path)) await follow(path, below, levels - 1, found);
}

async function folderBehind(link: string): Promise<string | undefined> {
  try {
    return (await stat(link)).isDirectory() ? await realpath(link) : undefined;
  } catch {
    return undefined;
  }
}

function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
