// The account's credentials from a secret in AWS Secrets Manager: always the version that is current now.

import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  type SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { awsError, commonRemedy, isTransient, shortCause } from "../errors/aws-error.ts";
import { SyncError } from "../errors/sync-error.ts";
import {
  type Credentials,
  CredentialsNotSetUp,
  EXAMPLE,
  parseCredentials,
  type ServiceCredentials,
} from "./credentials.ts";

const UNREADABLE = "cannot be read";

interface SecretsManagerCredentialsOptions {
  readonly client: SecretsManagerClient;
  /** Name or ARN. */
  readonly secretId: string;
}

/**
 * Throws `STORE_FAILED` where AWS does not respond, which a retry may fix, and `CredentialsNotSetUp` for a secret that
 * never had a value.
 */
export class SecretsManagerCredentials implements Credentials {
  readonly #client: SecretsManagerClient;
  readonly #secretId: string;
  readonly #versions = new WeakMap<ServiceCredentials, string>();

  constructor({ client, secretId }: SecretsManagerCredentialsOptions) {
    this.#client = client;
    this.#secretId = secretId;
  }

  async read(): Promise<ServiceCredentials> {
    const { text, version } = await this.#value();
    if (text === undefined || text.trim() === "") throw this.#invalid("is empty", this.#fill());
    try {
      const credentials = parseCredentials(text);
      if (version !== undefined) this.#versions.set(credentials, version);
      return credentials;
    } catch (error) {
      if (!(error instanceof SyncError)) throw error;
      throw this.#invalid("does not hold valid credentials", `${error.message} ${this.#fill()}`);
    }
  }

  versionOf(read: ServiceCredentials): string | undefined {
    return this.#versions.get(read);
  }

  async #value(): Promise<{ readonly text: string | undefined; readonly version: string | undefined }> {
    try {
      const request = { SecretId: this.#secretId };
      const { SecretString, SecretBinary, VersionId } = await this.#client.send(
        new GetSecretValueCommand(request),
      );
      if (SecretBinary !== undefined) throw this.#invalid("holds bytes, not text", this.#fill());
      return { text: SecretString, version: VersionId };
    } catch (error) {
      if (awsError(error)?.name === "ResourceNotFoundException") throw await this.#missing(error);
      throw this.#unreadable(error);
    }
  }

  /** A secret without a value and a secret that does not exist give the same error; only its description differs. */
  async #missing(error: unknown): Promise<unknown> {
    try {
      const request = { SecretId: this.#secretId };
      const { VersionIdsToStages = {} } = await this.#client.send(new DescribeSecretCommand(request));
      if (Object.keys(VersionIdsToStages).length > 0) return this.#unreadable(error);
      return new CredentialsNotSetUp(`The secret ${this.#secretId} has no value yet. ${this.#fill()}`, {
        fields: { secret: this.#secretId },
      });
    } catch (reason) {
      const failure = awsError(reason);
      if (failure?.name === "AccessDeniedException") {
        const what = "has no value yet, or does not exist in this account and region";
        return this.#invalid(what, this.#fill(), shortCause(failure));
      }
      if (failure?.name === "ResourceNotFoundException") {
        const remedy = "Check the name and the region (AWS_REGION), or deploy the stack.";
        return this.#invalid("does not exist in this account and region", remedy, shortCause(failure));
      }
      return this.#unreadable(reason);
    }
  }

  #unreadable(error: unknown): unknown {
    const failure = awsError(error);
    if (failure === undefined) return error;
    const { name, message } = failure;
    const cause = shortCause(failure);
    if (isTransient(failure)) {
      // The credentials are not at fault, so a retry resumes the run.
      const problem = `Could not read the secret ${this.#secretId}: ${commonRemedy(failure) ?? message} (${name})`;
      const fields = { secret: this.#secretId, aws_error: name };
      return new SyncError("STORE_FAILED", problem, { fields, cause });
    }
    switch (name) {
      case "AccessDeniedException":
        return this.#invalid(
          "may not be read by this process",
          `Give it secretsmanager:GetSecretValue on the secret, and kms:Decrypt on the secret's own key if it has one. AWS says: ${message}`,
          cause,
        );
      case "InvalidRequestException":
        return this.#invalid(
          UNREADABLE,
          `Is it marked for deletion? Restore it. AWS says: ${message}`,
          cause,
        );
      default:
        return this.#invalid(UNREADABLE, commonRemedy(failure) ?? `AWS says: ${message}`, cause);
    }
  }

  #fill(): string {
    return `Fill it with: aws secretsmanager put-secret-value --secret-id ${this.#secretId} --secret-string file://credentials.json, where the file holds ${EXAMPLE}.`;
  }

  #invalid(what: string, remedy: string, cause?: Error): SyncError {
    return new SyncError("CREDENTIALS_INVALID", `The secret ${this.#secretId} ${what}. ${remedy}`, {
      fields: { secret: this.#secretId },
      cause,
    });
  }
}
