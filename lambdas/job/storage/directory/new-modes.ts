// The modes of new files and folders: private in a new warehouse, those of the directory in an existing one.

import { stat } from "node:fs/promises";

export interface NewModes {
  readonly directory: number;
  readonly file: number;
}

/**
 * A new warehouse is private. In an existing one, what is new has the rights of its directory, so that a team
 * keeps sharing it; the process's umask applies as usual.
 */
export async function newModes(directory: string): Promise<NewModes> {
  const existing = await stat(directory).catch(() => undefined);
  const mode = existing === undefined ? 0o700 : (existing.mode & 0o777) | 0o700;
  return { directory: mode, file: mode & 0o666 };
}
