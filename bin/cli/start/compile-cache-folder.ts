// Where Node.js keeps this program's compiled code between starts: a folder of this user, not the temporary folder that
// all users share, because Node.js runs what it finds there.

import { join } from "node:path";

const NAME = "brand-events-sync";

export function compileCacheFolder(
  platform: NodeJS.Platform,
  { LOCALAPPDATA, XDG_CACHE_HOME }: Readonly<Record<string, string | undefined>>,
  home: string,
): string {
  if (platform === "win32") return join(LOCALAPPDATA || join(home, "AppData", "Local"), NAME);
  if (platform === "darwin") return join(home, "Library", "Caches", NAME);
  return join(XDG_CACHE_HOME || join(home, ".cache"), NAME);
}
