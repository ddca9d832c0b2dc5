// The place for an account's credentials exists, but nothing was ever put there: the setup is not finished.

import { SyncError } from "../errors/sync-error.ts";

/** A run that meets it is skipped, not failed: a schedule may start before a person has filled the secret. */
export class CredentialsNotSetUp extends SyncError {
  constructor(message: string, options: ConstructorParameters<typeof SyncError>[2] = {}) {
    super("CREDENTIALS_INVALID", message, options);
  }
}
