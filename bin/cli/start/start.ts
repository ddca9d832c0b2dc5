// Refuses a Node.js that is too old for this program, in words. This file runs on it.

import { dirname, join } from "node:path";

/** As in `engines` of package.json. */
const NEEDED = [22, 21] as const;

/** A sentence for a person; undefined if the version will do. */
export function refusedNode(version: string, path: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return undefined;
  return `brand-events-sync needs Node.js ${NEEDED.join(".")} or newer, and ${path} is ${version}: install a newer one from https://nodejs.org and start again.`;
}

/** What is asked of the file system: owners and modes come in from outside. */
interface Files {
  lstatSync(path: string): { readonly uid: number; readonly mode: number };
  realpathSync(path: string): string;
  mkdirSync(path: string, options: { readonly recursive: true; readonly mode: number }): unknown;
}

const NAME = "brand-events-sync";
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

export function compileCacheFolder(
  platform: NodeJS.Platform,
  { LOCALAPPDATA, XDG_CACHE_HOME }: Readonly<Record<string, string | undefined>>,
  home: string,
): string {
  if (platform === "win32") return join(LOCALAPPDATA || join(home, "AppData", "Local"), NAME);
  if (platform === "darwin") return join(home, "Library", "Caches", NAME);
  return join(XDG_CACHE_HOME || join(home, ".cache"), NAME);
}

/**
 * The folder's real path, made if it is missing, if no other user can write it or put another one in its place; else
 * undefined, and the program only starts more slowly.
 * @param user undefined where files have no owner, as on Windows
 */
export function usableCacheFolder(
  files: Files,
  folder: string,
  user: number | undefined,
): string | undefined {
  try {
    files.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const real = files.realpathSync(folder);
    return user === undefined || isPrivate(files, real, user) ? real : undefined;
  } catch {
    return undefined;
  }
}

function isPrivate(files: Files, folder: string, user: number): boolean {
  const { uid, mode } = files.lstatSync(folder);
  return uid === user && (mode & OTHERS_WRITE) === 0 && holdsStill(files, dirname(folder), user);
}

/** In a sticky folder, such as /tmp, only owners rename what is theirs. */
function holdsStill(files: Files, folder: string, user: number): boolean {
  const { uid, mode } = files.lstatSync(folder);
  const isSafe = (uid === user || uid === 0) && ((mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0);
  return isSafe && (dirname(folder) === folder || holdsStill(files, dirname(folder), user));
}

/** Only its garbage collection reads them, at each collection, so they may change while the program runs. */
const FLAGS = ["--heap-growing-percent=70", "--semi-space-growth-factor=1"] as const;

/** Called when the program is loaded: by then V8's young generation has grown as far as it may. */
export function keepHeapSmall(execArgv: readonly string[], setFlag: (flag: string) => void): void {
  if (execArgv.some((argument) => argument.includes("semi-space") || argument.includes("heap-growing")))
    return;
  for (const flag of FLAGS) setFlag(flag);
}
