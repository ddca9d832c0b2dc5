// The tokens in a secret of AWS Secrets Manager: one version for each renewal, none for a claim.

import { createHash } from "node:crypto";
import { PutSecretValueCommand, UpdateSecretVersionStageCommand } from "@aws-sdk/client-secrets-manager";
import { awsError } from "../../errors/aws-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import {
  type Labels,
  labelsOf,
  readSecret,
  type SecretOptions,
  secretRefused,
} from "../secrets-manager-credentials.ts";
import {
  type OAuthTokens,
  parseTokens,
  type RenewalClaim,
  type StoredTokens,
  type TokenStore,
  tokensText,
} from "./token-store.ts";

/** A person may have made an older version current again: its usual next one is then there already. */
const NEXT_IDS = 4;

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
    const stored = await this.#explained("read", () => readSecret(this.#options));
    if (stored === undefined) return { version: undefined, tokens: undefined };
    const { version, text } = stored;
    return { version, tokens: text === undefined ? undefined : parseTokens(text) };
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
        const current = await readSecret(this.#options);
        if (current?.version !== version) return undefined;
        if (await this.#put(id, tokensText(tokens))) return id;
      }
      return undefined;
    });
  }

  /** Makes the same tokens a new version, to which every claim is free again. */
  async #storeAgain(version: string): Promise<void> {
    const current = await readSecret(this.#options);
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

  async #explained<T>(verb: keyof typeof RIGHTS, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const rights = `${RIGHTS[verb]} (secretsmanager:…) on the secret, and kms:Decrypt and kms:GenerateDataKey`;
      throw secretRefused(this.#options.secretId, `${verb} the tokens in the secret`, rights, error);
    }
  }
}

/**
 * Secrets Manager takes an id for a new version (32 to 64 characters) and refuses one that exists with another value. So of
 * several processes that store something in place of the same version, one succeeds.
 * @param version undefined: the first one
 */
function versionAfter(version: string | undefined, nth = 0): string {
  return createHash("sha256")
    .update(`after ${version ?? "nothing"} ${nth}`)
    .digest("hex");
}

/** What each operation asks of AWS. */
const RIGHTS = {
  read: "GetSecretValue and DescribeSecret",
  claim: "DescribeSecret, UpdateSecretVersionStage and PutSecretValue",
  release: "DescribeSecret and UpdateSecretVersionStage",
  write: "GetSecretValue and PutSecretValue",
} as const;

/** All versions of a secret together have 20 labels at most. */
const ATTEMPTS = 6;

/** A claim that was seen for so long without an end is over. Counted by the process that waits: no clock is compared. */
const EXPIRES_AFTER_MS = 60_000;

/** A claim's holder stops sending well before, so that a slow request ends within the claim. */
const HELD_MS = 40_000;

/** Holds a label that was never used, because a label that is on no version can be taken by two at once. */
const ANCHOR = "brand-anchor";
const claimLabel = (attempt: number): string => `brand-claim-${attempt}`;
const endLabel = (attempt: number): string => `brand-end-${attempt}`;

interface SecretClaimsOptions extends SecretOptions {
  readonly clock: Pick<Clock, "monotonicMs">;
}

class SecretClaims {
  readonly #options: SecretClaimsOptions;
  /** When each claim was first seen, by version and attempt. */
  readonly #seen = new Map<string, number>();

  constructor(options: SecretClaimsOptions) {
    this.#options = options;
  }

  /** `spent`: every attempt on this version is over, so the same value must be stored once more. Throws AWS's errors. */
  async take(version: string): Promise<RenewalClaim | "taken" | "spent"> {
    const labels = await labelsOf(this.#options);
    if (labels.get("AWSCURRENT") !== version) return "taken";
    let last = 0;
    for (let n = 1; n <= ATTEMPTS; n += 1) if (labels.get(claimLabel(n)) === version) last = n;
    // An attempt begins only when the one before is over, so the last one tells.
    const isOver =
      last === 0 || labels.get(endLabel(last)) === version || this.#hasExpired(`${version} ${last}`);
    if (!isOver) return "taken";
    return last === ATTEMPTS ? "spent" : this.#claim(version, last + 1, labels);
  }

  async #claim(version: string, attempt: number, labels: Labels): Promise<RenewalClaim | "taken"> {
    const { clock } = this.#options;
    const label = claimLabel(attempt);
    const claimedAtMs = clock.monotonicMs();
    const from = labels.get(label) ?? (await this.#anchored(label, labels));
    if (from === undefined || !(await this.#move(label, from, version))) return "taken";
    let isOver = false;
    return {
      get isHeld() {
        return !isOver && clock.monotonicMs() - claimedAtMs < HELD_MS;
      },
      release: async () => {
        if (isOver) return;
        isOver = true;
        await this.#end(attempt, version);
      },
    };
  }

  /** After a renewal the version is no longer current and its claim means nothing, so nothing is sent. */
  async #end(attempt: number, version: string): Promise<void> {
    const labels = await labelsOf(this.#options);
    if (labels.get("AWSCURRENT") === version) {
      await this.#move(endLabel(attempt), labels.get(endLabel(attempt)), version);
    }
  }

  #hasExpired(claim: string): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const firstMs = this.#seen.get(claim) ?? nowMs;
    this.#seen.set(claim, firstMs);
    return nowMs - firstMs >= EXPIRES_AFTER_MS;
  }

  /** Puts a label that is on no version to the anchor, which is made with the first claim on a secret. */
  async #anchored(label: string, labels: Labels): Promise<string | undefined> {
    const anchor = labels.get(ANCHOR) ?? (await this.#makeAnchor());
    return (await this.#move(label, undefined, anchor)) ? anchor : undefined;
  }

  /** The same request from several processes makes one version. */
  async #makeAnchor(): Promise<string> {
    const { client, secretId } = this.#options;
    const id = versionAfter(ANCHOR);
    const anchor = { SecretString: "{}", VersionStages: [ANCHOR] };
    await client.send(new PutSecretValueCommand({ SecretId: secretId, ClientRequestToken: id, ...anchor }));
    return id;
  }

  /** False where the label is not where it was. */
  async #move(label: string, from: string | undefined, to: string): Promise<boolean> {
    if (from === to) return false;
    const { client, secretId } = this.#options;
    const move = { MoveToVersionId: to, ...(from === undefined ? {} : { RemoveFromVersionId: from }) };
    try {
      const request = { SecretId: secretId, VersionStage: label, ...move };
      await client.send(new UpdateSecretVersionStageCommand(request));
      return true;
    } catch (error) {
      if (MOVED_MEANWHILE.has(awsError(error)?.name)) return false;
      throw error;
    }
  }
}

const MOVED_MEANWHILE: ReadonlySet<string | undefined> = new Set([
  "InvalidParameterException",
  "InvalidRequestException",
]);
