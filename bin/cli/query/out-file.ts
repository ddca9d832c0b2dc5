// The file that a result goes to: whole or not at all, and never one of the warehouse.

import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { lstat, open, readdir, realpath, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { type ErrorCode, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { systemClock } from "../../../lambdas/job/runtime/clock.ts";
import { systemRandom } from "../../../lambdas/job/runtime/random.ts";
import { isErrno } from "../../../lambdas/job/storage/directory/file-error.ts";
import { foreignLinkOn } from "../../../lambdas/job/storage/directory/open-folder.ts";
import { FOLDERS } from "../../../lambdas/job/storage/layout.ts";
import { systemReason } from "../output/exit-code.ts";
import type { ResultRows } from "../output/format-result.ts";
import { isGone, thisProcess } from "../wiring/this-process.ts";

const NEW_FILE_MODE = 0o666;

interface OutFileOptions {
  /** The directory of the warehouse, no file of which is written; undefined for one that is elsewhere. */
  readonly warehouse: string | undefined;
  /** Of what is thrown when the file cannot be written. */
  readonly failure: ErrorCode;
  /** Whose links are followed; undefined where files have no owner. */
  readonly user?: number | undefined;
}

export class OutFile {
  readonly path: string;
  /** Beside it, so that one step gives it its name. */
  readonly temporary: string;
  readonly #mode: number | undefined;
  readonly #failure: ErrorCode;

  private constructor(path: string, mode: number | undefined, failure: ErrorCode) {
    this.path = path;
    this.#failure = failure;
    this.temporary = join(dirname(path), temporaryName(basename(path)));
    this.#mode = mode;
  }

  /**
   * Before the work begins, so that what cannot be written is known at once. A link of this user is followed, and the file
   * that it names is replaced. Throws `CONFIG_INVALID` for what is no file, for files of the warehouse, and for links of
   * others.
   */
  static async in(
    path: string,
    { warehouse, failure, user = process.getuid?.() }: OutFileOptions,
  ): Promise<OutFile> {
    const refused = (reason: string): SyncError =>
      new SyncError("CONFIG_INVALID", `--out: ${path} cannot be written: ${reason}. Choose another file.`);
    const failed = (error: unknown): never => {
      throw refused(systemReason(error));
    };
    const folder = await realpath(dirname(path)).catch(failed);
    const real = await realpath(path).catch((error: unknown) =>
      isErrno(error, "ENOENT") ? join(folder, basename(path)) : failed(error),
    );
    const existing = await stat(real).catch((error: unknown) =>
      isErrno(error, "ENOENT") ? undefined : failed(error),
    );
    const link = user === undefined ? undefined : await foreignLinkOn(path, user);
    if (link !== undefined) throw refused(`${link} is a link that another user made`);
    if (existing?.isDirectory()) throw refused("it is a folder");
    if (existing && !existing.isFile()) throw refused("it is not an ordinary file");
    for (const place of warehouse === undefined ? [] : [warehouse, ...(await tableFolders(warehouse))]) {
      const lies = await realpath(place).catch(() => place);
      if (real.startsWith(lies + sep)) throw refused("it lies in the warehouse, which is only read");
    }
    await removeLeftOvers(real);
    const file = new OutFile(real, existing && existing.mode & 0o777, failure);
    // Made now: a folder that this user may not write in is found before the query takes its time.
    await (await open(file.temporary, "wx", file.#mode ?? NEW_FILE_MODE).catch(failed)).close();
    return file;
  }

  get replaces(): boolean {
    return this.#mode !== undefined;
  }

  /** Writes the pieces of the result, one after the other, and returns the number of its rows. */
  async fill(result: ResultRows, piecesOf: (result: ResultRows) => AsyncIterable<string>): Promise<number> {
    let count = 0;
    async function* counted(): ResultRows["batches"] {
      for await (const rows of result.batches) {
        count += rows.length;
        yield rows;
      }
    }
    await this.add(piecesOf({ columns: result.columns, batches: counted() }));
    return count;
  }

  async add(pieces: AsyncIterable<string> | Iterable<string>): Promise<void> {
    const file = await this.#try(open(this.temporary, "w"));
    try {
      for await (const piece of pieces) await this.#try(file.writeFile(piece));
    } finally {
      await this.#try(file.close());
    }
  }

  /** Gives what was written its name. */
  async keep(): Promise<void> {
    const file = await this.#try(open(this.temporary, "r+"));
    try {
      if (this.#mode !== undefined) await this.#try(file.chmod(this.#mode));
      await this.#try(file.sync());
    } finally {
      await this.#try(file.close());
    }
    await this.#try(rename(this.temporary, this.path));
  }

  /** Deletes what was written and not kept. */
  async discard(): Promise<void> {
    await unlink(this.temporary).catch(() => undefined);
  }

  #try<T>(step: Promise<T>): Promise<T> {
    return step.catch((error: unknown) => {
      throw new SyncError(
        this.#failure,
        `The result cannot be written to ${this.path}: ${systemReason(error)}. Make room, or choose another place with --out.`,
        {
          cause: error,
        },
      );
    });
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The end of a temporary file's name: the computer, the process, when that started, and something random. */
const WRITER = /^([0-9a-f]{8})-(\d+)-(\d*)-[0-9a-f]{8}\.tmp$/;

function temporaryName(name: string): string {
  const { pid, start_ticks = "" } = thisProcess();
  return `.${name}.${thisComputer()}-${pid}-${start_ticks}-${systemRandom.token().slice(0, 8)}.tmp`;
}

/** A computer since its last start, or a container on it. */
function thisComputer(): string {
  const { host, boot_id, pid_namespace } = thisProcess();
  const text = JSON.stringify([host, boot_id, pid_namespace]);
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** Of a process that was killed while it wrote the same file; where that cannot be known, of the day before. */
async function removeLeftOvers(path: string): Promise<void> {
  const own = thisProcess();
  const beginning = `.${basename(path)}.`;
  for (const { name } of await entriesOf(dirname(path))) {
    if (!name.startsWith(beginning)) continue;
    const [, computer, pid, start_ticks] = WRITER.exec(name.slice(beginning.length)) ?? [];
    if (computer === undefined) continue;
    const isOver =
      (computer === thisComputer() && isGone({ ...own, token: "", pid: Number(pid), start_ticks })) ||
      (await isOld(join(dirname(path), name)));
    if (isOver) await unlink(join(dirname(path), name)).catch(() => undefined);
  }
}

async function isOld(path: string): Promise<boolean> {
  return lstat(path).then(
    ({ mtimeMs }) => mtimeMs < systemClock.now() - DAY_MS,
    () => false,
  );
}

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
