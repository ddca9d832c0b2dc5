// Who may read what a warehouse gets: its owner alone, or those whom an existing directory lets in.

import { stat } from "node:fs/promises";

export interface NewModes {
  readonly directory: number;
  readonly file: number;
}

/**
 * A new warehouse is private. In an existing one, what is new has the rights of its directory, so that a team
 * goes on sharing it; the process's umask takes from them as ever.
 */
export async function newModes(directory: string): Promise<NewModes> {
  const existing = await stat(directory).catch(() => undefined);
  const mode = existing === undefined ? 0o700 : (existing.mode & 0o777) | 0o700;
  return { directory: mode, file: mode & 0o666 };
}
