// The credentials that requests are sent with: those read at the start, until the service refuses them and others are stored.

import { isDeepStrictEqual } from "node:util";
import type { ServiceCredentials } from "../../credentials/credentials.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Logger } from "../../runtime/logger.ts";

/** Sends nothing and repeats nothing. The method stays what it was: another one needs a new run. */
export class CurrentCredentials<Kind extends ServiceCredentials = ServiceCredentials> {
  readonly #readAgain: (() => Promise<ServiceCredentials>) | undefined;
  readonly #logger: Pick<Logger, "info">;
  #current: Kind;

  /** @param readAgain reads what is stored now. Throws `SyncError` */
  constructor(
    first: Kind,
    readAgain: (() => Promise<ServiceCredentials>) | undefined,
    logger: Pick<Logger, "info">,
  ) {
    this.#current = first;
    this.#readAgain = readAgain;
    this.#logger = logger;
  }

  get current(): Kind {
    return this.#current;
  }

  /** After the current ones were refused: whether others are stored, which are then the current ones. */
  async haveChanged(): Promise<boolean> {
    const stored = await this.#stored();
    if (stored === undefined || !hasMethodOf(this.#current, stored)) return false;
    if (isDeepStrictEqual(stored, this.#current)) return false;
    this.#current = stored;
    this.#logger.info("the service refused the credentials; others have been stored since, and are used now");
    return true;
  }

  /** Undefined if they cannot be read: the refusal is then the error to report. */
  async #stored(): Promise<ServiceCredentials | undefined> {
    try {
      return await this.#readAgain?.();
    } catch (error) {
      if (error instanceof SyncError) return undefined;
      throw error;
    }
  }
}

function hasMethodOf<Kind extends ServiceCredentials>(
  { method }: Kind,
  stored: ServiceCredentials,
): stored is Kind {
  return stored.method === method;
}
