// The tokens in a file beside the credentials. A claim is a lock of the kernel: it cannot outlive its process.

import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { advise, setting } from "../../errors/advice.ts";
import { codeOf, SyncError } from "../../errors/sync-error.ts";
import { MOST_TEXT_BYTES, readAtMost, TooLarge } from "../../runtime/bounded-input.ts";
import {
  lockIfFree,
  nameIfFree,
  nameInPlace,
  versionOf,
  withFileLock,
  writeDurably,
} from "../../storage/directory/durable-file.ts";
import {
  type OAuthTokens,
  parseTokens,
  type RenewalClaim,
  type StoredTokens,
  type TokenStore,
  tokensText,
} from "./token-store.ts";

/** Only their owner may read tokens. */
const MODE = 0o600;

/** Longer than a renewal takes: a writer of new tokens waits for the one under way. */
const LOCK_TIMEOUT_MS = 60_000;

interface FileTokenStoreOptions {
  readonly file: string;
  readonly lockTimeoutMs?: number;
}

/** The file is replaced as a whole, so a reader sees the tokens before or after a renewal. */
export class FileTokenStore implements TokenStore {
  readonly isCreatedEmpty = false;
  readonly #file: string;
  readonly #lockTimeoutMs: number;
  #claim: AsyncDisposable | undefined;

  constructor({ file, lockTimeoutMs = LOCK_TIMEOUT_MS }: FileTokenStoreOptions) {
    this.#file = file;
    this.#lockTimeoutMs = lockTimeoutMs;
  }

  get place(): string {
    return `the file ${this.#file}`;
  }

  async read(): Promise<StoredTokens> {
    const bytes = await this.#bytes();
    if (bytes === undefined) return { version: undefined, tokens: undefined };
    return { version: versionOf(bytes), tokens: parseTokens(bytes.toString("utf8")) };
  }

  async claim(version: string): Promise<RenewalClaim | undefined> {
    const lock = await inOwnWords(lockIfFree({ path: this.#lockFile, mode: MODE }), this.#file);
    if (lock === undefined) return undefined;
    try {
      if ((await this.#version()) !== version) return undefined;
      this.#claim = lock;
    } finally {
      if (this.#claim !== lock) await lock[Symbol.asyncDispose]();
    }
    return {
      isHeld: true,
      release: async () => {
        if (this.#claim !== lock) return;
        this.#claim = undefined;
        await lock[Symbol.asyncDispose]();
      },
    };
  }

  /** Under the lock: the claim's own, or one that waits until no renewal is under way. */
  async replace(version: string | undefined, tokens: OAuthTokens): Promise<string | undefined> {
    const work = (): Promise<string | undefined> => this.#replaceLocked(version, tokens);
    if (this.#claim !== undefined) return inOwnWords(work(), this.#file);
    const lock = { path: this.#lockFile, mode: MODE, timeoutMs: this.#lockTimeoutMs };
    return inOwnWords(withFileLock(lock, work), this.#file);
  }

  async #replaceLocked(version: string | undefined, tokens: OAuthTokens): Promise<string | undefined> {
    if ((await this.#version()) !== version) return undefined;
    // One name, which git ignores too: what a killed process has left is removed by the next one.
    const temporary = join(dirname(this.#file), `.new-${basename(this.#file)}`);
    try {
      await rm(temporary, { force: true });
      const written = await writeDurably(temporary, Buffer.from(tokensText(tokens)), MODE);
      // Only the first file may find its name taken: a program that knows no lock was faster.
      if (version !== undefined) await nameInPlace(temporary, this.#file);
      else if (!(await nameIfFree(temporary, this.#file))) return undefined;
      return written;
    } finally {
      await rm(temporary, { force: true }).catch(() => undefined);
    }
  }

  async #version(): Promise<string | undefined> {
    const bytes = await this.#bytes();
    return bytes && versionOf(bytes);
  }

  async #bytes(): Promise<Buffer | undefined> {
    try {
      return await readAtMost(createReadStream(this.#file), MOST_TEXT_BYTES);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      if (error instanceof TooLarge) throw noTokens(this.#file, error.message);
      throw refused(this.#file, codeOf(error) ?? "unknown error");
    }
  }

  get #lockFile(): string {
    return `${this.#file}.lock`;
  }
}

/** The errors of the files of a warehouse advise on the warehouse, which has nothing to do with tokens. */
async function inOwnWords<T>(work: Promise<T>, file: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== "STORE_FAILED") throw error;
    throw refused(file, String(error.fields["errno"] ?? "LOCKED"));
  }
}

function noTokens(file: string, why: string): SyncError {
  const message = `The file ${file} ${why}, so it holds no tokens.`;
  return new SyncError("STORE_FAILED", message, {
    fields: { path: file },
    next: advise`Name another one with ${setting("tokens")}.`,
  });
}

function refused(file: string, errno: string | number | boolean): SyncError {
  const [why, next] =
    errno === "LOCKED"
      ? ["another process has kept it locked for a minute", "End the process that hangs, and start again."]
      : [
          `the file system refused it (${errno})`,
          advise`The directory must exist, lie on a local disk with space and file locks, and this user must be able to write in it. Correct that, or name another file with ${setting("tokens")}.`,
        ];
  return new SyncError("STORE_FAILED", `Could not read or write the tokens in ${file}: ${String(why)}.`, {
    fields: { path: file, errno },
    next,
  });
}
