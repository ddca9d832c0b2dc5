// The account's credentials from a JSON file beside the project.

import { readFile } from "node:fs/promises";
import { SyncError } from "../errors/sync-error.ts";
import type { Logger } from "../runtime/logger.ts";
import { type Credentials, parseCredentials, type ServiceCredentials } from "./credentials.ts";
import { warnIfOthersMayRead } from "./warn-if-others-may-read.ts";

const EXAMPLE = `{"method":"session","email":"you@example.com","password":"…"}`;

export class FileCredentials implements Credentials {
  readonly #file: string;
  readonly #logger: Logger;
  #warned = false;

  constructor(file: string, logger: Logger) {
    this.#file = file;
    this.#logger = logger;
  }

  /** Throws `CREDENTIALS_INVALID`: missing, unreadable, or not of the expected shape. */
  async read(): Promise<ServiceCredentials> {
    const text = await readFile(this.#file, "utf8").catch((error: unknown) => {
      throw this.#unreadable(error);
    });
    this.#warned ||= await warnIfOthersMayRead(this.#file, this.#logger);
    return parseCredentials(text);
  }

  #unreadable(error: unknown): SyncError {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    const what =
      code === "ENOENT"
        ? "does not exist"
        : code === "EACCES"
          ? "may not be read"
          : `cannot be read (${code})`;
    return new SyncError(
      "CREDENTIALS_INVALID",
      `The credentials file ${this.#file} ${what}. Write one like this, with mode 0600, or name another with --credentials:\n${EXAMPLE}\n("method":"basic" takes the same two fields, "method":"oauth" takes "client_id" and "client_secret".)`,
    );
  }
}
