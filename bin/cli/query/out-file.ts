// The file that a result goes to: whole or not at all, and never one of the warehouse.

import { lstat, open, readdir, readlink, realpath, rename, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { codeOf, type ErrorCode, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { systemClock, systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import { systemReason } from "../output/exit-code.ts";

const NEW_FILE_MODE = 0o666;

interface OutFileOptions {
  /** The directory of the warehouse, no file of which is written; undefined for one that is elsewhere. */
  readonly warehouse: string | undefined;
  /** The code of what is thrown when the file cannot be written. */
  readonly failure: ErrorCode;
  /** Whose links are followed; undefined where files have no owner. */
  readonly user?: number | undefined;
}

interface OutFile<T> {
  readonly path: string;
  /** Whether the file replaces one that was there before. */
  readonly replaces: boolean;
  /** What `write` returned. */
  readonly written: T;
}

/** Writes the pieces of the file, one after the other. */
type Add = (pieces: AsyncIterable<string> | Iterable<string>) => Promise<void>;

/**
 * Gives the file what `write` puts into a temporary one beside it, in one step and only once all of it is there. Throws
 * `CONFIG_INVALID`, before the work begins, for what is no file, for files of the warehouse, and for links of others. A link
 * of this user is followed, and the file that it names is replaced.
 */
export async function writeOutFile<T>(
  path: string,
  { warehouse, failure, user = process.getuid?.() }: OutFileOptions,
  write: (temporary: string, add: Add) => Promise<T>,
): Promise<OutFile<T>> {
  const refused = (reason: string): SyncError =>
    new SyncError("CONFIG_INVALID", `--out: ${path} cannot be written: ${reason}. Choose another file.`);
  const failed = (error: unknown): never => {
    throw refused(systemReason(error));
  };
  const folder = await realpath(dirname(path)).catch(failed);
  const real = await realpath(path).catch((error: unknown) =>
    codeOf(error) === "ENOENT" ? join(folder, basename(path)) : failed(error),
  );
  const existing = await lstat(real).catch((error: unknown) =>
    codeOf(error) === "ENOENT" ? undefined : failed(error),
  );
  const link = user === undefined ? undefined : await foreignLinkOn(path, user);
  if (link !== undefined) throw refused(`${link} is a link that another user made`);
  // Its folder may be a disk that is not there: a file in place of the link would never come there.
  if (existing?.isSymbolicLink()) throw refused("it is a link to a file that does not exist");
  if (existing?.isDirectory()) throw refused("it is a folder");
  if (existing && !existing.isFile()) throw refused("it is not an ordinary file");
  const lies = warehouse && (await realpath(warehouse).catch(() => warehouse));
  if (lies && real.startsWith(lies + sep)) throw refused("it lies in the warehouse, which is only read");
  await removeLeftOvers(real);
  const mode = existing && existing.mode & 0o777;
  const temporary = join(dirname(real), `.${basename(real)}.${systemRandom.token().slice(0, 8)}.tmp`);
  // Made now: a folder that this user may not write in is found before the query takes its time.
  await (await open(temporary, "wx", mode ?? NEW_FILE_MODE).catch(failed)).close();
  try {
    const written = await write(temporary, async (pieces) => {
      await using file = await open(temporary, "w");
      for await (const piece of pieces) await file.writeFile(piece);
    });
    {
      await using file = await open(temporary, "r+");
      if (mode !== undefined) await file.chmod(mode);
      await file.sync();
    }
    await rename(temporary, real);
    return { path: real, replaces: existing !== undefined, written };
  } catch (error) {
    // What `write` throws of its own is no error of the file.
    if (error instanceof SyncError || codeOf(error) === undefined) throw error;
    throw new SyncError(
      failure,
      `The result cannot be written to ${real}: ${systemReason(error)}. Make room, or choose another place with --out.`,
      { cause: error },
    );
  } finally {
    // The file that was not kept.
    await unlink(temporary).catch(() => undefined);
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Of a process that was killed while it wrote the same file, at least a day ago: another one may be at work. */
async function removeLeftOvers(path: string): Promise<void> {
  const beginning = `.${basename(path)}.`;
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    if (!name.startsWith(beginning) || !/^[0-9a-f]{8}\.tmp$/.test(name.slice(beginning.length))) continue;
    const left = join(dirname(path), name);
    const found = await lstat(left).catch(() => undefined);
    if (found && found.mtimeMs < systemClock.now() - DAY_MS) await unlink(left).catch(() => undefined);
  }
}

/**
 * The first link on the way to `path`, itself included, that belongs neither to this user nor to the system's: they may
 * lead elsewhere tomorrow.
 */
async function foreignLinkOn(path: string, user: number): Promise<string | undefined> {
  const parent = dirname(path);
  if (parent === path) return undefined;
  const before = await foreignLinkOn(parent, user);
  if (before !== undefined) return before;
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isSymbolicLink()) return undefined;
  if (found.uid !== user && found.uid !== 0) return path;
  return foreignLinkOn(resolve(await realpath(parent), await readlink(path)), user);
}
