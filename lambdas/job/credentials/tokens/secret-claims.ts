// Claims on a version of a secret, made of staging labels: they change no value and make no version.
//
// `brand-claim-1` to `-6` are the attempts to renew one version. A label is taken by moving it from any other version
// to that one, and Secrets Manager moves a label only from the version that the caller names: of several processes one
// succeeds. A label never leaves the current version again, so a late process cannot undo a younger claim. A renewal
// makes another version current, to which all the labels are free again.

import {
  DescribeSecretCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from "@aws-sdk/client-secrets-manager";
import { awsError } from "../../errors/aws-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { RenewalClaim } from "./token-store.ts";
import { versionAfter } from "./version-after.ts";

/** All versions of a secret together have 20 labels at most. */
const ATTEMPTS = 6;

/** A claim that was seen for so long without an end is over. Counted by the process that waits: no clock is compared. */
const EXPIRES_AFTER_MS = 60_000;

/** Its holder stops sending well before, so that a slow request ends within the claim. */
const HELD_MS = 40_000;

/** Holds a label that was never used, because a label that is on no version can be taken by two at once. */
const ANCHOR = "brand-anchor";
const claimLabel = (attempt: number): string => `brand-claim-${attempt}`;
const endLabel = (attempt: number): string => `brand-end-${attempt}`;

export interface SecretClaimsOptions {
  readonly client: SecretsManagerClient;
  readonly secretId: string;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** By label: the version that has it. */
type Labels = ReadonlyMap<string, string>;

export class SecretClaims {
  readonly #options: SecretClaimsOptions;
  /** When each claim was first seen, by version and attempt. */
  readonly #seen = new Map<string, number>();

  constructor(options: SecretClaimsOptions) {
    this.#options = options;
  }

  /** `spent`: every attempt on this version is over, so the same value must be stored once more. Throws AWS's errors. */
  async take(version: string): Promise<RenewalClaim | "taken" | "spent"> {
    const labels = await this.#labels();
    if (labels.get("AWSCURRENT") !== version) return "taken";
    let last = 0;
    for (let n = 1; n <= ATTEMPTS; n += 1) if (labels.get(claimLabel(n)) === version) last = n;
    // An attempt begins only when the one before is over, so the last one tells.
    const isOver =
      last === 0 || labels.get(endLabel(last)) === version || this.#hasExpired(`${version} ${last}`);
    if (!isOver) return "taken";
    return last === ATTEMPTS ? "spent" : this.#claim(version, last + 1, labels);
  }

  /** Whether no version of the secret has a label, so it never had a value. Throws where there is no such secret. */
  async hasNoValue(): Promise<boolean> {
    return (await this.#labels()).size === 0;
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
    const labels = await this.#labels();
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
    await client.send(
      new PutSecretValueCommand({
        SecretId: secretId,
        ClientRequestToken: id,
        SecretString: "{}",
        VersionStages: [ANCHOR],
      }),
    );
    return id;
  }

  /** False where the label is not where it was. */
  async #move(label: string, from: string | undefined, to: string): Promise<boolean> {
    if (from === to) return false;
    const { client, secretId } = this.#options;
    try {
      await client.send(
        new UpdateSecretVersionStageCommand({
          SecretId: secretId,
          VersionStage: label,
          MoveToVersionId: to,
          ...(from === undefined ? {} : { RemoveFromVersionId: from }),
        }),
      );
      return true;
    } catch (error) {
      if (MOVED_MEANWHILE.has(awsError(error)?.name)) return false;
      throw error;
    }
  }

  async #labels(): Promise<Labels> {
    const { client, secretId } = this.#options;
    const { VersionIdsToStages = {} } = await client.send(new DescribeSecretCommand({ SecretId: secretId }));
    return new Map(
      Object.entries(VersionIdsToStages).flatMap(([version, stages]) =>
        stages.map((label) => [label, version] as const),
      ),
    );
  }
}

const MOVED_MEANWHILE: ReadonlySet<string | undefined> = new Set([
  "InvalidParameterException",
  "InvalidRequestException",
]);
