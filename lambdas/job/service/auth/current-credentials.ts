// The credentials that requests are sent with: those read at the start, until the service refuses them and others are stored.

import { isDeepStrictEqual } from "node:util";
import type { ServiceCredentials } from "../../credentials/credentials.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Logger } from "../../runtime/logger.ts";

/** Reads what is stored now. Throws `SyncError`. */
type ReadAgain = () => Promise<ServiceCredentials>;

/** Sends nothing and repeats nothing. The method stays what it was: another one needs a new run. */
export class CurrentCredentials<Kind extends ServiceCredentials = ServiceCredentials> {
  readonly #readAgain: ReadAgain | undefined;
  readonly #logger: Pick<Logger, "info">;
  #current: Kind;
  #reading: Promise<ServiceCredentials | undefined> | undefined;

  constructor(first: Kind, readAgain: ReadAgain | undefined, logger: Pick<Logger, "info">) {
    this.#current = first;
    this.#readAgain = readAgain;
    this.#logger = logger;
  }

  get current(): Kind {
    return this.#current;
  }

  /** Whether the current credentials are others than the refused ones. Concurrent calls share one reading. */
  async haveChangedSince(refused: Kind): Promise<boolean> {
    if (this.#current !== refused) return true;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    const stored = await this.#reading;
    if (this.#current !== refused) return true;
    if (stored === undefined || !hasMethodOf(refused, stored) || isDeepStrictEqual(stored, refused))
      return false;
    this.#current = stored;
    this.#logger.info("the service refused the credentials; others have been stored since, and are used now");
    return true;
  }

  /** Undefined if they cannot be read: the refusal is then the error to report. */
  async #read(): Promise<ServiceCredentials | undefined> {
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
