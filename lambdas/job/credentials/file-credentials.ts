// The account's credentials from a JSON file beside the project.

import { open, stat } from "node:fs/promises";
import { advise, setting } from "../errors/advice.ts";
import { NOT_UTF8, shellWord, utf8Text } from "../errors/shown-text.ts";
import { codeOf, SyncError } from "../errors/sync-error.ts";
import { MOST_SECRET_BYTES, readAtMost, readInputAtMost, TooLarge } from "../runtime/bounded-input.ts";
import type { Logger } from "../runtime/logger.ts";
import { type Credentials, EXAMPLE, parseCredentials, type ServiceCredentials } from "./credentials.ts";

export class FileCredentials implements Credentials {
  readonly #file: string;
  readonly #logger: Logger;
  readonly #versions = new WeakMap<ServiceCredentials, string>();
  #warned = false;

  constructor(file: string, logger: Logger) {
    this.#file = file;
    this.#logger = logger;
  }

  /** Throws `CREDENTIALS_INVALID`: missing, unreadable, or not of the expected shape. */
  async read(): Promise<ServiceCredentials> {
    const { bytes, version } = await readVersion(this.#file).catch((error: unknown) => {
      throw this.#unreadable(error);
    });
    this.#warned ||= await warnIfOthersMayRead(this.#file, this.#logger);
    const text = utf8Text(bytes);
    if (text === undefined)
      throw new SyncError("CREDENTIALS_INVALID", `The credentials file ${this.#file} ${NOT_UTF8}`);
    const credentials = parseCredentials(text);
    this.#versions.set(credentials, version);
    return credentials;
  }

  versionOf(read: ServiceCredentials): string | undefined {
    return this.#versions.get(read);
  }

  #unreadable(error: unknown): SyncError {
    const code = codeOf(error) ?? "unknown";
    const what =
      error instanceof TooLarge
        ? error.message
        : code === "ENOENT"
          ? "does not exist"
          : code === "EACCES"
            ? "may not be read"
            : `cannot be read (${code})`;
    return new SyncError("CREDENTIALS_INVALID", `The credentials file ${this.#file} ${what}.`, {
      next: advise`Write one like this, with mode 0600, or name another with ${setting("credentials")}:\n${EXAMPLE}\n("method":"basic" takes the same two fields, "method":"oauth" takes "client_id" and "client_secret".)`,
    });
  }
}

/** The version names the file as it is now, and says nothing of what is in it. */
async function readVersion(path: string): Promise<{ readonly bytes: Uint8Array; readonly version: string }> {
  await using file = await open(path);
  const { ino, size, mtimeNs } = await file.stat({ bigint: true });
  const bytes = await readAtMost(file.createReadStream({ autoClose: false }), MOST_SECRET_BYTES);
  return { bytes, version: `${ino}-${size}-${mtimeNs}` };
}

interface InputOptions {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly signal: AbortSignal;
}

/**
 * The account's credentials from standard input, so that they are in no file and in no list of processes. It can be read once, so
 * every reading gives the same. Throws `CREDENTIALS_INVALID`, or the signal's reason.
 */
export function inputCredentials(options: InputOptions): Credentials {
  let credentials: Promise<ServiceCredentials> | undefined;
  return {
    read: () => {
      credentials ??= readAll(options).then(parseCredentials);
      return credentials;
    },
  };
}

async function readAll({ input, signal }: InputOptions): Promise<string> {
  if (input.isTTY) throw unusable("is a terminal, which would show what is typed");
  const text = await readInput(input, signal, unusable);
  if (text.trim() === "") throw unusable("ended before any came");
  return text;
}

function unusable(problem: string): SyncError {
  return new SyncError(
    "CREDENTIALS_INVALID",
    `The credentials were to come from standard input, which ${problem}.`,
    {
      next: advise`Pipe them into the program, as one JSON: ${EXAMPLE}. Or name a file with ${setting("credentials")}.`,
    },
  );
}

/** A secret. Throws what `unusable` makes of a problem, or the signal's reason. */
export async function readInput(
  input: NodeJS.ReadableStream,
  signal: AbortSignal,
  unusable: (problem: string) => SyncError,
): Promise<string> {
  const bytes = await readInputAtMost(input, MOST_SECRET_BYTES, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw unusable(error instanceof TooLarge ? error.message : "cannot be read");
  });
  const text = utf8Text(bytes);
  if (text === undefined) throw unusable("is not UTF-8 text");
  return text;
}

/** Returns whether it warned. Says nothing of a file that is missing: reading it tells why. */
export async function warnIfOthersMayRead(file: string, logger: Pick<Logger, "warn">): Promise<boolean> {
  if (process.platform === "win32") return false;
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || (found.mode & 0o077) === 0) return false;
  logger.warn(`other users of this machine may read ${file}: chmod 600 ${shellWord(file)}`);
  return true;
}
