// The account's credentials from a secret in AWS Secrets Manager: always the version that is current now.

import { SyncError } from "../errors/sync-error.ts";
import {
  type Credentials,
  CredentialsNotSetUp,
  EXAMPLE,
  parseCredentials,
  type ServiceCredentials,
} from "./credentials.ts";
import { readSecret, type SecretOptions, secretRefused } from "./secret.ts";

const RIGHTS = "secretsmanager:GetSecretValue on the secret, and kms:Decrypt";

/**
 * Throws `STORE_FAILED` where AWS does not respond, which a retry may fix, and `CredentialsNotSetUp` for a secret that
 * never had a value.
 */
export class SecretsManagerCredentials implements Credentials {
  readonly #options: SecretOptions;
  readonly #versions = new WeakMap<ServiceCredentials, string>();

  constructor(options: SecretOptions) {
    this.#options = options;
  }

  async read(): Promise<ServiceCredentials> {
    const { secretId } = this.#options;
    const fill = `Fill it with: aws secretsmanager put-secret-value --secret-id ${secretId} --secret-string file://credentials.json, where the file holds ${EXAMPLE}.`;
    const fields = { secret: secretId };
    const invalid = (what: string): SyncError =>
      new SyncError("CREDENTIALS_INVALID", `The secret ${secretId} ${what} ${fill}`, { fields });
    const stored = await readSecret(this.#options).catch((error: unknown) => {
      throw secretRefused(secretId, "read the secret", RIGHTS, error);
    });
    if (stored === undefined)
      throw new CredentialsNotSetUp(`The secret ${secretId} has no value yet. ${fill}`, { fields });
    const { text, version } = stored;
    if (text === undefined) throw invalid("holds bytes, not text.");
    if (text.trim() === "") throw invalid("is empty.");
    try {
      const credentials = parseCredentials(text);
      if (version !== undefined) this.#versions.set(credentials, version);
      return credentials;
    } catch (error) {
      if (!(error instanceof SyncError)) throw error;
      throw invalid(`does not hold valid credentials. ${error.message}`);
    }
  }

  versionOf(read: ServiceCredentials): string | undefined {
    return this.#versions.get(read);
  }
}
