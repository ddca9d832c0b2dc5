// The credentials' twin in memory: what a test has stored, changed whenever it likes.

import {
  type Credentials,
  parseCredentials,
  type ServiceCredentials,
} from "../../../lambdas/job/credentials/credentials.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";

export class MemoryCredentials implements Credentials {
  /** How often they were read. */
  reads = 0;
  #text: string | undefined;

  constructor(stored?: ServiceCredentials) {
    if (stored) this.store(JSON.stringify(stored));
  }

  store(text: string): void {
    this.#text = text;
  }

  async read(): Promise<ServiceCredentials> {
    this.reads += 1;
    if (this.#text === undefined) throw new SyncError("CREDENTIALS_INVALID", "No credentials: store some.");
    return parseCredentials(this.#text);
  }
}
