// The tokens in a secret of AWS Secrets Manager: one version for each renewal, none for a claim.

import { GetSecretValueCommand, PutSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { type AwsError, awsError, commonRemedy, isTransient, shortCause } from "../../errors/aws-error.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { type OAuthTokens, parseTokens, tokensText } from "./oauth-tokens.ts";
import { SecretClaims, type SecretClaimsOptions } from "./secret-claims.ts";
import type { RenewalClaim, StoredTokens, TokenStore } from "./token-store.ts";
import { versionAfter } from "./version-after.ts";

/** A person may have made an older version current again: its usual next one is then there already. */
const NEXT_IDS = 4;

type Stored = { readonly version: string; readonly text: string | undefined } | undefined;

export class SecretsManagerTokenStore implements TokenStore {
  readonly isCreatedEmpty = true;
  readonly #options: SecretClaimsOptions;
  readonly #claims: SecretClaims;

  constructor(options: SecretClaimsOptions) {
    this.#options = options;
    this.#claims = new SecretClaims(options);
  }

  get place(): string {
    return `the secret ${this.#options.secretId}`;
  }

  async read(): Promise<StoredTokens> {
    const stored = await this.#explained("read", () => this.#current());
    if (stored === undefined) return { kind: "none" };
    const { version, text } = stored;
    const tokens = text === undefined ? undefined : parseTokens(text);
    return tokens === undefined ? { kind: "unusable", version } : { kind: "tokens", version, tokens };
  }

  async claim(version: string): Promise<RenewalClaim | undefined> {
    const claim = await this.#explained("claim", () => this.#claims.take(version));
    if (claim === "taken") return undefined;
    if (claim === "spent") {
      await this.#explained("write", () => this.#storeAgain(version));
      return undefined;
    }
    return {
      get isHeld() {
        return claim.isHeld;
      },
      release: () => this.#explained("release", () => claim.release()),
    };
  }

  async replace(version: string | undefined, tokens: OAuthTokens): Promise<string | undefined> {
    return this.#explained("write", async () => {
      for (let nth = 0; nth < NEXT_IDS; nth += 1) {
        const id = versionAfter(version, nth);
        const current = await this.#current();
        if (current?.version !== version) return undefined;
        if (await this.#put(id, tokensText(tokens))) return id;
      }
      return undefined;
    });
  }

  /** Makes the same tokens a new version, to which every claim is free again. */
  async #storeAgain(version: string): Promise<void> {
    const current = await this.#current();
    if (current?.version !== version || current.text === undefined) return;
    await this.#put(versionAfter(version), current.text);
  }

  /** False where a version with this id has another value. A repeat of the same request changes nothing. */
  async #put(id: string, SecretString: string): Promise<boolean> {
    const { client, secretId } = this.#options;
    try {
      const request = { SecretId: secretId, ClientRequestToken: id, SecretString };
      await client.send(new PutSecretValueCommand(request));
      return true;
    } catch (error) {
      if (awsError(error)?.name === "ResourceExistsException") return false;
      throw error;
    }
  }

  async #current(): Promise<Stored> {
    const { client, secretId } = this.#options;
    try {
      const request = { SecretId: secretId };
      const { VersionId, SecretString } = await client.send(new GetSecretValueCommand(request));
      return VersionId === undefined ? undefined : { version: VersionId, text: SecretString };
    } catch (error) {
      if (awsError(error)?.name !== "ResourceNotFoundException" || !(await this.#claims.hasNoValue()))
        throw error;
      return undefined;
    }
  }

  async #explained<T>(verb: keyof typeof RIGHTS, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const failure = awsError(error);
      throw failure === undefined ? error : refused(this.#options.secretId, verb, failure);
    }
  }
}

/** What each operation asks of AWS. */
const RIGHTS = {
  read: "GetSecretValue and DescribeSecret",
  claim: "DescribeSecret, UpdateSecretVersionStage and PutSecretValue",
  release: "DescribeSecret and UpdateSecretVersionStage",
  write: "GetSecretValue and PutSecretValue",
} as const;

function refused(secretId: string, verb: keyof typeof RIGHTS, failure: AwsError): SyncError {
  const { name, message } = failure;
  const code =
    isTransient(failure) || name === "LimitExceededException" ? "STORE_FAILED" : "CREDENTIALS_INVALID";
  return new SyncError(
    code,
    `Could not ${verb} the tokens in the secret ${secretId}: ${remedy(verb, failure)} (${name})`,
    {
      fields: { secret: secretId, aws_error: name },
      cause: shortCause({ ...failure, message }),
    },
  );
}

function remedy(verb: keyof typeof RIGHTS, failure: AwsError): string {
  const { name, message } = failure;
  switch (name) {
    case "AccessDeniedException":
      return `this process lacks the permission. Give it ${RIGHTS[verb]} (secretsmanager:…) on the secret, and kms:Decrypt and kms:GenerateDataKey on the secret's own key if it has one. AWS says: ${message}`;
    case "ResourceNotFoundException":
      return "there is no such secret in this account and region. Check the name and the region (AWS_REGION), or deploy the stack.";
    case "InvalidRequestException":
      return `is it marked for deletion? Restore it. AWS says: ${message}`;
    case "LimitExceededException":
      return `it has too many versions. Secrets Manager keeps each for 24 hours, about 100 at most. Ask the operator of the identity provider for access tokens that are valid for longer. AWS says: ${message}`;
    default:
      return commonRemedy(failure) ?? `AWS says: ${message}`;
  }
}
