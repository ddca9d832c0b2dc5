// A secret of AWS Secrets Manager, its current value and what to do where AWS refuses an operation, and the account's
// credentials from one: always the version that is current now.

import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  type SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { type AwsError, awsError, commonRemedy, isTransient, shortCause } from "../errors/aws-error.ts";
import { SyncError } from "../errors/sync-error.ts";
import {
  type Credentials,
  CredentialsNotSetUp,
  EXAMPLE,
  parseCredentials,
  type ServiceCredentials,
} from "./credentials.ts";

export interface SecretOptions {
  readonly client: SecretsManagerClient;
  /** Name or ARN. */
  readonly secretId: string;
}

interface SecretValue {
  readonly version: string;
  /** Undefined where the value is bytes. */
  readonly text: string | undefined;
}

/** The version of the secret that has each label. */
export type Labels = ReadonlyMap<string, string>;

/**
 * Always the value that is current now; undefined for a secret that never had one. Throws AWS's errors. That of a secret
 * without a value is the one of a secret that does not exist: only the description differs.
 */
export async function readSecret(options: SecretOptions): Promise<SecretValue | undefined> {
  const { client, secretId: SecretId } = options;
  try {
    const { VersionId = "", SecretString } = await client.send(new GetSecretValueCommand({ SecretId }));
    return { version: VersionId, text: SecretString };
  } catch (error) {
    if (awsError(error)?.name !== "ResourceNotFoundException") throw error;
    const labels = await labelsOf(options).catch((reason: unknown) => {
      throw awsError(reason)?.name === "AccessDeniedException" ? error : reason;
    });
    if (labels.size > 0) throw error;
    return undefined;
  }
}

/** None for a secret that never had a value. Throws AWS's errors. */
export async function labelsOf({ client, secretId: SecretId }: SecretOptions): Promise<Labels> {
  const { VersionIdsToStages = {} } = await client.send(new DescribeSecretCommand({ SecretId }));
  return new Map(
    Object.entries(VersionIdsToStages).flatMap(([version, stages]) =>
      stages.map((label) => [label, version] as const),
    ),
  );
}

/**
 * What AWS refused, in words; any other error as it is. A retry may help where AWS does not respond.
 * @param what was tried: "read the secret"
 * @param rights what it needs, with those on the secret's key
 */
export function secretRefused(secretId: string, what: string, rights: string, error: unknown): unknown {
  const failure = awsError(error);
  if (failure === undefined) return error;
  const { name } = failure;
  const code =
    isTransient(failure) || name === "LimitExceededException" ? "STORE_FAILED" : "CREDENTIALS_INVALID";
  const problem = `Could not ${what} ${secretId}: ${remedy(rights, failure)} (${name})`;
  const fields = { secret: secretId, aws_error: name };
  return new SyncError(code, problem, { fields, cause: shortCause(failure) });
}

function remedy(rights: string, failure: AwsError): string {
  const { name, message } = failure;
  switch (name) {
    case "AccessDeniedException":
      return `this process lacks the permission. Give it ${rights} on the secret's own key if it has one. AWS says: ${message}`;
    case "ResourceNotFoundException":
      return "there is no such secret in this account and region, or it has no value yet. Check the name and the region (AWS_REGION), deploy the stack, or fill the secret.";
    case "InvalidRequestException":
      return `is it marked for deletion? Restore it. AWS says: ${message}`;
    case "LimitExceededException":
      return `it has too many versions. Secrets Manager keeps each for 24 hours, about 100 at most. Ask the operator of the identity provider for access tokens that are valid for longer. AWS says: ${message}`;
    default:
      return commonRemedy(failure) ?? `AWS says: ${message}`;
  }
}

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
      this.#versions.set(credentials, version);
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
